import { z } from "zod";
import { toIsoTime } from "../foundation/clock.ts";
import { shownOnce, volatile } from "../operations/marks.ts";
import type { IssuedKey } from "./issue-key.ts";
import { type Key, keyState } from "./key-store.ts";

const kind = z.enum(["secret", "publishable"]);

/** A key as every JSON output shows it, without its hash and tag. */
export const keyShape = z.strictObject({
  id: z.string(),
  key: z.string().describe("The 12 characters after the prefix, by which the key can be named."),
  kind,
  endpoint_id: z.string(),
  state: z.enum(["active", "ending", "revoked"]),
  created_at: z.string(),
  revoked_at: z.string().nullable(),
  seen_in_browser_at: volatile(
    z
      .string()
      .nullable()
      .describe(
        "When a browser last sent the key; null if none did. A secret key should never be in a browser.",
      ),
  ),
});

export function keyJson(key: Key, now: number): z.output<typeof keyShape> {
  return {
    id: key.id,
    key: key.lookup,
    kind: key.kind,
    endpoint_id: key.endpointId,
    state: keyState(key, now),
    created_at: toIsoTime(key.createdAt),
    revoked_at: key.revokedAt === null ? null : toIsoTime(key.revokedAt),
    seen_in_browser_at: key.seenInBrowserAt === null ? null : toIsoTime(key.seenInBrowserAt),
  };
}

/** A new key, with its text in the member that is named for its kind. The text is shown only this once. */
export const issuedKeyShape = z.strictObject({
  key: z.strictObject({ id: z.string(), kind, endpoint_id: z.string(), created_at: z.string() }),
  secret: shownOnce(z.string().optional()),
  publishable: shownOnce(z.string().optional()),
});

export function issuedKeyJson({ key, text }: IssuedKey): z.output<typeof issuedKeyShape> {
  const { id, kind, endpointId, createdAt } = key;
  return {
    key: { id, kind, endpoint_id: endpointId, created_at: toIsoTime(createdAt) },
    [kind]: text,
  };
}
