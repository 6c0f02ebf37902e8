import { hash } from "node:crypto";
import { lessonBuckets } from "./lesson.ts";
import { targetKeys } from "./target-keys.ts";
import type { SpamPost } from "./spam-post.ts";
import { readPost } from "./read-post.ts";
import { readWords } from "./read-words.ts";
import { wordBuckets } from "./text-features.ts";
import type { TextSketch } from "./text-sketch.ts";

/** The sender of a post, as hashes that cannot be reversed; null if unknown. */
export interface Sender<Hash = string> {
  readonly email: Hash | null;
  /** The hash of the network: IPv4 /24 or IPv6 /48. */
  readonly network: Hash | null;
}

/** The parts of a post that show whether it is a copy, and who sent it. */
export interface PostTrace {
  /** The sketch of the text; null if the text is too short to be remembered. */
  readonly sketch: TextSketch | null;
  /** The keys of the targets that the post leads to, by links and other contacts. */
  readonly targets: readonly number[];
  /** The sender's e-mail address in plain text; null if unknown. {@link senderOf} makes the hashes that are stored. */
  readonly email: string | null;
  readonly network: string | null;
}

export function traceOf(post: SpamPost): PostTrace {
  const read = readPost(post);
  const email = read.texts.find((field) => field.role === "email")?.text.toLowerCase() ?? null;
  const address = post.client?.ipAddress ?? "";
  return {
    sketch: read.sketch,
    targets: targetKeys(read),
    email,
    network: address === "" ? null : networkOf(address),
  };
}

export function senderOf({ email, network }: PostTrace): Sender {
  return {
    email: email === null ? null : emailHash(email),
    network: network === null ? null : networkHash(network),
  };
}

export function networkHash(network: string): string {
  return shortHash(`network ${network}`);
}

export function emailHash(email: string): string {
  return shortHash(`email ${email}`);
}

/** The lesson that a mark of this post teaches: the buckets of its words, and the log-odds of the shipped model. */
export function teachingOf(post: SpamPost): { buckets: Uint16Array; odds: number } {
  const { modelText, odds } = readPost(post);
  return { buckets: lessonBuckets(wordBuckets(readWords(modelText))), odds };
}

/**
 * Counts the earlier senders that are certainly different people: they share neither the e-mail address nor the network with this sender,
 * or with each other. A sender does not count if both are unknown, or if the two cannot be compared.
 */
export function countOthers<Hash>(sender: Sender<Hash>, earlier: readonly Sender<Hash>[]): number {
  const counted: Sender<Hash>[] = [sender];
  for (const other of earlier) {
    if (counted.every((one) => isOther(one, other))) counted.push(other);
  }
  return counted.length - 1;
}

function isOther<Hash>(one: Sender<Hash>, other: Sender<Hash>): boolean {
  const emails = one.email !== null && other.email !== null;
  const networks = one.network !== null && other.network !== null;
  if (emails && one.email === other.email) return false;
  if (networks && one.network === other.network) return false;
  return emails || networks;
}

/** The network that counts as one sender: IPv4 /24 and IPv6 /48 of a canonical address. */
export function networkOf(address: string): string {
  if (!address.includes(":")) return address.slice(0, Math.max(0, address.lastIndexOf(".")));
  const [head = ""] = address.split("::");
  const written = head === "" ? [] : head.split(":");
  // `::` stands for groups of zeros.
  return [...written, "0", "0", "0"].slice(0, 3).join(":");
}

const HASH_CHARACTERS = 16;

function shortHash(text: string): string {
  return hash("sha256", text, "base64url").slice(0, HASH_CHARACTERS);
}
