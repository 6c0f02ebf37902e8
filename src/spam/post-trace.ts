import { hash } from "node:crypto";
import { lessonBuckets } from "./lesson.ts";
import type { SpamPost } from "./judge.ts";
import { readPost } from "./read-post.ts";
import { textBuckets } from "./text-features.ts";
import { spamOdds } from "./text-model.ts";
import { sketchOf, type TextSketch } from "./text-sketch.ts";

/** Who sent a post, as hashes that cannot be turned back; null where not known. */
export interface Sender {
  readonly email: string | null;
  /** IPv4 /24 or IPv6 /48. */
  readonly network: string | null;
}

/** What of a post a workspace remembers to know copies of it by. */
export interface PostTrace {
  /** Null for a text that is too short to be remembered. */
  readonly sketch: TextSketch | null;
  readonly sender: Sender;
}

export function traceOf(post: SpamPost): PostTrace {
  const read = readPost(post);
  const email = read.texts.find((field) => field.role === "email")?.text.toLowerCase();
  const address = post.client?.ipAddress;
  return {
    sketch: sketchOf(read.normalised),
    sender: {
      email: email === undefined ? null : shortHash(`email ${email}`),
      network: address === undefined ? null : shortHash(`network ${networkOf(address)}`),
    },
  };
}

/** What a mark of this post teaches: its buckets, and the log-odds of the shipped model. */
export function teachingOf(post: SpamPost): { buckets: Uint16Array; odds: number } {
  const { normalised } = readPost(post);
  const odds = spamOdds(normalised);
  return { buckets: lessonBuckets(textBuckets(normalised).words), odds };
}

/**
 * How many of the earlier senders are surely others: neither the e-mail address nor the network of this one or of each
 * other. Whoever is not known by either, or cannot be compared, does not count.
 */
export function countOthers(sender: Sender, earlier: readonly Sender[]): number {
  const counted: Sender[] = [sender];
  for (const other of earlier) {
    if (counted.every((one) => isOther(one, other))) counted.push(other);
  }
  return counted.length - 1;
}

function isOther(one: Sender, other: Sender): boolean {
  const emails = one.email !== null && other.email !== null;
  const networks = one.network !== null && other.network !== null;
  if (emails && one.email === other.email) return false;
  if (networks && one.network === other.network) return false;
  return emails || networks;
}

/** The network that counts as one sender: IPv4 /24 and IPv6 /48 of a canonical address. */
export function networkOf(address: string): string {
  if (!address.includes(":")) return address.split(".").slice(0, 3).join(".");
  const [head = ""] = address.split("::");
  return head.split(":").slice(0, 3).join(":");
}

const HASH_CHARACTERS = 16;

function shortHash(text: string): string {
  return hash("sha256", text, "base64url").slice(0, HASH_CHARACTERS);
}
