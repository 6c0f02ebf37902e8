import { hash } from "node:crypto";
import { sql } from "kysely";
import { listFileIdsOfHeld } from "../../files/file-store.ts";
import { FormsvcError } from "../../foundation/errors.ts";
import { query } from "../../database/database.ts";
import type { SqliteDatabase } from "../../database/sqlite/sqlite-database.ts";
import { among, deleteSome } from "../../database/some-rows.ts";
import { all, first, run, type Steps, text, textByEngine, byEngine } from "../../database/steps.ts";
import type { Tables } from "../../database/tables.generated.ts";
import { listed, listedIds } from "../../database/list-parameter.ts";
import { checkCursor, firstIdAt, isId } from "../../foundation/id.ts";
import { CLASS_SCORES } from "../../spam/spam-verdict.ts";
import { mayViewEndpoint } from "../../endpoints/endpoint-store.ts";
import type { Viewing } from "../../operations/actor.ts";
import type { IdempotentPost } from "../commit/idempotency.ts";
import { CONTENT_COLUMNS, contentValues, readContent, type Submission } from "../stored/submission.ts";
import { DAY_MS } from "../../foundation/time-units.ts";

/** A refused post that is held for some days, so that a genuine post is not lost. */
export interface HeldPost extends Submission {
  readonly workspaceId: string;
  readonly why: (typeof HELD_REASONS)[number];
  /** The origin of the page; only if the post is held because of it. */
  readonly origin?: string | undefined;
}

/** The reasons: scored as spam, over the monthly limit, or from a page whose origin is not allowed. */
export const HELD_REASONS = ["spam", "limit", "origin"] as const;

/** A selection of held posts. Null means any. */
export interface HeldPostFilter {
  readonly endpointIds: readonly string[] | null;
  /** Absent means any. */
  readonly why?: HeldPost["why"] | null;
  /** Milliseconds since 1970 UTC; `since` is inclusive, `until` is exclusive. */
  readonly since: number | null;
  readonly until: number | null;
}

export interface HeldPostPage {
  /** The posts of the page, newest first. */
  readonly data: readonly HeldPost[];
  /** The start of the next page; null on the last one. */
  readonly nextCursor: string | null;
}

/** A refused post, ready to be stored. */
export interface NewHeldPost {
  readonly held: HeldPost;
  /** Whether a honeypot was filled. */
  readonly trapped: boolean;
  /** A hash of the submitter's network; empty if none is known. */
  readonly network: string;
  /** The post's Idempotency-Key; null if it has none. Posts with the same key and body are held once. */
  readonly idempotent: IdempotentPost | null;
  /** Bytes of the post's texts in UTF-8. */
  readonly bytes: number;
  /** The bytes of held posts that the plan of the workspace allows; null is unlimited. */
  readonly maxBytes: number | null;
}

/** Stores a held post, inside the caller's transaction. */
type HeldPostWriter = (post: NewHeldPost) => void;

export function createHeldPostWriter(db: SqliteDatabase): HeldPostWriter {
  const insert = db.prepare(
    `INSERT INTO held (${CONTENT_COLUMNS.join(", ")}, workspace_id, endpoint_id, why, trapped, network, key_hash, bytes, origin,
       sent_kind, sent_key_hash, sent_body_hash)
     VALUES (${CONTENT_COLUMNS.map(() => "?").join(", ")}, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (endpoint_id, key_hash) WHERE key_hash IS NOT NULL DO NOTHING`,
  );
  return ({ held, trapped, network, idempotent, bytes }) =>
    void insert.run(
      ...contentValues(held),
      held.workspaceId,
      held.endpointId,
      held.why,
      trapped ? 1 : 0,
      network,
      idempotent && hashOfRetry(idempotent),
      bytes,
      held.origin ?? null,
      idempotent?.kind ?? null,
      idempotent?.keyHash ?? null,
      idempotent?.bodyHash ?? null,
    );
}

const ADD_IMPORTED_SQL = `INSERT INTO held
  (${CONTENT_COLUMNS.join(", ")}, workspace_id, endpoint_id, why, trapped, network, key_hash, bytes, origin)
  VALUES (${CONTENT_COLUMNS.map(() => "?").join(", ")}, ?, ?, ?, 0, '', NULL, ?, ?) ON CONFLICT (id) DO NOTHING`;

/** Adds a held post from an archive, unless its id exists already. Returns whether it was added. */
export function* addImportedHeld(held: HeldPost): Steps<boolean> {
  const { workspaceId, endpointId, why, origin = null } = held;
  const ownValues = [workspaceId, endpointId, why, heldBytes(held), origin];
  return (yield* run(text(ADD_IMPORTED_SQL, ...contentValues(held), ...ownValues))) > 0;
}

