import { toIsoTime } from "../foundation/clock.ts";
import type { IssuedKey } from "./issue-key.ts";
import { type Key, keyState } from "./key-store.ts";

/** A key as every JSON output shows it: without what it is verified with. */
export function keyJson(key: Key, now: number) {
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

/** A key that was just made, with its text under its kind, which is shown this once. */
export function issuedKeyJson({ key, text }: IssuedKey) {
  const { id, kind, endpointId, createdAt } = key;
  return {
    key: { id, kind, endpoint_id: endpointId, created_at: toIsoTime(createdAt) },
    [kind]: text,
  };
}
