import { hash } from "node:crypto";
import { FormsvcError } from "../foundation/errors.ts";
import { isId } from "../foundation/id.ts";
import type { SpamReason } from "../spam/judge.ts";
import { spamClassOf } from "../spam/judge.ts";
import { query } from "../database/database.ts";
import type { SqliteDatabase } from "../database/sqlite/sqlite-database.ts";
import { all, first, run, type Steps } from "../database/steps.ts";
import type { Tables } from "../database/tables.ts";
import { firstIdAt } from "../foundation/id.ts";
import type { IdempotentPost } from "./idempotency.ts";
import type { Submission } from "./submission.ts";

/** A post that was answered 429, kept for a while so that a false positive or a lead is not lost. */
export interface HeldPost extends Submission {
  readonly workspaceId: string;
  /** Scored as spam, or over the monthly limit. */
  readonly why: "spam" | "limit";
}

/** Which held posts are meant. Null means any. */
export interface HeldFilter {
  readonly endpointId: string | null;
  /** Milliseconds; `since` is inclusive, `until` is not. */
  readonly since: number | null;
  readonly until: number | null;
}

export interface HeldPage {
  /** Newest first. */
  readonly data: readonly HeldPost[];
  /** Where the next page begins; null on the last one. */
  readonly nextCursor: string | null;
}

/** Writes held posts inside a transaction of the caller's. */
export interface HeldWriter {
  /** @param trapped whether a honeypot was filled. @param idempotent where the same key with the same body is kept once. */
  insert(post: HeldPost, trapped: boolean, idempotent: IdempotentPost | null): void;
  /** Drops what is over the workspace's limit: posts that filled a honeypot first, then the oldest. */
  trim(workspaceId: string): void;
}

/** @param maxPerWorkspace held posts that a workspace keeps; null is unlimited. */
export function createHeldWriter(db: SqliteDatabase, maxPerWorkspace: number | null): HeldWriter {
  const insert = db.prepare(
    `INSERT INTO held (id, workspace_id, endpoint_id, why, trapped, key_hash, schema_version, data, spam_score,
       spam_reasons, ip_address, user_agent, created_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (endpoint_id, key_hash) WHERE key_hash IS NOT NULL DO NOTHING`,
  );
  const count = db.prepare("SELECT count(*) FROM held WHERE workspace_id = ?").pluck();
  const drop = db.prepare(
    "DELETE FROM held WHERE id IN (SELECT id FROM held WHERE workspace_id = ? ORDER BY trapped DESC, id LIMIT ?)",
  );
  return {
    insert: (post, trapped, idempotent) =>
      void insert.run(
        post.id,
        post.workspaceId,
        post.endpointId,
        post.why,
        trapped ? 1 : 0,
        idempotent && hashOfRetry(idempotent),
        post.schemaVersion,
        JSON.stringify(post.data),
        post.spamScore,
        JSON.stringify(post.spamReasons),
        post.ipAddress,
        post.userAgent,
        post.createdAt,
      ),
    trim(workspaceId) {
      if (maxPerWorkspace === null) return;
      const surplus = Number(count.get(workspaceId)) - maxPerWorkspace;
      if (surplus > 0) drop.run(workspaceId, surplus);
    },
  };
}

/** Refusals are not remembered, so another body with the same key is a post of its own. */
function hashOfRetry({ kind, keyHash, bodyHash }: IdempotentPost): Buffer {
  return hash("sha256", Buffer.concat([keyHash, bodyHash, Buffer.from(kind)]), "buffer");
}

/** @param cursor a `nextCursor`, or null for the first page. @throws invalid_request on anything else. */
export function* listHeld(filter: HeldFilter, limit: number, cursor: string | null): Steps<HeldPage> {
  if (cursor !== null && !isId("held", cursor)) {
    throw new FormsvcError("invalid_request", "The cursor is not one that a page returned.", {
      details: { cursor: "malformed" },
    });
  }
  let select = query
    .selectFrom("held")
    .selectAll()
    .orderBy("id", "desc")
    .limit(limit + 1);
  if (filter.endpointId !== null) select = select.where("endpoint_id", "=", filter.endpointId);
  if (filter.since !== null) select = select.where("id", ">=", firstIdAt("held", filter.since));
  if (filter.until !== null) select = select.where("id", "<", firstIdAt("held", filter.until));
  if (cursor !== null) select = select.where("id", "<", cursor);
  const rows = yield* all(select);
  const data = rows.slice(0, limit).map(toHeld);
  return { data, nextCursor: rows.length > limit ? (data.at(-1)?.id ?? null) : null };
}

/** @throws not_found */
export function* findHeld(id: string): Steps<HeldPost> {
  const row = isId("held", id)
    ? yield* first(query.selectFrom("held").selectAll().where("id", "=", id))
    : undefined;
  if (row === undefined) {
    throw new FormsvcError(
      "not_found",
      `there is no held post ${id}; it may have been released, dropped or expired`,
    );
  }
  return toHeld(row);
}

/** Drops all of the ids or none. @throws not_found naming the first that does not exist. */
export function* dropHeld(ids: readonly string[]): Steps<void> {
  for (const id of ids) {
    if ((yield* run(query.deleteFrom("held").where("id", "=", id))) === 0) {
      throw new FormsvcError("not_found", `there is no held post ${id}; nothing was dropped`);
    }
  }
}

/** Drops what was kept for so many days; null keeps everything. Returns the number dropped. */
export function* dropExpired(days: number | null, now: number): Steps<number> {
  if (days === null) return 0;
  const oldest = now - days * 86_400_000;
  if (oldest <= 0) return 0;
  return yield* run(query.deleteFrom("held").where("id", "<", firstIdAt("held", oldest)));
}

function toHeld(row: Tables["held"]): HeldPost {
  return {
    id: row.id,
    workspaceId: row.workspace_id,
    endpointId: row.endpoint_id,
    why: row.why,
    schemaVersion: row.schema_version,
    data: JSON.parse(row.data) as Record<string, unknown>,
    spamScore: row.spam_score,
    spamClass: spamClassOf(row.spam_score),
    spamReasons: JSON.parse(row.spam_reasons) as SpamReason[],
    ipAddress: row.ip_address,
    userAgent: row.user_agent,
    createdAt: row.created_at,
  };
}
