import { hash, randomBytes, timingSafeEqual } from "node:crypto";
import type { Selectable } from "kysely";
import { query } from "../database/database.ts";
import { deleteSome } from "../database/some-rows.ts";
import { all, first, run, type Steps, textByEngine } from "../database/steps.ts";
import type { Tables } from "../database/tables.generated.ts";
import { newId } from "../foundation/id.ts";
import { findAccount, findAccountByEmail } from "../workspaces/workspace-store.ts";
import { HOUR_MS } from "../foundation/time-units.ts";

/** An account that is signed in, with its session. */
export interface Viewer {
  readonly accountId: string;
  readonly email: string;
  readonly isOperator: boolean;
  readonly sessionId: string;
  /** When the session was last noted as used, in milliseconds since 1970; accurate to a minute. */
  readonly seenAt: number;
}

/** The part of the configuration that decides how long sessions last. */
export interface SessionSettings {
  readonly sessionIdleHours: number;
  readonly sessionMaxDays: number;
}

/** The browser that signs in. */
export interface Browser {
  /** The User-Agent of the browser; it may be any text. */
  readonly userAgent: string;
  /** Null if addresses are not stored. */
  readonly ipAddress: string | null;
  /** The OpenID issuer that proved the person; absent if this server did. */
  readonly issuer?: string;
}

/** A new session. Its cookie is known only to the browser. */
export interface StartedSession {
  readonly id: string;
  /** `id.secret` */
  readonly cookie: string;
}

/** A row in the list of sessions. */
export interface Session extends Omit<Browser, "issuer"> {
  readonly id: string;
  readonly createdAt: number;
  /** When it was last noted as used; accurate to a minute. */
  readonly seenAt: number;
}

const SECRET_BYTES = 32;
/** The largest number of sessions of one account. Beyond it, a new one ends the one that was unused for longest. */
const MAX_SESSIONS = 50;
const MAX_USER_AGENT_LENGTH = 200;
/** The shortest time between two writes of a session's use. */
const SEEN_INTERVAL_MS = 60_000;
const FRESH_MS = 900_000;
/** The largest number of sessions that one transaction deletes. */
const BATCH_SIZE = 500;

/** A session's id, a dot, and the base64url of 32 bytes. */
const COOKIE = /^(ses_[0-9a-z]{26})\.([\w-]{43})$/;

/** Begins a session. The cookie is new each time, so a cookie that was known before the sign-in does not work after it. */
export function* startSession(accountId: string, browser: Browser, now: number): Steps<StartedSession> {
  const secret = randomBytes(SECRET_BYTES);
  const id = newId("ses", now);
  yield* run(
    query.insertInto("session").values({
      id,
      account_id: accountId,
      secret_hash: digest(secret),
      created_at: now,
      seen_at: now,
      user_agent: browser.userAgent.slice(0, MAX_USER_AGENT_LENGTH),
      ip_address: browser.ipAddress,
      issuer: browser.issuer ?? null,
    }),
  );
  yield* endAllBut(accountId, MAX_SESSIONS);
  return { id, cookie: `${id}.${secret.toString("base64url")}` };
}

/** The account and session that a cookie belongs to; undefined if there is none, or if the session has ended. */
export function* findViewer(
  cookie: string,
  now: number,
  settings: SessionSettings,
): Steps<Viewer | undefined> {
  const [, id, secret] = COOKIE.exec(cookie) ?? [];
  if (id === undefined || secret === undefined) return undefined;
  const row = yield* first(query.selectFrom("session").selectAll().where("id", "=", id));
  if (row === undefined || !timingSafeEqual(digest(Buffer.from(secret, "base64url")), row.secret_hash))
    return undefined;
  return yield* viewerOf(row, now, settings);
}

/** The beginning of the session id of a person whom a proxy names: there is no such session. */
const NAMED = "proxy ";

/** The account that a trusted proxy names; undefined if no account has this address, or if the account is in doubt. */
export function* findNamedViewer(address: string, now: number): Steps<Viewer | undefined> {
  const account = yield* findAccountByEmail(address);
  if (account === undefined || account.isDoubtful) return undefined;
  const { id, email, isOperator } = account;
  return { accountId: id, email, isOperator, sessionId: `${NAMED}${id}`, seenAt: now };
}

/** Whether a proxy names the account with each request, so that there is no session. */
export function isNamed({ sessionId }: Pick<Viewer, "sessionId">): boolean {
  return sessionId.startsWith(NAMED);
}

/** The account of a session whose cookie was checked before; undefined if the session has ended since. */
export function* findViewerOf(
  sessionId: string,
  now: number,
  settings: SessionSettings,
): Steps<Viewer | undefined> {
  if (isNamed({ sessionId })) {
    const account = yield* findAccount(sessionId.slice(NAMED.length));
    return account && (yield* findNamedViewer(account.email, now));
  }
  const row = yield* first(query.selectFrom("session").selectAll().where("id", "=", sessionId));
  return row && (yield* viewerOf(row, now, settings));
}

