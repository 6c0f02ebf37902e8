import { raiseSettingsVersion } from "../database/settings-version.ts";
import { query } from "../database/database.ts";
import { deleteSome } from "../database/some-rows.ts";
import { all, run, type Steps, text, textByEngine } from "../database/steps.ts";
import { listed } from "../database/list-parameter.ts";
import { toIsoTime } from "../foundation/clock.ts";
import { FormsvcError } from "../foundation/errors.ts";
import { isOriginAllowed, MAX_ORIGIN_LENGTH } from "./allowed-origin.ts";
import type { Endpoint } from "./endpoint.ts";
import { findEndpoint } from "./endpoint-store.ts";
import { DAY_MS } from "../foundation/time-units.ts";

/** The origin of a page whose posts are refused, because the endpoint does not list it. */
export interface RefusedOrigin {
  readonly origin: string;
  /** The number of posts that were refused. */
  readonly posts: number;
  readonly lastAt: number;
  /** Whether the owner said that the origin is not theirs. Its posts are not held. */
  readonly ignored: boolean;
}

/** Posts that were refused since the last record. */
export interface RefusedPosts {
  readonly endpointId: string;
  readonly origin: string;
  readonly posts: number;
  readonly lastAt: number;
}

/**
 * The largest number of refused origins that are kept for an endpoint. Ignored ones stay; of the others, those with the latest posts stay.
 */
export const MAX_REFUSED_ORIGINS = 20;

/** Whether an origin can be recorded: it is `null`, or a scheme and a host in visible ASCII, as browsers and apps send it. */
export function isRecordable(origin: string): boolean {
  return origin.length <= MAX_ORIGIN_LENGTH && /^(?:null|[a-z][a-z0-9+.-]*:\/\/[!-~]+)$/i.test(origin);
}

/** The refused origins that are still not allowed, the latest first. */
export function* listRefusedOrigins({ id, settings }: Endpoint): Steps<RefusedOrigin[]> {
  const rows = yield* all(
    query
      .selectFrom("refused_origin")
      .selectAll()
      .where("endpoint_id", "=", id)
      .orderBy("last_at", "desc")
      .orderBy("origin"),
  );
  return rows
    .filter(({ origin }) => !isOriginAllowed(origin, settings.allowedOrigins))
    .map(({ origin, posts, last_at: lastAt, ignored }) => ({
      origin,
      posts,
      lastAt,
      ignored: ignored === 1,
    }));
}

/** A refused origin and its endpoint. */
export interface Refusal extends RefusedOrigin {
  readonly endpoint: Endpoint;
  /** Whether the endpoint allows the origin by now. */
  readonly isAllowed: boolean;
}

/** The largest number of rows that are read for a list. */
const MAX_READ = 100;

/** The refused origins that are not ignored, the latest first, at most 100. @param endpointIds null means every endpoint */
export function* listRefusals(endpointIds: readonly string[] | null): Steps<Refusal[]> {
  let rows = query.selectFrom("refused_origin").selectAll().where("ignored", "=", 0);
  if (endpointIds !== null) rows = rows.where("endpoint_id", "in", listed(endpointIds));
  const found = yield* all(rows.orderBy("last_at", "desc").orderBy("origin").limit(MAX_READ));
  const refusals: Refusal[] = [];
  for (const { endpoint_id: id, origin, posts, last_at: lastAt } of found) {
    const endpoint = yield* findEndpoint(id);
    if (endpoint === undefined) continue;
    const isAllowed = isOriginAllowed(origin, endpoint.settings.allowedOrigins);
    refusals.push({ endpoint, origin, posts, lastAt, ignored: false, isAllowed });
  }
  return refusals;
}

/** A refused origin as every JSON output shows it. */
export function refusedOriginJson({ origin, posts, lastAt, ignored }: RefusedOrigin) {
  return { origin, posts, last_at: toIsoTime(lastAt), ignored };
}

/** Origins whose posts the owner does not want to be held. */
export function* readIgnoredOrigins(endpointId: string): Steps<ReadonlySet<string>> {
  const ignored = query
    .selectFrom("refused_origin")
    .select("origin")
    .where("endpoint_id", "=", endpointId)
    .where("ignored", "=", 1);
  return new Set((yield* all(ignored)).map(({ origin }) => origin));
}

/** Adds to the counts. Endpoints that were deleted meanwhile are skipped. */
export function* addRefusals(refusals: readonly RefusedPosts[]): Steps<void> {
  for (const { endpointId, origin, posts, lastAt } of refusals) {
    yield* run(
      text(
        `INSERT INTO refused_origin (endpoint_id, origin, posts, last_at)
          SELECT id, CAST(? AS text), CAST(? AS bigint), CAST(? AS bigint) FROM endpoint WHERE id = ?
          ON CONFLICT (endpoint_id, origin) DO UPDATE
            SET posts = refused_origin.posts + excluded.posts, last_at = excluded.last_at`,
        origin,
        posts,
        lastAt,
        endpointId,
      ),
    );
  }
  for (const endpointId of new Set(refusals.map((refusal) => refusal.endpointId))) {
    yield* run(textByEngine(DROP_SURPLUS_SQL, endpointId, MAX_REFUSED_ORIGINS));
  }
}

const DROP_SURPLUS_SQL = deleteSome(
  "refused_origin",
  ["endpoint_id", "origin"],
  (key) => `SELECT ${key} FROM refused_origin WHERE endpoint_id = ?
    ORDER BY ignored DESC, last_at DESC, origin LIMIT 1000 OFFSET ?`,
);

/** @param ignored false takes the mark back @throws not_found if no post of this origin was refused */
export function* markOriginRow(endpointId: string, origin: string, ignored: boolean): Steps<void> {
  const changed = yield* run(
    query
      .updateTable("refused_origin")
      .set({ ignored: ignored ? 1 : 0 })
      .where("endpoint_id", "=", endpointId)
      .where("origin", "=", origin),
  );
  if (changed === 0)
    throw new FormsvcError(
      "not_found",
      `no post from ${JSON.stringify(origin)} was refused by this endpoint`,
    );
  yield* raiseSettingsVersion(endpointId);
}

/** The largest number of origins deleted in one transaction. */
const BATCH_SIZE = 200;

/** Deletes refused origins without a post for this number of days, except ignored ones; null keeps all. Returns the number. */
export function* forgetOldRefusals(days: number | null, now: number): Steps<number> {
  if (days === null) return 0;
  const rows = yield* all(
    query
      .selectFrom("refused_origin")
      .select(["endpoint_id", "origin"])
      .where("ignored", "=", 0)
      .where("last_at", "<", now - days * DAY_MS)
      .limit(BATCH_SIZE),
  );
  for (const { endpoint_id, origin } of rows) {
    yield* run(
      query.deleteFrom("refused_origin").where("endpoint_id", "=", endpoint_id).where("origin", "=", origin),
    );
  }
  return rows.length;
}
