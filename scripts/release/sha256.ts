import { createHash } from "node:crypto";

const hashedBefore = new WeakMap<Buffer, string>();

/** Hashes content of a release, which nobody changes. Several lists name the same large file, which is hashed once. */
export function sha256(content: Buffer | string): string {
  const before = typeof content === "string" ? undefined : hashedBefore.get(content);
  if (before !== undefined) return before;
  const hash = createHash("sha256").update(content).digest("hex");
  if (typeof content !== "string") hashedBefore.set(content, hash);
  return hash;
}
