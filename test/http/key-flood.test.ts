import { crc32 } from "node:zlib";
import { expect, test } from "vitest";
import { makeKey } from "../../src/keys/key-format.ts";
import { goodPost, startServer, type TestServer } from "../support/test-server.ts";

test("keys that are not remembered yet are each taken at the first try while 150 clients from many networks send unknown ones", async () => {
  const server = await startServer({
    server: { trustProxy: ["127.0.0.1"] },
    rateLimit: { badKey: { max: 10 } },
  });
  const endpoints = await Promise.all(Array.from({ length: 4 }, () => server.addEndpoint()));
  const flood = await floodWith(server, () => makeKey("publishable").text);
  const statuses: number[] = [];
  for (const { publishable } of endpoints) statuses.push(await postAs(server, publishable));
  expect(await flood.end()).toEqual(new Set([401, 503]));
  expect(statuses).toEqual(endpoints.map(() => 200));
});

test("a key that is not remembered yet is taken at the first try while 150 clients send texts made up around its public characters", async () => {
  const server = await startServer({
    server: { trustProxy: ["127.0.0.1"] },
    rateLimit: { badKey: { max: 10 } },
  });
  const { publishable } = await server.addEndpoint();
  const flood = await floodWith(server, () => madeUpAround(publishable));
  const status = await postAs(server, publishable);
  expect(await flood.end()).toEqual(new Set([401, 503]));
  expect(status).toBe(200);
});

function postAs(server: TestServer, key: string): Promise<number> {
  const post = server.post(key, goodPost, { "x-forwarded-for": "192.0.2.1" });
  return post.then(({ status }) => status);
}

/** A well-formed key with the public part of another one. */
function madeUpAround(key: string): string {
  const body = key.slice(0, 16) + makeKey("publishable").text.slice(16, 48);
  const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  let sum = crc32(body);
  let checksum = "";
  for (let place = 0; place < 6; place += 1) {
    checksum = digits.charAt(sum % 62) + checksum;
    sum = Math.floor(sum / 62);
  }
  return body + checksum;
}

/** 150 clients, each post from another network. It is on when the first ones find no place. */
async function floodWith(server: TestServer, makeText: () => string) {
  const answered = new Set<number>();
  const end = new AbortController();
  let network = 0;
  const sendUnknownKeys = async (): Promise<void> => {
    while (!end.signal.aborted) {
      network += 1;
      const from = `10.${network >> 16}.${(network >> 8) & 255}.${network & 255}`;
      answered.add((await server.post(makeText(), goodPost, { "x-forwarded-for": from })).status);
    }
  };
  const strangers = Array.from({ length: 150 }, sendUnknownKeys);
  while (!answered.has(503)) await new Promise(setImmediate);
  return {
    /** @returns every status that was answered */
    async end(): Promise<ReadonlySet<number>> {
      end.abort();
      await Promise.all(strangers);
      return answered;
    },
  };
}
