import { type AddressInfo, createServer, type Socket } from "node:net";
import { onTestFinished } from "vitest";

/** The harmless text that every scanner takes for a virus. Its backslash is doubled, so that no scanner finds it in this file. */
export const EICAR = `X5O!P%@AP[4\\PZX54(P^)7CC)7}$EICAR-STANDARD-ANTIVIRUS-TEST-FILE!$H+H*`;

/** How the scanner treats a file. */
export type Behaviour =
  | "judge"
  /** Accepts the connection and answers nothing. */
  | "stall"
  /** Reads nothing of what is sent. */
  | "deaf"
  | "close"
  | "close-in-the-middle"
  | "half-an-answer"
  | "endless-answer"
  | "http"
  | "too-large"
  | "early-ok"
  | "error";

/** A server that speaks clamd's protocol, correctly or wrongly, as `behaviour` says. It ends with the test. */
export interface ScriptedClamd {
  readonly address: { readonly host: string; readonly port: number };
  /** The address as a configuration has it. */
  readonly url: string;
  behaviour: Behaviour;
  /** The bytes of each file that arrived whole. */
  readonly files: Buffer[];
  /** The number of connections that were made. */
  connections: number;
  /** Is called when a file has arrived whole. The verdict follows when it resolves. */
  before: () => Promise<void>;
  /** Closes the port. */
  stop(): Promise<void>;
  /** Listens again at the same address. */
  listen(): Promise<void>;
}

export async function scriptedClamd(behaviour: Behaviour = "judge"): Promise<ScriptedClamd> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    clamd.connections += 1;
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
    socket.on("error", () => {});
    serve(clamd, socket);
  });
  const listen = (port: number): Promise<void> =>
    new Promise((resolve) => server.listen(port, "127.0.0.1", resolve));
  await listen(0);
  const { port } = server.address() as AddressInfo;
  const stop = (): Promise<void> => {
    for (const socket of sockets) socket.destroy();
    return new Promise((resolve) => server.close(() => resolve()));
  };
  const clamd: ScriptedClamd = {
    address: { host: "127.0.0.1", port },
    url: `tcp://127.0.0.1:${port}`,
    behaviour,
    files: [],
    connections: 0,
    before: async () => {},
    stop,
    listen: () => listen(port),
  };
  onTestFinished(stop);
  return clamd;
}

function serve(clamd: ScriptedClamd, socket: Socket): void {
  const { behaviour } = clamd;
  if (behaviour === "deaf") return void socket.pause();
  if (behaviour === "close") return void socket.end();
  if (behaviour === "http") socket.write("HTTP/1.1 400 Bad Request\r\n\r\n");
  if (behaviour === "early-ok") socket.write("stream: OK\0");
  // The answer was sent already; the rest of what arrives is ignored.
  if (behaviour === "early-ok") return void socket.resume();
  let read = Buffer.alloc(0);
  socket.on("data", (bytes: Buffer) => {
    read = Buffer.concat([read, bytes]);
    if (behaviour === "close-in-the-middle" && read.length > 100_000) return void socket.destroy();
    if (behaviour === "too-large" && read.length > 100_000)
      return void socket.end("INSTREAM size limit exceeded. ERROR\0");
    if (read.toString("latin1") === "zVERSION\0") return void socket.end("ClamAV 1.4.3/27800/Mon Nov 23\0");
    const file = wholeFile(read);
    if (file === null) return undefined;
    clamd.files.push(file);
    return void clamd.before().then(() => answer(clamd, socket, file));
  });
}

/** Returns the file of a stream that has ended; null while more of it is to come. */
function wholeFile(read: Buffer): Buffer | null {
  const parts: Buffer[] = [];
  for (let at = "zINSTREAM\0".length; at + 4 <= read.length;) {
    const length = read.readUInt32BE(at);
    if (length === 0) return Buffer.concat(parts);
    parts.push(read.subarray(at + 4, at + 4 + length));
    at += 4 + length;
  }
  return null;
}

function answer({ behaviour }: ScriptedClamd, socket: Socket, file: Buffer): void {
  if (behaviour === "half-an-answer") socket.end("stream: O");
  else if (behaviour === "endless-answer") socket.end(Buffer.alloc(1_048_576, "x"));
  else if (behaviour === "error") socket.end("stream: Can't allocate memory ERROR\0");
  else if (behaviour !== "stall")
    socket.end(file.includes(EICAR) ? "stream: Eicar-Test-Signature FOUND\0" : "stream: OK\0");
}