function* viewerOf(row: SessionRow, now: number, settings: SessionSettings): Steps<Viewer | undefined> {
  if (!goesOn(row, now, settings)) return undefined;
  const account = yield* findAccount(row.account_id);
  if (account === undefined) return undefined;
  const { email, isOperator } = account;
  return { accountId: account.id, email, isOperator, sessionId: row.id, seenAt: row.seen_at };
}

/** Whether {@link noteSeen} would write now. Most requests need no transaction. */
export function isSeenDue({ seenAt }: Viewer, now: number): boolean {
  return now - seenAt >= SEEN_INTERVAL_MS;
}

/** Notes that the session is in use. */
export function* noteSeen({ sessionId }: Viewer, now: number): Steps<void> {
  yield* run(
    query
      .updateTable("session")
      .set({ seen_at: now })
      .where("id", "=", sessionId)
      .where("seen_at", "<=", now - SEEN_INTERVAL_MS),
  );
}

/** The sessions of an account that have not ended, the one that was used last first. */
export function* listSessions(accountId: string, now: number, settings: SessionSettings): Steps<Session[]> {
  const rows = query.selectFrom("session").selectAll().where("account_id", "=", accountId);
  return (yield* all(rows.orderBy("seen_at", "desc").orderBy("id", "desc")))
    .filter((row) => goesOn(row, now, settings))
    .map(toSession);
}

/** Whether the session began within the last 15 minutes, which shows that the person recently proved who they are. */
export function* isFresh(sessionId: string, now: number): Steps<boolean> {
  const row = yield* first(query.selectFrom("session").select("created_at").where("id", "=", sessionId));
  return row !== undefined && now - row.created_at < FRESH_MS;
}

/** The OpenID issuer that proved the person of a session; null if this server did, or if the session has ended. */
export function* findIssuerOf(sessionId: string): Steps<string | null> {
  const row = yield* first(query.selectFrom("session").select("issuer").where("id", "=", sessionId));
  return row?.issuer ?? null;
}

/** Ends one session of an account. Returns whether there was one with this id. */
export function* endSession(accountId: string, id: string): Steps<boolean> {
  const own = query.deleteFrom("session").where("account_id", "=", accountId);
  return (yield* run(own.where("id", "=", id))) > 0;
}

/** Ends all sessions of an account but one. Returns the number ended. */
export function endOtherSessions(accountId: string, keptId: string): Steps<number> {
  return run(query.deleteFrom("session").where("account_id", "=", accountId).where("id", "<>", keptId));
}

/** Ends all sessions of an account. Returns the number ended. */
export function endSessions(accountId: string): Steps<number> {
  return run(query.deleteFrom("session").where("account_id", "=", accountId));
}

/** Deletes up to 500 sessions that have expired. Returns the number deleted. */
export function dropEndedSessions(now: number, settings: SessionSettings): Steps<number> {
  const { idleMs, maxMs } = lifetimeOf(settings);
  return run(textByEngine(DROP_ENDED_SQL, now - idleMs, now - maxMs, BATCH_SIZE));
}

const DROP_ENDED_SQL = deleteSome(
  "session",
  ["id"],
  (id) => `SELECT ${id} FROM session WHERE seen_at <= ? OR created_at <= ? LIMIT ?`,
);

function* endAllBut(accountId: string, kept: number): Steps<void> {
  yield* run(textByEngine(DROP_SURPLUS_SQL, accountId, Number.MAX_SAFE_INTEGER, kept));
}

const DROP_SURPLUS_SQL = deleteSome(
  "session",
  ["id"],
  (id) =>
    `SELECT ${id} FROM session WHERE account_id = ? ORDER BY seen_at DESC, session.id DESC LIMIT ? OFFSET ?`,
);

type SessionRow = Selectable<Tables["session"]>;

function goesOn(row: SessionRow, now: number, settings: SessionSettings): boolean {
  const { idleMs, maxMs } = lifetimeOf(settings);
  return now - row.seen_at < idleMs && now - row.created_at < maxMs;
}

function lifetimeOf({ sessionIdleHours, sessionMaxDays }: SessionSettings) {
  return { idleMs: sessionIdleHours * HOUR_MS, maxMs: sessionMaxDays * 24 * HOUR_MS };
}

function toSession(row: SessionRow): Session {
  return {
    id: row.id,
    createdAt: row.created_at,
    seenAt: row.seen_at,
    userAgent: row.user_agent,
    ipAddress: row.ip_address,
  };
}

function digest(secret: Buffer): Buffer {
  return hash("sha256", secret, "buffer");
}
