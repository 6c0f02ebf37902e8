import { Agent, request as httpRequest } from "node:http";
import { connect, type Socket } from "node:net";

export interface TestRequest {
  readonly method: string;
  readonly path: string;
  readonly headers?: Record<string, string | string[]>;
  readonly body?: string | Buffer;
  /** Sends the body in chunks, without Content-Length. */
  readonly chunked?: boolean;
}

export interface Answer {
  readonly status: number;
  /** The headers with names in lower case. The values of a repeated header are joined by commas. */
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  /** The body, which must be a JSON object. */
  readonly json: Record<string, unknown>;
}

const agent = new Agent({ keepAlive: true, maxSockets: 256 });

/** Sends exactly these headers and Host. `fetch` would add others, which could change what a test checks. */
export function sendRequest(base: string, made: TestRequest): Promise<Answer> {
  const body = made.body ?? "";
  const length =
    made.chunked === true || made.body === undefined
      ? {}
      : { "content-length": String(Buffer.byteLength(body)) };
  return new Promise((resolve, reject) => {
    const sent = httpRequest(new URL(base), {
      method: made.method,
      path: made.path,
      headers: { ...length, ...made.headers },
      agent,
    });
    sent.on("response", (response) => {
      const parts: Buffer[] = [];
      response.on("data", (part: Buffer) => parts.push(part));
      response.on("error", reject);
      response.on("end", () => {
        resolve(toAnswer(response.statusCode ?? 0, flatten(response.headers), Buffer.concat(parts)));
      });
    });
    sent.on("error", reject);
    if (made.chunked === true) sent.write(body);
    sent.end(made.chunked === true || made.body === undefined ? undefined : body);
  });
}

/** A socket on which a test can write bytes that no client library would write. */
export interface RawConnection {
  readonly socket: Socket;
  write(bytes: string | Buffer): void;
  /** All text that came until the server closed the connection. */
  readonly closed: Promise<string>;
  /** Returns the text that has come so far. */
  received(): string;
}

export async function openRaw(port: number): Promise<RawConnection> {
  const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
  await new Promise<void>((resolve, reject) => {
    socket.once("connect", resolve);
    socket.once("error", reject);
  });
  const parts: Buffer[] = [];
  socket.on("data", (part: Buffer) => parts.push(part));
  // The server may reset the connection after its answer; only the bytes before that count.
  socket.on("error", () => {});
  const received = (): string => Buffer.concat(parts).toString("latin1");
  const closed = new Promise<string>((resolve) => {
    socket.once("end", () => socket.end());
    socket.once("close", () => resolve(received()));
  });
  return {
    socket,
    write: (bytes) => void socket.write(typeof bytes === "string" ? Buffer.from(bytes, "latin1") : bytes),
    closed,
    received,
  };
}

/** Writes the bytes and returns all that came back until the server closed the connection. */
export async function exchangeRaw(port: number, bytes: string | Buffer): Promise<string> {
  const connection = await openRaw(port);
  connection.write(bytes);
  return connection.closed;
}

/** Splits a raw stream into answers. Each body is as long as its Content-Length says. */
export function splitAnswers(stream: string): Answer[] {
  const answers: Answer[] = [];
  let rest = stream;
  while (rest !== "") {
    const end = rest.indexOf("\r\n\r\n");
    if (end === -1) throw new Error(`not an HTTP answer: ${JSON.stringify(rest)}`);
    const [statusLine = "", ...lines] = rest.slice(0, end).split("\r\n");
    const headers = Object.fromEntries(
      lines.map((line) => {
        const colon = line.indexOf(":");
        return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
      }),
    );
    const length = Number(headers["content-length"] ?? 0);
    const body = rest.slice(end + 4, end + 4 + length);
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(`${statusLine} `)?.[1] ?? Number.NaN);
    // 100 Continue comes before the answer and has no body.
    if (status !== 100) answers.push(toAnswer(status, headers, Buffer.from(body, "latin1")));
    rest = rest.slice(end + 4 + length);
  }
  return answers;
}

function toAnswer(status: number, headers: Record<string, string>, body: Buffer): Answer {
  const text = body.toString("utf8");
  return {
    status,
    headers,
    text,
    get json() {
      return JSON.parse(text) as Record<string, unknown>;
    },
  };
}

function flatten(headers: Readonly<Record<string, string | string[] | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, [value ?? ""].flat().join(", ")]),
  );
}
