import { type Actor, recordChange } from "../audit/audit-store.ts";
import type { Database } from "../database/database.ts";
import type { Steps } from "../database/steps.ts";
import { type IssuedKey, prepareKey, revokeKey, storeKey, succeedKey } from "../keys/issue-key.ts";
import type { KeyKind } from "../keys/key-format.ts";
import { getKey, type Key } from "../keys/key-store.ts";
import { getEndpoint } from "./endpoint-store.ts";

/** What people do to the keys of endpoints. Each records who did it; null is the command line. */

/** Issues a further key of an endpoint, by its id or unique name. @throws not_found, ambiguous */
export async function addKey(
  db: Database,
  actor: Actor | null,
  { endpoint, kind }: { readonly endpoint: string; readonly kind: KeyKind },
  now: number,
): Promise<IssuedKey> {
  const { id, workspaceId } = await db.read(() => getEndpoint(endpoint));
  const prepared = await prepareKey(kind, workspaceId);
  return db.transaction(function* () {
    // It may have been deleted while the key was hashed.
    const issued = yield* storeKey((yield* getEndpoint(id)).id, prepared, now);
    yield* recordKeyChange(actor, "issue", issued.key, now);
    return issued;
  });
}

/** Issues a successor of the same kind, and ends the old key after `graceMs`. @throws not_found; conflict when it is revoked already */
export async function replaceKey(
  db: Database,
  actor: Actor | null,
  { key: reference, graceMs }: { readonly key: string; readonly graceMs: number },
  now: number,
): Promise<IssuedKey> {
  const { old, workspaceId } = await db.read(function* () {
    const old = yield* getKey(reference);
    return { old, workspaceId: (yield* getEndpoint(old.endpointId)).workspaceId };
  });
  const prepared = await prepareKey(old.kind, workspaceId);
  return db.transaction(function* () {
    const issued = yield* succeedKey(old.id, prepared, graceMs, now);
    yield* recordKeyChange(actor, "rotate", old, now);
    return issued;
  });
}

/** As {@link revokeKey}. @throws not_found */
export function* withdrawKey(actor: Actor | null, reference: string, now: number): Steps<Key> {
  const key = yield* revokeKey(reference, now);
  yield* recordKeyChange(actor, "revoke", key, now);
  return key;
}

function* recordKeyChange(
  actor: Actor | null,
  verb: "issue" | "rotate" | "revoke",
  { id, kind, endpointId }: Key,
  now: number,
): Steps<void> {
  const { workspaceId } = yield* getEndpoint(endpointId);
  const change = { subject: endpointId, workspaceId, detail: `${kind} key ${id}` };
  yield* recordChange(actor, { action: `key.${verb}`, ...change }, now);
}