/** Returns those of the ids that belong to held posts. */
export function* findHeldIds(ids: readonly string[]): Steps<ReadonlySet<string>> {
  const rows = yield* all(query.selectFrom("held").select("id").where("id", "in", listedIds(ids)));
  return new Set(rows.map(({ id }) => id));
}

/** The bytes of a post's texts in UTF-8. */
export function heldBytes(held: HeldPost): number {
  return contentValues(held).reduce<number>(
    (bytes, value) => (typeof value === "string" ? bytes + Buffer.byteLength(value) : bytes),
    held.origin?.length ?? 0,
  );
}

/** A hash of the key with the body: a refused post may be sent again with the same key and another body, and is another held post then. */
export function hashOfRetry({ kind, keyHash, bodyHash }: IdempotentPost): Buffer {
  return hash("sha256", Buffer.concat([keyHash, bodyHash, Buffer.from(kind)]), "buffer");
}

/**
 * Lists held posts, newest first. @param cursor a `nextCursor`, or null for the first page. @param maxBytes the largest number of bytes of
 * data on the page, which still has at least one post.
 * @throws invalid_request on any other cursor.
 */
export function* listHeldPosts(
  filter: HeldPostFilter,
  limit: number,
  cursor: string | null,
  maxBytes = Infinity,
): Steps<HeldPostPage> {
  checkCursor("held", cursor);
  let ids = ofEndpoints(filter.endpointIds)
    .orderBy("id", "desc")
    .limit(limit + 1);
  if (filter.why !== undefined && filter.why !== null) ids = ids.where("why", "=", filter.why);
  if (filter.since !== null) ids = ids.where("id", ">=", firstIdAt("held", filter.since));
  if (filter.until !== null) ids = ids.where("id", "<", firstIdAt("held", filter.until));
  if (cursor !== null) ids = ids.where("id", "<", cursor);
  // The ids are found and sorted in an index, and then only the posts of this page are read.
  const listed = yield* all(
    query
      .selectFrom("held")
      .select(["id", sql<number>`octet_length(data) + coalesce(octet_length(unknown_fields), 0)`.as("bytes")])
      .where("id", "in", ids)
      .orderBy("id", "desc"),
  );
  const fitting = fittingOf(listed.slice(0, limit), maxBytes);
  const rows = yield* all(
    query.selectFrom("held").selectAll().where("id", "in", listedIds(fitting)).orderBy("id", "desc"),
  );
  const data = rows.map(toHeldPost);
  return { data, nextCursor: listed.length > data.length ? (data.at(-1)?.id ?? null) : null };
}

/** Returns the first of these posts, as many as fit into `maxBytes` together, and at least one. */
function fittingOf(
  listed: readonly { readonly id: string; readonly bytes: number }[],
  maxBytes: number,
): string[] {
  let bytes = 0;
  const tooFar = listed.findIndex((each, index) => (bytes += each.bytes) > maxBytes && index > 0);
  return (tooFar < 0 ? listed : listed.slice(0, tooFar)).map(({ id }) => id);
}

/** Lists the posts that a page sent to an endpoint before the page was allowed, the oldest first, without those scored as spam. */
export function* listReleasable(endpointId: string, origin: string): Steps<HeldPost[]> {
  const rows = yield* all(releasable(endpointId, origin).selectAll().orderBy("id"));
  return rows.map(toHeldPost);
}

export function* countReleasable(endpointId: string, origin: string): Steps<number> {
  const counted = releasable(endpointId, origin).select(({ fn }) => fn.countAll<number>().as("count"));
  return (yield* first(counted))?.count ?? 0;
}

function releasable(endpointId: string, origin: string) {
  return query
    .selectFrom("held")
    .where("endpoint_id", "=", endpointId)
    .where("why", "=", "origin")
    .where("origin", "=", origin)
    .where("spam_score", "<", CLASS_SCORES.blocked[0]);
}

/** Counts the held posts of these endpoints up to and with `newestId`. @param endpointIds null means every endpoint */
export function* countHeldPostsOf(endpointIds: readonly string[] | null, newestId: string): Steps<number> {
  const counted = ofEndpoints(endpointIds)
    .where("id", "<=", newestId)
    .clearSelect()
    .select(({ fn }) => fn.countAll<number>().as("count"));
  return (yield* first(counted))?.count ?? 0;
}

export interface DroppedPosts {
  readonly count: number;
  /** The files of the dropped posts; the caller deletes them. */
  readonly fileIds: readonly string[];
}

/**
 * Drops up to 500 held posts of these endpoints, the oldest first, up to and with `newestId`. @param endpointIds null means every endpoint
 */
export function* dropHeldPostsOf(
  endpointIds: readonly string[] | null,
  newestId: string,
): Steps<DroppedPosts> {
  const some = ofEndpoints(endpointIds).where("id", "<=", newestId).orderBy("id").limit(MAX_DELETED);
  const ids = (yield* all(some)).map(({ id }) => id);
  const fileIds = yield* listFileIdsOfHeld(ids);
  return { count: yield* run(query.deleteFrom("held").where("id", "in", listedIds(ids))), fileIds };
}

