import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** Another person's web site, on its own origin. */
export interface WebSite {
  readonly origin: string;
  /** Puts a page or a script at a path, and returns its address. A later one at the same path replaces it. */
  put(path: string, content: string, headers?: Record<string, string>): string;
  /** Lets `listener` answer the requests to a path, and returns its address. */
  answer(path: string, listener: (request: IncomingMessage, response: ServerResponse) => void): string;
  stop(): Promise<void>;
}

export async function startWebSite(): Promise<WebSite> {
  const routes = new Map<string, (request: IncomingMessage, response: ServerResponse) => void>();
  const server = createServer((request, response) => {
    const listener = routes.get((request.url ?? "").split("?")[0] ?? "");
    if (listener !== undefined) return listener(request, response);
    response.writeHead(404).end();
    return undefined;
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const answer: WebSite["answer"] = (path, listener) => {
    routes.set(path, listener);
    return `${origin}${path}`;
  };
  return {
    origin,
    answer,
    put: (path, content, headers = {}) =>
      answer(path, (_request, response) => {
        const type = path.endsWith(".js") ? "text/javascript" : "text/html; charset=utf-8";
        response.writeHead(200, { "content-type": type, ...headers }).end(content);
      }),
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
