import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from "node:http";
import { createServer as createTlsServer, type ServerOptions } from "node:https";
import {
  createServer as createTcpServer,
  type AddressInfo,
  type Server as TcpServer,
  type Socket,
} from "node:net";

export interface Received {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  readonly atMs: number;
}

export interface TestReceiver extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  readonly received: Received[];
  /** The number of TCP connections that were made, whatever they carried, and the number of those that are open now. */
  readonly connections: { count: number; readonly open: number };
}

export type Answer = (response: ServerResponse, received: Received, index: number) => void;

/** Starts a real HTTP receiver on loopback, which keeps what arrives. `answer` answers each message. */
export function startReceiverWith(answer: Answer, tls?: ServerOptions): Promise<TestReceiver> {
  const received: Received[] = [];
  const server: Server = tls ? createTlsServer(tls) : createServer();
  server.on("request", (request, response: ServerResponse) => {
    const chunks: Buffer[] = [];
    request.on("error", () => undefined);
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const { method = "", url: path = "", headers } = request;
      const one = { method, path, headers, body: Buffer.concat(chunks), atMs: Date.now() };
      received.push(one);
      answer(response, one, received.length - 1);
    });
  });
  return listen(server, tls ? "https" : "http", received);
}

/** Starts a receiver that sends what `onSocket` writes, for answers that no HTTP server would give. */
export function startRawReceiver(onSocket: (socket: Socket) => void): Promise<TestReceiver> {
  const server = createTcpServer((socket) => {
    socket.on("error", () => undefined);
    onSocket(socket);
  });
  return listen(server, "http", []);
}

async function listen(
  server: Server | TcpServer,
  scheme: string,
  received: Received[],
): Promise<TestReceiver> {
  const sockets = new Set<Socket>();
  const connections = {
    count: 0,
    get open() {
      return sockets.size;
    },
  };
  server.on("connection", (socket: Socket) => {
    connections.count += 1;
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
  });
  server.on("tlsClientError", () => undefined);
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `${scheme}://127.0.0.1:${port}/hook`,
    port,
    received,
    connections,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => {
        server.close(resolve);
      });
    },
  };
}

/** Finds a port of loopback on which nothing listens. */
export async function findClosedPort(): Promise<number> {
  const receiver = await startRawReceiver(() => undefined);
  await receiver[Symbol.asyncDispose]();
  return receiver.port;
}
