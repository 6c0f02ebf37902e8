import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { z } from "zod";

/*
 * A proof of work in the scheme of ALTCHA v1 (https://altcha.org/docs/v1/proof-of-work/): the browser looks for the number whose hash
 * behind the salt is the challenge. Nothing is stored until a proof is spent.
 */

const ALGORITHM = "SHA-256";
/** On the average half of this many hashes, each some 0.1 ms of a phone's browser. */
const MAX_NUMBER = 5000;
/** Time in which a proof can be sent. */
export const PROOF_MS = 600_000;
/** In place of a proof: whoever sends the post can do one, and would rather be refused than sent on without. */
export const ASK_FOR_PROOF = "ask";
const SALT_BYTES = 12;
/** Of a proof as base64; a genuine one has some 300 characters. */
const MAX_PROOF_LENGTH = 1024;

export const challengeShape = z.object({
  algorithm: z.literal(ALGORITHM),
  challenge: z
    .string()
    .describe("The SHA-256 of the salt and the number that is looked for, in hexadecimal."),
  salt: z.string(),
  signature: z.string(),
  maxnumber: z.number().describe("The number is not greater."),
});

const proofShape = z.object({
  algorithm: z.literal(ALGORITHM),
  challenge: z.string().regex(/^[0-9a-f]{64}$/),
  number: z.int().min(0).max(MAX_NUMBER),
  // The last sign keeps digits of the time and of the number apart: none of them can be counted to the other.
  salt: z.string().regex(/^[0-9a-f]{24}\?expires=[1-9]\d{8,11}&$/),
  signature: z.string().regex(/^[0-9a-f]{64}$/),
});

/** A good proof. */
export interface Proof {
  /** Of the challenge: the same for each proof of it. */
  readonly id: Buffer;
  /** Milliseconds; after it the proof is late. */
  readonly expiresAt: number;
}

/** A challenge for posts to one endpoint. @param key of this installation */
export function makeChallenge(key: Buffer, endpointId: string, now: number): z.output<typeof challengeShape> {
  const number = randomBytes(4).readUInt32BE() % (MAX_NUMBER + 1);
  const salt = `${randomBytes(SALT_BYTES).toString("hex")}?expires=${Math.floor((now + PROOF_MS) / 1000)}&`;
  const challenge = hashOf(salt, number);
  return {
    algorithm: ALGORITHM,
    challenge,
    salt,
    signature: sign(key, endpointId, challenge),
    maxnumber: MAX_NUMBER,
  };
}

/** The proof that a post has; null if it is none, for another endpoint, or late. It may be spent already. */
export function readProof(key: Buffer, endpointId: string, given: unknown, now: number): Proof | null {
  const proof = proofShape.safeParse(decode(given));
  if (!proof.success) return null;
  const { challenge, number, salt, signature } = proof.data;
  const expected = Buffer.from(sign(key, endpointId, challenge), "hex");
  if (!timingSafeEqual(expected, Buffer.from(signature, "hex"))) return null;
  if (hashOf(salt, number) !== challenge) return null;
  const expiresAt = Number(/expires=(\d+)/.exec(salt)?.[1]) * 1000;
  return expiresAt > now ? { id: Buffer.from(challenge, "hex"), expiresAt } : null;
}

function decode(given: unknown): unknown {
  if (typeof given !== "string" || given.length > MAX_PROOF_LENGTH) return null;
  try {
    return JSON.parse(Buffer.from(given, "base64").toString()) as unknown;
  } catch {
    return null;
  }
}

function hashOf(salt: string, number: number): string {
  return createHash("sha256").update(`${salt}${number}`).digest("hex");
}

function sign(key: Buffer, endpointId: string, challenge: string): string {
  const ofEndpoint = createHmac("sha256", key).update(`challenge ${endpointId}`).digest();
  return createHmac("sha256", ofEndpoint).update(challenge).digest("hex");
}
