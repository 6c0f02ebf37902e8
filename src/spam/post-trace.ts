import { createHash } from "node:crypto";
import { lessonBuckets } from "./lesson.ts";
import type { SpamPost } from "./judge.ts";
import { readPost, type ReadPost } from "./read-post.ts";
import { textBuckets } from "./text-features.ts";
import { spamOdds } from "./text-model.ts";
import { sketchOf, type TextSketch } from "./text-sketch.ts";

/** What of a post a workspace may remember: nothing that could be turned back into it. */
export interface PostTrace {
  /** Null for a text that is too short to be remembered. */
  readonly sketch: TextSketch | null;
  /** Hashes of the e-mail address and of the network that the post came from; null where not known. */
  readonly email: string | null;
  readonly network: string | null;
  /** For learning by marks. */
  readonly buckets: Readonly<Uint16Array>;
  readonly odds: number;
}

export function traceOf(post: SpamPost): PostTrace {
  const read = readPost(post);
  const email = read.texts.find((field) => field.role === "email")?.text.toLowerCase();
  const address = post.client?.ipAddress;
  return {
    sketch: sketchOf(read.normalised),
    email: email === undefined ? null : shortHash(`email ${email}`),
    network: address === undefined ? null : shortHash(`network ${networkOf(address)}`),
    buckets: wordBucketsOf(read),
    odds: spamOdds(read.normalised),
  };
}

function wordBucketsOf(read: ReadPost): Uint16Array {
  return lessonBuckets(textBuckets(read.normalised).words);
}

/** The network that counts as one sender: IPv4 /24 and IPv6 /48 of a canonical address. */
export function networkOf(address: string): string {
  if (!address.includes(":")) return address.split(".").slice(0, 3).join(".");
  const [head = ""] = address.split("::");
  return head.split(":").slice(0, 3).join(":");
}

const HASH_CHARACTERS = 16;

function shortHash(text: string): string {
  return createHash("sha256").update(text).digest("base64url").slice(0, HASH_CHARACTERS);
}
