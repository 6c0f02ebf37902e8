import type { Expression, Selectable } from "kysely";
import { query } from "../database/database.ts";
import { among } from "../database/some-rows.ts";
import { all, byEngine, first, run, type Steps, textByEngine } from "../database/steps.ts";
import { raiseSettingsVersion } from "../database/settings-version.ts";
import type { Tables } from "../database/tables.generated.ts";
import { FormsvcError } from "../foundation/errors.ts";
import { isId, newId } from "../foundation/id.ts";
import { isLookup } from "../foundation/secret-text.ts";
import { tagOf } from "./key-tag.ts";
import { parseKey, type KeyKind, type ParsedKey } from "./key-format.ts";

export interface Key {
  readonly id: string;
  readonly endpointId: string;
  readonly kind: KeyKind;
  readonly lookup: string;
  /** argon2id in PHC format. */
  readonly hash: string;
  /** Null for a key of an earlier version that was not used since; see `key-tag.ts`. */
  readonly tag: Buffer | null;
  readonly createdAt: number;
  /** The key is refused from this time on. During the grace period of a rotation the time is in the future. */
  readonly revokedAt: number | null;
  /** Whether that time was once reached. The key then stays refused if the clock is set back. */
  readonly isRevoked: boolean;
  /** When the key was last refused because a browser sent it; null if never. */
  readonly seenInBrowserAt: number | null;
}

export interface NewKey {
  readonly endpointId: string;
  readonly parsed: ParsedKey;
  readonly hash: string;
}

/** The largest number of an endpoint's keys that work. */
const MAX_WORKING_KEYS = 50;
/** The largest number of an endpoint's ended keys that are listed; beyond it, those that were made first are deleted. */
const MAX_ENDED_KEYS = 100;

/** Adds a key. Call inside a transaction. @throws usage if the endpoint has too many keys that work. */
export function* insertKey(made: NewKey, now: number): Steps<Key> {
  yield* makeRoom(made.endpointId, now);
  const row = {
    id: newId("key", now),
    endpoint_id: made.endpointId,
    kind: made.parsed.kind,
    lookup: made.parsed.lookup,
    hash: made.hash,
    tag: tagOf(made.parsed.text),
    created_at: now,
    revoked_at: null,
    seen_in_browser_at: null,
    is_revoked: 0,
  };
  yield* run(query.insertInto("api_key").values(row));
  yield* raiseSettingsVersion(made.endpointId);
  return toKey(row);
}

function* makeRoom(endpointId: string, now: number): Steps<void> {
  const keys = yield* listKeys(endpointId);
  const ended = keys.filter((key) => hasEnded(key, now));
  if (keys.length - ended.length >= MAX_WORKING_KEYS)
    throw new FormsvcError(
      "usage",
      `an endpoint has at most ${MAX_WORKING_KEYS} keys that work; revoke one first`,
      {
        hint: { kind: "list_keys" },
      },
    );
  const surplus = ended.slice(0, -MAX_ENDED_KEYS).map(({ id }) => id);
  if (surplus.length > 0) yield* run(query.deleteFrom("api_key").where("id", "in", surplus));
}

/** All keys of an endpoint, oldest first, with the last hundred ended ones. */
export function* listKeys(endpointId: string): Steps<Key[]> {
  return (yield* all(
    query.selectFrom("api_key").selectAll().where("endpoint_id", "=", endpointId).orderBy("id"),
  )).map(toKey);
}

/** Finds a key. @param reference its id, its 12 public characters, or the whole key, as it was found leaked. @throws not_found */
export function* getKey(reference: string): Steps<Key> {
  const column = isId("key", reference) ? "id" : "lookup";
  const name = parseKey(reference)?.lookup ?? reference;
  const known = column === "id" || isLookup(name);
  const row = known
    ? yield* first(query.selectFrom("api_key").selectAll().where(column, "=", name))
    : undefined;
  if (row === undefined) throw noKey();
  return toKey(row);
}

