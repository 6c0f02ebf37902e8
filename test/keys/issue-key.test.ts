import { expect, test } from "vitest";
import { prepareKey } from "../../src/keys/issue-key.ts";

test("a workspace that makes many keys holds up no other one, and what finds no place is told when to try again", async () => {
  let made = 0;
  const many = Array.from({ length: 80 }, () => prepareKey("secret", "greedy").then(() => (made += 1)));
  const outcomes = Promise.allSettled(many);
  await prepareKey("secret", "another");
  expect(made).toBeLessThan(4);
  const refused = (await outcomes).filter(({ status }) => status === "rejected");
  expect(refused).toHaveLength(80 - made);
  // One place to work in and 64 to wait in, one of which the other workspace was given.
  expect(made).toBe(64);
  expect(refused[0]).toMatchObject({ reason: { code: "unavailable", facts: { retryAfterSeconds: 1 } } });
});
