import { Agent, get, type IncomingMessage } from "node:http";

/** A stream of server-sent events, read as a browser reads it. */
export interface EventStream {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  /** Waits for the next event and returns its name and data; null after the end of the stream. */
  next(): Promise<{ readonly name: string; readonly data: string } | null>;
  /** Returns all text that has come so far. */
  text(): string;
  close(): void;
}

const agent = new Agent({ keepAlive: false, maxSockets: Infinity });

export async function openEvents(url: string, cookie: string): Promise<EventStream> {
  const request = get(url, { headers: { cookie, accept: "text/event-stream" }, agent });
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    request.once("response", resolve);
    request.once("error", reject);
  });
  let text = "";
  let read = 0;
  let isOver = false;
  let wake = (): void => {};
  response.setEncoding("utf8").on("data", (part: string) => {
    text += part;
    wake();
  });
  response.on("error", () => {});
  response.once("close", () => {
    isOver = true;
    wake();
  });
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    async next() {
      for (;;) {
        const end = text.indexOf("\n\n", read);
        if (end >= 0) {
          const block = text.slice(read, end);
          read = end + 2;
          const name = /^event: (.*)$/m.exec(block)?.[1];
          if (name !== undefined) return { name, data: /^data: (.*)$/m.exec(block)?.[1] ?? "" };
        } else if (isOver) return null;
        else
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
      }
    },
    text: () => text,
    close: () => request.destroy(),
  };
}
