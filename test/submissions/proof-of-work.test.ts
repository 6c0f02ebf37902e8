import { createHash, randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { makeChallenge, PROOF_MS, readProof } from "../../src/submissions/receive/proof-of-work.ts";
import { NOON } from "../support/fake-clock.ts";
import { decode, encode, solve } from "../support/solve.ts";

const KEY = randomBytes(32);
const ENDPOINT = "ep_01h455vb4pex5vsknk084sn02q";

test("a browser cannot know the number beforehand: it is spread over the whole range that a challenge names", () => {
  const numbers = Array.from({ length: 60 }, () => {
    const asked = makeChallenge(KEY, ENDPOINT, NOON);
    expect(asked.maxnumber).toBe(5000);
    return Number(decode(solve(asked))["number"]);
  });
  // By chance less than once in a million runs each.
  expect(Math.max(...numbers)).toBeGreaterThan(3900);
  expect(Math.min(...numbers)).toBeLessThan(1100);
  expect(new Set(numbers).size).toBeGreaterThan(50);
});

test("each challenge is another one, and a proof of it is good until it is late, for its endpoint and with this key alone", () => {
  const [one, other] = [makeChallenge(KEY, ENDPOINT, NOON), makeChallenge(KEY, ENDPOINT, NOON)];
  expect([one.salt === other.salt, one.challenge === other.challenge]).toEqual([false, false]);
  const proof = solve(one);
  const read = (key: Buffer, endpoint: string, now: number) =>
    readProof(key, endpoint, proof, now)?.expiresAt ?? null;
  expect(read(KEY, ENDPOINT, NOON)).toBe(NOON + PROOF_MS);
  expect(read(KEY, ENDPOINT, NOON + PROOF_MS - 1)).toBe(NOON + PROOF_MS);
  expect([
    read(KEY, ENDPOINT, NOON + PROOF_MS),
    read(KEY, `${ENDPOINT}x`, NOON),
    read(randomBytes(32), ENDPOINT, NOON),
  ]).toEqual([null, null, null]);
});

test("a challenge that nobody asked us for is no proof, however much work was done for it", () => {
  const salt = `${"0".repeat(24)}?expires=${Math.floor((NOON + PROOF_MS) / 1000)}&`;
  const challenge = createHash("sha256").update(`${salt}7`).digest("hex");
  for (const signature of ["0".repeat(64), challenge, createHash("sha256").update(challenge).digest("hex")])
    expect(
      readProof(KEY, ENDPOINT, encode({ algorithm: "SHA-256", challenge, number: 7, salt, signature }), NOON),
    ).toBeNull();
});
