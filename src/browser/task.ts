import type { Result } from "./client-api.ts";
import { prove } from "./prove.ts";

/** Sent as the proof, it lets the server refuse a post that needs one: it is then sent again with the proof. */
export const ASK = "ask";

/** Addresses of tasks that were asked for since the page was loaded. */
const known = new Set<string>();

/** Gives what is sent first as the proof of work; null is nothing. @param isNamed whether the page says that there is a task */
export async function firstProof(address: string | null, isNamed: boolean): Promise<string | null> {
  if (address === null || globalThis.crypto?.subtle === undefined) return null;
  return isNamed || known.has(address) ? prove(address) : ASK;
}

/** The proof with which a post is sent once more; undefined if it was refused for something else, or was taken. */
export async function proofAfter(
  result: Result,
  address: string | null,
  sent: string | null,
): Promise<string | null | undefined> {
  if (result.ok || result.error !== "Challenge required" || sent !== ASK || address === null)
    return undefined;
  known.add(address);
  return prove(address);
}
