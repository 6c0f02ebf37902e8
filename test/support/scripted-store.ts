import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

/** How the store treats a request. `ok` treats it correctly. */
export type Treatment =
  | "ok"
  /** Reads the body and never answers. */
  | "stall"
  /** Does not even read the body. */
  | "deaf"
  /** Answers 500. */
  | "fail"
  /** Answers 403. */
  | "forbid"
  | "redirect"
  /** Answers 400 with 64 MiB. */
  | "chatter"
  /** Ends the connection. In a GET, it ends it in the middle of the object. */
  | "cut"
  /** Answers 200 to a PUT, but stores only the first half of the object. */
  | "halve"
  /** Answers 200 to a PUT, but stores nothing. */
  | "forget"
  /** Sends an object of another length. */
  | "lie"
  /** Sends other bytes of the same length. */
  | "damage";

/** An S3 server that follows a script. */
export interface ScriptedStore {
  /** The settings as `files.s3` names them. */
  readonly settings: {
    readonly endpoint: string;
    readonly bucket: string;
    readonly accessKeyId: string;
    readonly secretAccessKey: string;
    readonly timeoutMs: number;
  };
  readonly objects: Map<string, Buffer>;
  /** Every request so far, like `PUT files/abc`. */
  readonly requests: readonly string[];
  treat: (request: { readonly method: string; readonly name: string }) => Treatment;
}

/** Starts the store, which is closed after the test. @param timeoutMs how long the store's client waits for an answer */
export async function startScriptedStore(timeoutMs = 30_000): Promise<ScriptedStore> {
  const objects = new Map<string, Buffer>();
  const requests: string[] = [];
  const server = createServer((request, response) => {
    request.on("error", () => undefined);
    response.on("error", () => undefined);
    void answer(request, response);
  });
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method = "" } = request;
    const name = (request.url ?? "").replace(/^\/bucket\//, "");
    requests.push(`${method} ${name}`);
    const treatment = store.treat({ method, name });
    if (treatment === "deaf") return void request.pause();
    const body = await readBody(request);
    if (treatment === "stall") return;
    if (refuse(treatment, method, response)) return;
    if (method === "PUT") {
      if (treatment !== "forget")
        objects.set(name, treatment === "halve" ? body.subarray(0, body.length / 2) : body);
      return void response.setHeader("etag", '"etag"').end();
    }
    if (method === "DELETE") {
      objects.delete(name);
      return void response.writeHead(204).end();
    }
    const object = objects.get(name);
    if (object === undefined) return fault(response, 404, "NoSuchKey");
    give(request, response, object, treatment);
  };
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const store: ScriptedStore = {
    settings: {
      endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      bucket: "bucket",
      accessKeyId: "key",
      secretAccessKey: "secret",
      timeoutMs,
    },
    objects,
    requests,
    treat: () => "ok",
  };
  return store;
}

/** Reads as much of the body as arrives. */
async function readBody(request: AsyncIterable<Buffer>): Promise<Buffer> {
  const parts: Buffer[] = [];
  try {
    for await (const part of request) parts.push(part);
  } catch {
    // The client ended the request.
  }
  return Buffer.concat(parts);
}

/** Answers with a refusal if the treatment is one. Returns whether it answered. */
function refuse(treatment: Treatment, method: string, response: ServerResponse): boolean {
  if (treatment === "fail") fault(response, 500, "InternalError");
  else if (treatment === "forbid") fault(response, 403, "AccessDenied");
  else if (treatment === "redirect")
    response.writeHead(307, { location: "http://127.0.0.1:9/elsewhere" }).end();
  else if (treatment === "chatter") chatter(response);
  else if (treatment === "cut" && method !== "GET") response.destroy();
  else return false;
  return true;
}

function fault(response: ServerResponse, status: number, code: string): void {
  response.writeHead(status, { "content-type": "application/xml" });
  response.end(`<?xml version="1.0"?><Error><Code>${code}</Code></Error>`);
}

function chatter(response: ServerResponse): void {
  response.writeHead(400);
  const part = Buffer.alloc(65_536, "x");
  let left = 1024;
  const write = (): void => {
    while (left > 0 && !response.destroyed) {
      left -= 1;
      if (!response.write(part)) return void response.once("drain", write);
    }
    response.end();
  };
  write();
}

function give(
  { method, headers }: IncomingMessage,
  response: ServerResponse,
  object: Buffer,
  treatment: Treatment,
): void {
  const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(headers.range ?? "") ?? [];
  const whole = treatment === "lie" ? object.subarray(1) : object;
  const part = from === undefined ? whole : whole.subarray(Number(from), Number(to) + 1);
  if (from !== undefined) response.setHeader("content-range", `bytes ${from}-${to}/${object.length}`);
  response.writeHead(from === undefined ? 200 : 206, { "content-length": part.length });
  if (method === "HEAD") return void response.end();
  if (treatment === "cut") {
    response.write(part.subarray(0, part.length / 2), () => response.destroy());
    return;
  }
  const damaged = Buffer.from(part);
  if (treatment === "damage") damaged[0] = (damaged[0] ?? 0) ^ 1;
  response.end(damaged);
}
