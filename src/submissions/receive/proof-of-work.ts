import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { z } from "zod";

/*
 * A proof of work in the scheme of ALTCHA v1 (https://altcha.org/docs/v1/proof-of-work/): the browser searches for the number whose hash,
 * together with the salt, is the challenge. Nothing is stored until a proof is spent.
 */

const ALGORITHM = "SHA-256";
/** The browser needs half of this number of hashes on average. One takes about 0.1 ms in the browser of a phone. */
const MAX_NUMBER = 5000;
/** Time in which a proof can be sent, in milliseconds. */
export const PROOF_MS = 600_000;
/** The value of a post that has no proof yet. The browser can make one, and asks for a task instead of being accepted without a proof. */
export const ASK_FOR_PROOF = "ask";
const SALT_BYTES = 12;
/** The longest proof as base64, in characters; a genuine one has about 300. */
const MAX_PROOF_LENGTH = 1024;

export const challengeShape = z.object({
  algorithm: z.literal(ALGORITHM),
  challenge: z.string().describe("The SHA-256 of the salt followed by the number to find, in hexadecimal."),
  salt: z.string(),
  signature: z.string(),
  maxnumber: z.number().describe("The largest value that the number to find can have."),
});

const proofShape = z.object({
  algorithm: z.literal(ALGORITHM),
  challenge: z.string().regex(/^[0-9a-f]{64}$/),
  number: z.int().min(0).max(MAX_NUMBER),
  // The `&` at the end separates the digits of the time from those of the number, so that no digit can move from one to the other.
  salt: z.string().regex(/^[0-9a-f]{24}\?expires=[1-9]\d{8,11}&$/),
  signature: z.string().regex(/^[0-9a-f]{64}$/),
});

/** A valid proof. */
export interface Proof {
  /** The hash of the challenge, the same for every proof of it. */
  readonly id: Buffer;
  /** The time until which the proof is valid, in milliseconds since 1970 UTC. */
  readonly expiresAt: number;
}

/** Makes a challenge for posts to one endpoint. @param key the signing key of this installation */
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

/** Reads the proof of a post; null if it is not valid, is for another endpoint, or has expired. It may be spent already. */
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