function ofEndpoints(endpointIds: readonly string[] | null) {
  const ids = query.selectFrom("held").select("id");
  if (endpointIds === null) return ids;
  return ids.where("endpoint_id", "in", listed(endpointIds));
}

/** Moves at most `limit` held posts of an endpoint to the workspace that the endpoint is in now. Returns the number moved. */
export function moveHeldPostsOf(endpointId: string, workspaceId: string, limit: number): Steps<number> {
  return run(textByEngine(MOVE_SQL, workspaceId, endpointId, workspaceId, limit));
}

const OF_ENDPOINT_SQL = "SELECT id FROM held WHERE endpoint_id = ? AND workspace_id <> ? ORDER BY id LIMIT ?";
const MOVE_SQL = byEngine(
  (engine) => `UPDATE held SET workspace_id = ? WHERE ${among(engine, "id", OF_ENDPOINT_SQL)}`,
);

const MOVED_SQL = `SELECT held.id FROM held JOIN endpoint ON endpoint.id = held.endpoint_id
    WHERE held.workspace_id = ? AND endpoint.workspace_id <> held.workspace_id ORDER BY held.id LIMIT ?`;
const FOLLOW_SQL = byEngine(
  (
    engine,
  ) => `UPDATE held SET workspace_id = (SELECT workspace_id FROM endpoint WHERE endpoint.id = held.endpoint_id)
    WHERE ${among(engine, "id", MOVED_SQL)}`,
);

/** Moves at most `limit` held posts of a workspace to the workspaces that their endpoints have moved to. Returns the number moved. */
export function followMovedEndpoints(workspaceId: string, limit: number): Steps<number> {
  return run(textByEngine(FOLLOW_SQL, workspaceId, limit));
}

/** @throws not_found, with the same message if there is no such post and if somebody else owns it. */
export function* getViewableHeldPost(viewing: Viewing, id: string): Steps<HeldPost> {
  const held = yield* findHeldPost(id);
  if (held === undefined || !(yield* mayViewEndpoint(viewing, held.workspaceId, held.endpointId)))
    throw noHeldPost(id);
  return held;
}

export function* findHeldPost(id: string): Steps<HeldPost | undefined> {
  const row = isId("held", id)
    ? yield* first(query.selectFrom("held").selectAll().where("id", "=", id))
    : undefined;
  return row === undefined ? undefined : toHeldPost(row);
}

export function noHeldPost(id: string, consequence?: string): FormsvcError {
  const more = consequence ?? "; it may have been released, dropped or expired";
  return new FormsvcError("not_found", `there is no held post ${id.slice(0, MAX_SHOWN_ID_LENGTH)}${more}`);
}

/** Drops all of these posts, or none. @throws not_found naming the first id that does not exist */
export function* dropHeldPostRows(ids: readonly string[]): Steps<void> {
  for (const id of ids)
    if ((yield* run(query.deleteFrom("held").where("id", "=", id))) === 0)
      throw noHeldPost(id, "; nothing was dropped");
}

/** The largest number of characters of a given id that a message repeats. */
const MAX_SHOWN_ID_LENGTH = 100;

/** The largest number of held posts that are deleted in one transaction, so that posts never wait long for it. */
const MAX_DELETED = 500;

/** Whether some post was held for longer than this number of days; null keeps posts for ever. */
export function* hasExpired(days: number | null, now: number): Steps<boolean> {
  const before = firstKept(days, now);
  if (before === null) return false;
  const expired = query.selectFrom("held").select("id").where("id", "<", before).limit(1);
  return (yield* first(expired)) !== undefined;
}

/** Deletes up to 500 posts that were held for longer than this number of days. Returns the number deleted. */
export function* dropExpired(days: number | null, now: number): Steps<number> {
  const before = firstKept(days, now);
  if (before === null) return 0;
  return yield* run(textByEngine(DROP_EXPIRED_SQL, before, MAX_DELETED));
}

const DROP_EXPIRED_SQL = deleteSome(
  "held",
  ["id"],
  (id) => `SELECT ${id} FROM held WHERE id < ? ORDER BY held.id LIMIT ?`,
);

/** Posts with a smaller id were held for longer than this number of days; null if none were. */
function firstKept(days: number | null, now: number): string | null {
  const oldest = days === null ? 0 : now - days * DAY_MS;
  return oldest <= 0 ? null : firstIdAt("held", oldest);
}

function toHeldPost(row: Tables["held"]): HeldPost {
  const { workspace_id: workspaceId, endpoint_id: endpointId, why } = row;
  const from = row.origin === null ? {} : { origin: row.origin };
  return { ...readContent(row), workspaceId, endpointId, why, ...from };
}
