import crypto, { type Hash } from "node:crypto";
import { expect, onTestFinished, test, vi } from "vitest";
import { startServer } from "../support/test-server.ts";
import { applicationSchema, multipart, pdf } from "../support/uploads.ts";

/** Bytes that Node reads of a connection at once. */
const MOST_READ_AT_ONCE = 65_536;

test("of all uploads under way, one part is read in each turn of the event loop, so that other posts wait for no more", async () => {
  const server = await startServer();
  const { secret } = await server.addEndpoint({ schema: applicationSchema });
  const { headers, body } = await multipart([
    ["name", "Ana"],
    ["cv", { name: "cv.pdf", bytes: pdf(1_000_000) }],
  ]);
  const read = countBytesByTurn();
  const answers = await Promise.all(
    Array.from({ length: 8 }, () =>
      server.request({
        method: "POST",
        path: "/submit",
        headers: { authorization: `Bearer ${secret}`, ...headers },
        body,
      }),
    ),
  );
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  const turns = read();
  expect(turns.reduce((sum, bytes) => sum + bytes, 0)).toBe(8 * 1_000_000);
  // The end of a turn is seen a part too late if the next part was called first.
  expect(Math.max(...turns)).toBeLessThan(2.5 * MOST_READ_AT_ONCE);
});

/** Counts the bytes of files that are hashed in each turn of the event loop, of those turns in which there are any. */
function countBytesByTurn(): () => readonly number[] {
  const turns: number[] = [];
  let isNewTurn = true;
  const prototype = Object.getPrototypeOf(crypto.createHash("sha256")) as { update: (this: Hash) => Hash };
  const { update } = prototype;
  const spy = vi.spyOn(prototype, "update").mockImplementation(function (this: Hash, ...args: unknown[]) {
    const [bytes] = args;
    if (Buffer.isBuffer(bytes)) {
      if (isNewTurn) {
        turns.push(0);
        isNewTurn = false;
        setImmediate(() => (isNewTurn = true));
      }
      turns[turns.length - 1] = (turns.at(-1) ?? 0) + bytes.length;
    }
    return Reflect.apply(update, this, args) as Hash;
  });
  onTestFinished(() => spy.mockRestore());
  return () => turns;
}