/** A key of an endpoint. @throws not_found, in the same words, if there is no key with this id or if it belongs to another endpoint. */
export function* getKeyOf(endpointId: string, id: string): Steps<Key> {
  const keys = query.selectFrom("api_key").selectAll().where("endpoint_id", "=", endpointId);
  const row = yield* first(keys.where("id", "=", id));
  if (row === undefined) throw noKey();
  return toKey(row);
}

export function noKey(): FormsvcError {
  return new FormsvcError(
    "not_found",
    "there is no such key; name it by its id, the 12 characters behind its prefix, or whole",
    { hint: { kind: "list_keys" } },
  );
}

/** The key with these 12 public characters; undefined if there is none. */
export function* findKey(lookup: string): Steps<Key | undefined> {
  const row = yield* first(query.selectFrom("api_key").selectAll().where("lookup", "=", lookup));
  return row === undefined ? undefined : toKey(row);
}

/** Refuses the key from `at` on, or from its earlier end if it has one. Call inside a transaction. */
export function* endKey(key: Key, at: number, now: number): Steps<Key> {
  const revokedAt = key.revokedAt === null ? at : Math.min(key.revokedAt, at);
  const isRevoked = hasEnded({ ...key, revokedAt }, now);
  const change = { revoked_at: revokedAt, is_revoked: Number(isRevoked) };
  yield* run(query.updateTable("api_key").set(change).where("id", "=", key.id));
  yield* raiseSettingsVersion(key.endpointId);
  return { ...key, revokedAt, isRevoked };
}

/**
 * Refuses every key of these endpoints from now on. Call inside a transaction that raises the version of the settings. Returns the number
 * of keys that worked.
 */
export function endKeysOf(endpoints: Expression<string>, now: number): Steps<number> {
  return run(
    query
      .updateTable("api_key")
      .set({ revoked_at: now, is_revoked: 1 })
      .where("endpoint_id", "in", endpoints)
      .where("is_revoked", "=", 0),
  );
}

export function hasEnded({ revokedAt, isRevoked }: Key, now: number): boolean {
  return isRevoked || (revokedAt !== null && revokedAt <= now);
}

/** The state of a key. `ending`: it is revoked, and works until its grace period is over. */
export function keyState(key: Key, now: number): "active" | "ending" | "revoked" {
  if (key.revokedAt === null) return "active";
  return hasEnded(key, now) ? "revoked" : "ending";
}

/** The largest number of keys ended in one transaction, so that posts never wait long for it. */
const GRACE_BATCH_SIZE = 500;

/** The conditions are those of the index on keys in their grace period, which an engine takes only if they stand in the text. */
const GRACE_OVER_SQL =
  "SELECT id FROM api_key WHERE is_revoked = 0 AND revoked_at IS NOT NULL AND revoked_at <= ? ORDER BY revoked_at LIMIT ?";
export const FINISH_GRACE_SQL = byEngine(
  (engine) => `UPDATE api_key SET is_revoked = 1 WHERE ${among(engine, "id", GRACE_OVER_SQL)}`,
);

/** Makes the end final for up to 500 keys whose grace period is over. Returns the number of them. */
export function finishGrace(now: number): Steps<number> {
  return run(textByEngine(FINISH_GRACE_SQL, now, GRACE_BATCH_SIZE));
}

/** Stores the tag of a key of an earlier version, whose text was just verified. */
export function* addTag({ id }: Key, text: string): Steps<void> {
  const untagged = query
    .updateTable("api_key")
    .set({ tag: tagOf(text) })
    .where("id", "=", id);
  yield* run(untagged.where("tag", "is", null));
}

/** Records that a browser sent this secret key, so that its owner is notified. */
export function* markSeenInBrowser(key: Key, now: number): Steps<void> {
  yield* run(query.updateTable("api_key").set({ seen_in_browser_at: now }).where("id", "=", key.id));
}

function toKey(row: Selectable<Tables["api_key"]>): Key {
  return {
    id: row.id,
    endpointId: row.endpoint_id,
    kind: row.kind,
    lookup: row.lookup,
    hash: row.hash,
    tag: row.tag,
    createdAt: row.created_at,
    revokedAt: row.revoked_at,
    seenInBrowserAt: row.seen_in_browser_at,
    isRevoked: row.is_revoked === 1,
  };
}
