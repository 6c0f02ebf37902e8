import { get } from "node:http";

export interface RawAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** The body as received; it is still compressed if it was sent so. */
  readonly body: Buffer;
}

/** Sends exactly these headers and Host, and decompresses nothing, unlike `fetch`. */
export function sendRaw(url: string, headers: Record<string, string>): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    get(url, { headers, agent: false }, (response) => {
      const parts: Buffer[] = [];
      response.on("data", (part: Buffer) => parts.push(part));
      response.on("end", () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers as Record<string, string | undefined>,
          body: Buffer.concat(parts),
        }),
      );
    }).on("error", reject);
  });
}
