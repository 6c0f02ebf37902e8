import { type ClientRequest, type IncomingMessage, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { Readable } from "node:stream";
import { FormsvcError } from "../../foundation/errors.ts";
import { readWhole } from "../../foundation/read-whole.ts";
import type { ImportedFile } from "../../submissions/import/imported-file.ts";
import { version } from "../../foundation/version.ts";

export interface RemoteRequest {
  readonly method: string;
  /** Includes the query. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The body, sent as JSON; undefined sends none. */
  readonly body?: unknown;
  /** A file that is sent as it is, in place of a body. */
  readonly file?: Pick<ImportedFile, "name" | "bytes">;
  /** The longest time until the answer begins, in milliseconds; for a file, counted from its last part. */
  readonly waitMs: number;
  /** The longest silence within the answer, in milliseconds. */
  readonly silenceMs?: number;
}

/** The longest time for a connection, including TLS. */
const CONNECT_MS = 10_000;
const SILENCE_MS = 120_000;
/** The largest answer that is read whole: a page of 100 submissions of the largest size. */
const MAX_ANSWER_BYTES = 1_073_741_824;
/** The longest line of a streamed answer, in bytes. */
const MAX_LINE_BYTES = 67_108_864;

/**
 * Sends a request to a server. Redirects are not followed, because they could send the token to another server.
 *
 * @returns the answer with any status, its body unread
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
    // A second error may follow if an answer came before the whole file was sent.
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

/** Sends a file part by part until it ends or an answer comes. @param timer restarted with each part */
function sendFile(
  request: ClientRequest,
  { bytes }: Pick<ImportedFile, "bytes">,
  timer: NodeJS.Timeout,
): void {
  const parts = Readable.from(copiesOf(bytes(), timer));
  request.once("response", (answer) => {
    if (request.writableEnded) return;
    // The rest of a file that was refused early is not sent. The connection cannot be used again.
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
  // The connection may be used again.
  answer.once("end", () => socket.setTimeout(0, end));
}

function unreachable(origin: string, error: Error): FormsvcError {
  const { code } = error as NodeJS.ErrnoException;
  // If several addresses of one name failed, the combined error has no message.
  const why = error.message || code || "no connection";
  return new FormsvcError("unavailable", `${origin}: ${why}`, { cause: error });
}

/** Reads the whole body as text. @throws unavailable if it breaks off or is too large */
export async function textOf(origin: string, answer: IncomingMessage): Promise<string> {
  const bytes = await readWhole(chunksOf(origin, answer), MAX_ANSWER_BYTES);
  if (bytes === null) throw unreachable(origin, new Error("the answer is too large"));
  return bytes.toString("utf8");
}

/** Yields the lines of a body that are not empty, as they arrive. @throws the errors of {@link textOf} */
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
