import { expect, test } from "vitest";
import { makeKey } from "../../src/keys/key-format.ts";
import { goodPost, startServer } from "../support/test-server.ts";

test("keys that are not remembered yet are each taken at the first try while 150 clients from many networks send unknown ones", async () => {
  const server = await startServer({
    server: { trustProxy: ["127.0.0.1"] },
    rateLimit: { badKey: { max: 10 } },
  });
  const endpoints = await Promise.all(Array.from({ length: 4 }, () => server.addEndpoint()));
  const answered = new Map<number, number>();
  let network = 0;
  const end = new AbortController();
  const sendUnknownKeys = async (): Promise<void> => {
    while (!end.signal.aborted) {
      network += 1;
      const from = `10.${network >> 16}.${(network >> 8) & 255}.${network & 255}`;
      const { status } = await server.post(makeKey("publishable").text, goodPost, {
        "x-forwarded-for": from,
      });
      answered.set(status, (answered.get(status) ?? 0) + 1);
    }
  };
  const strangers = Array.from({ length: 150 }, sendUnknownKeys);
  // The flood is on when the first ones find no place.
  while (!answered.has(503)) await new Promise(setImmediate);
  const statuses: number[] = [];
  for (const { publishable } of endpoints) {
    const { status } = await server.post(publishable, goodPost, { "x-forwarded-for": "192.0.2.1" });
    statuses.push(status);
  }
  end.abort();
  await Promise.all(strangers);
  expect(statuses).toEqual(endpoints.map(() => 200));
  expect(new Set(answered.keys())).toEqual(new Set([401, 503]));
});
