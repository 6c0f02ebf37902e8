import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { onTestFinished } from "vitest";

export interface CuttingProxy {
  readonly port: number;
  /**
   * The next connection that sends this text is cut when the server has answered it: the server has done it, and the client
   * never hears.
   */
  cutAnswerTo(text: string): void;
}

/** Stands between a client and a PostgreSQL that listens on a socket. */
export async function startProxy(folder: string, serverPort: number): Promise<CuttingProxy> {
  let awaited: string | null = null;
  const open = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(`${folder}/.s.PGSQL.${serverPort}`);
    for (const socket of [client, upstream]) {
      open.add(socket);
      socket.on("error", () => undefined);
      socket.on("close", () => open.delete(socket));
    }
    let cuts = false;
    client.on("data", (data: Buffer) => {
      if (awaited !== null && data.includes(awaited)) {
        awaited = null;
        cuts = true;
      }
      upstream.write(data);
    });
    upstream.on("data", (data: Buffer) => {
      if (cuts) client.destroy();
      else client.write(data);
    });
    client.on("close", () => upstream.end());
    upstream.on("close", () => client.end());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    for (const socket of open) socket.destroy();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, cutAnswerTo: (text) => void (awaited = text) };
}
