import type { SpamReason } from "../spam-verdict.ts";
import { POINTS } from "../points.ts";
import type { ReadPost } from "../read-post.ts";

const MIN_NAME_WORD = 2;
/** The longest value that a browser fills in by itself, in characters. */
const MAX_AUTOFILL_LENGTH = 200;

/** Evidence that a hidden field was filled: by a robot, or by the browser with another value of the person. */
export function honeypotReasons(read: ReadPost): SpamReason[] {
  if (read.post.honeypots.length === 0) return [];
  const own = ownValues(read);
  const filled = read.post.honeypots.map(({ name, value }): SpamReason =>
    typeof value === "string" && value.length <= MAX_AUTOFILL_LENGTH && own.has(plain(value))
      ? {
          signal: "honeypot-autofill",
          points: POINTS["honeypot-autofill"],
          field: name,
          detail: "repeats the person's own value",
        }
      : { signal: "honeypot", points: POINTS.honeypot, field: name, detail: "hidden field was filled" },
  );
  return filled.slice(0, 1).map((first) => filled.find((reason) => reason.points > first.points) ?? first);
}

function ownValues(read: ReadPost): Set<string> {
  const own = new Set<string>();
  for (const field of read.texts) {
    if (field.text.length > MAX_AUTOFILL_LENGTH) continue;
    own.add(plain(field.text));
    if (field.role !== "name") continue;
    for (const word of field.text.split(/\s+/)) if (word.length >= MIN_NAME_WORD) own.add(plain(word));
  }
  own.delete("");
  return own;
}

function plain(text: string): string {
  return text
    .normalize("NFKC")
    .toLowerCase()
    .replace(/[^\p{L}\p{N}@.]+/gu, "");
}
