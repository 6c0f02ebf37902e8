import { type ClientRequest, type IncomingMessage, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { Readable } from "node:stream";
import { FormsvcError } from "../foundation/errors.ts";
import type { ImportedFile } from "../submissions/import/imported-file.ts";
import { version } from "../foundation/version.ts";

export interface RemoteRequest {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON; undefined sends none. */
  readonly body?: unknown;
  /** Sent as it is, in place of a body. */
  readonly file?: Pick<ImportedFile, "name" | "bytes">;
  /** Time until the answer begins, in milliseconds; of a file, from its last part on. */
  readonly waitMs: number;
  /** Longest silence within the answer, in milliseconds. */
  readonly silenceMs?: number;
}

/** Time for a connection, TLS included. */
const CONNECT_MS = 10_000;
const SILENCE_MS = 120_000;
/** Bytes of a whole answer that is read at once: a page of 100 submissions of the largest size. */
const MAX_ANSWER_BYTES = 1_073_741_824;
/** Bytes of a line of a streamed answer. */
const MAX_LINE_BYTES = 67_108_864;

/**
 * Sends a request to a server. No redirect is followed: it could lead the token somewhere else.
 *
 * @returns the answer with whatever status, its body not read yet
 * @throws unavailable if no answer comes
 */
export function sendTo(origin: string, asked: RemoteRequest): Promise<IncomingMessage> {
  const body = asked.body === undefined ? null : Buffer.from(JSON.stringify(asked.body));
  const url = new URL(asked.path, origin);
  const send = url.protocol === "https:" ? requestHttps : requestHttp;
  return new Promise((resolve, reject) => {
    const request = send(url, {
      method: asked.method,
      headers: {
        "user-agent": `formsvc/${version}`,
        ...(body !== null && { "content-type": "application/json", "content-length": body.length }),
        ...(asked.file !== undefined && fileHeaders(asked.file.name)),
        ...asked.headers,
      },
    });
    const timer = setTimeout(() => request.destroy(new Error(noAnswer(asked.waitMs))), asked.waitMs);
    watchConnection(request, url.protocol === "https:" ? "secureConnect" : "connect");
    request.once("response", (answer) => {
      clearTimeout(timer);
      watchSilence(answer, asked.silenceMs ?? SILENCE_MS);
      resolve(answer);
    });
    // A second error may follow when an answer came before the whole file was sent.
    request.on("error", (error) => {
      clearTimeout(timer);
      reject(error instanceof FormsvcError ? error : unreachable(origin, error));
    });
    if (asked.file === undefined) request.end(body ?? undefined);
    else sendFile(request, asked.file, timer);
  });
}

function fileHeaders(name: string): Readonly<Record<string, string>> {
  return {
    "content-type": "application/octet-stream",
    "content-disposition": `attachment; filename*=UTF-8''${encodeURIComponent(name.toWellFormed())}`,
  };
}

/** Sends a file part by part, until it ends or an answer comes. @param timer begins anew with each part */
function sendFile(
  request: ClientRequest,
  { bytes }: Pick<ImportedFile, "bytes">,
  timer: NodeJS.Timeout,
): void {
  const parts = Readable.from(copiesOf(bytes(), timer));
  request.once("response", (answer) => {
    if (request.writableEnded) return;
    // What is refused early is not sent on; the connection cannot be used once more.
    parts.unpipe(request).destroy();
    answer.once("close", () => request.destroy());
  });
  request.once("close", () => parts.destroy());
  parts.once("error", (error) => request.destroy(error));
  parts.pipe(request);
}

async function* copiesOf(
  bytes: ReturnType<ImportedFile["bytes"]>,
  timer: NodeJS.Timeout,
): AsyncGenerator<Buffer> {
  for await (const part of bytes) {
    timer.refresh();
    yield Buffer.from(part);
  }
}

function noAnswer(ms: number): string {
  return `no answer within ${ms / 1000} seconds`;
}

function watchConnection(request: ClientRequest, connected: "connect" | "secureConnect"): void {
  request.once("socket", (socket) => {
    if (!socket.connecting) return;
    const timer = setTimeout(
      () => request.destroy(new Error(`no connection within ${CONNECT_MS / 1000} seconds`)),
      CONNECT_MS,
    );
    for (const event of [connected, "close"]) socket.once(event, () => clearTimeout(timer));
  });
}

function watchSilence(answer: IncomingMessage, ms: number): void {
  const { socket } = answer;
  const end = (): void => void answer.destroy(new Error(`nothing came for ${ms / 1000} seconds`));
  socket.setTimeout(ms, end);
  // The connection may be used once more.
  answer.once("end", () => socket.setTimeout(0, end));
}

function unreachable(origin: string, error: Error): FormsvcError {
  const { code } = error as NodeJS.ErrnoException;
  // Several addresses of one name were tried: the error of all has no message.
  const why = error.message || code || "no connection";
  return new FormsvcError("unavailable", `${origin}: ${why}`, { cause: error });
}

/** The whole body as text. @throws unavailable if it breaks off or is too large */
export async function textOf(origin: string, answer: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of chunksOf(origin, answer)) {
    bytes += chunk.length;
    if (bytes > MAX_ANSWER_BYTES) throw unreachable(origin, new Error("the answer is too large"));
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

/** The lines of a body that are not empty, as they come. @throws as {@link textOf} */
export async function* linesOf(origin: string, answer: IncomingMessage): AsyncGenerator<string> {
  let rest: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of chunksOf(origin, answer)) {
    let begun = 0;
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, begun)) {
      const line = Buffer.concat([...rest, chunk.subarray(begun, end)]).toString("utf8");
      [rest, bytes, begun] = [[], 0, end + 1];
      if (line.trim() !== "") yield line;
    }
    rest.push(chunk.subarray(begun));
    bytes += chunk.length - begun;
    if (bytes > MAX_LINE_BYTES) throw unreachable(origin, new Error("a line of the answer is too long"));
  }
  const last = Buffer.concat(rest).toString("utf8");
  if (last.trim() !== "") yield last;
}

async function* chunksOf(origin: string, answer: IncomingMessage): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of answer) yield chunk as Buffer;
  } catch (error) {
    throw unreachable(
      origin,
      new Error(`the answer broke off (${(error as Error).message})`, { cause: error }),
    );
  }
}
