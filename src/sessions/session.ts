import { hash, randomBytes, timingSafeEqual } from "node:crypto";
import type { Selectable } from "kysely";
import { query } from "../database/database.ts";
import { all, first, run, type Steps } from "../database/steps.ts";
import type { Tables } from "../database/tables.generated.ts";
import { newId } from "../foundation/id.ts";
import { findAccount, findAccountByEmail } from "../workspaces/workspace-store.ts";
import { HOUR_MS } from "../foundation/time-units.ts";

/** Somebody who is signed in. */
export interface Viewer {
  readonly accountId: string;
  readonly email: string;
  readonly isOperator: boolean;
  readonly sessionId: string;
  /** When the session was last noted as used; to the minute. */
  readonly seenAt: number;
}

/** How long sessions last: the part of the configuration that decides it. */
export interface SessionSettings {
  readonly sessionIdleHours: number;
  readonly sessionMaxDays: number;
}

/** The browser that signs in. */
export interface Browser {
  /** What it calls itself; any text. */
  readonly userAgent: string;
  /** Null if addresses are not kept. */
  readonly ipAddress: string | null;
  /** The OpenID issuer by which it signs in; absent if it signs in here. */
  readonly issuer?: string;
}

/** A session that has begun. Its cookie is known only to the browser. */
export interface StartedSession {
  readonly id: string;
  /** `id.secret` */
  readonly cookie: string;
}

/** One row of the list of sessions. */
export interface Session extends Omit<Browser, "issuer"> {
  readonly id: string;
  readonly createdAt: number;
  /** To the minute. */
  readonly seenAt: number;
}

const SECRET_BYTES = 32;
/** Sessions of one account; the one unused for longest ends when another begins. */
const MAX_SESSIONS = 50;
const MAX_USER_AGENT_LENGTH = 200;
/** A session's use is written down at most this often. */
const SEEN_INTERVAL_MS = 60_000;
const FRESH_MS = 900_000;
/** Sessions deleted in one transaction. */
const BATCH_SIZE = 500;

/** A session's id, a dot, and the base64url of 32 bytes. */
const COOKIE = /^(ses_[0-9a-z]{26})\.([\w-]{43})$/;

/** Begins a session. The cookie is new each time, so one that was known before the sign-in is worth nothing after it. */
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

/** Who the cookie belongs to; undefined if it is none of a session that goes on. */
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

/** What stands for a session of somebody whom a proxy names: there is none. */
const NAMED = "proxy ";

/** Whom a proxy names that is believed; undefined if no account has this address, or nobody knows whose it is. */
export function* findNamedViewer(address: string, now: number): Steps<Viewer | undefined> {
  const account = yield* findAccountByEmail(address);
  if (account === undefined || account.isDoubtful) return undefined;
  const { id, email, isOperator } = account;
  return { accountId: id, email, isOperator, sessionId: `${NAMED}${id}`, seenAt: now };
}

/** Whether a proxy says who it is, with each request, in the place of a session. */
export function isNamed({ sessionId }: Pick<Viewer, "sessionId">): boolean {
  return sessionId.startsWith(NAMED);
}

/** Who a session belongs to whose cookie was checked before; undefined if it has ended since. */
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

/** Whether {@link noteSeen} would write: most requests need no transaction. */
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

/** Sessions of an account that go on, the one used last first. */
export function* listSessions(accountId: string, now: number, settings: SessionSettings): Steps<Session[]> {
  const rows = query.selectFrom("session").selectAll().where("account_id", "=", accountId);
  return (yield* all(rows.orderBy("seen_at", "desc").orderBy("id", "desc")))
    .filter((row) => goesOn(row, now, settings))
    .map(toSession);
}

/** Whether somebody proved who they are a short time ago: within 15 minutes. */
export function* isFresh(sessionId: string, now: number): Steps<boolean> {
  const row = yield* first(query.selectFrom("session").select("created_at").where("id", "=", sessionId));
  return row !== undefined && now - row.created_at < FRESH_MS;
}

/** The OpenID issuer by which a session began; null if it began here, or has ended. */
export function* findIssuerOf(sessionId: string): Steps<string | null> {
  const row = yield* first(query.selectFrom("session").select("issuer").where("id", "=", sessionId));
  return row?.issuer ?? null;
}

/** Ends one session of an account. Returns whether there was one with this id. */
export function* endSession(accountId: string, id: string): Steps<boolean> {
  const own = query.deleteFrom("session").where("account_id", "=", accountId);
  return (yield* run(own.where("id", "=", id))) > 0;
}

/** Returns how many ended. */
export function endOtherSessions(accountId: string, keptId: string): Steps<number> {
  return run(query.deleteFrom("session").where("account_id", "=", accountId).where("id", "<>", keptId));
}

/** Ends all sessions of an account. Returns how many. */
export function endSessions(accountId: string): Steps<number> {
  return run(query.deleteFrom("session").where("account_id", "=", accountId));
}

/** Deletes up to 500 sessions that have ended by themselves. Returns how many. */
export function dropEndedSessions(now: number, settings: SessionSettings): Steps<number> {
  const { idleMs, maxMs } = lifetimeOf(settings);
  const ended = query
    .selectFrom("session")
    .select("id")
    .where((eb) => eb.or([eb("seen_at", "<=", now - idleMs), eb("created_at", "<=", now - maxMs)]))
    .limit(BATCH_SIZE);
  return run(query.deleteFrom("session").where("id", "in", ended));
}

function* endAllBut(accountId: string, kept: number): Steps<void> {
  const surplus = query
    .selectFrom("session")
    .select("id")
    .where("account_id", "=", accountId)
    .orderBy("seen_at", "desc")
    .orderBy("id", "desc")
    .limit(Number.MAX_SAFE_INTEGER)
    .offset(kept);
  yield* run(query.deleteFrom("session").where("id", "in", surplus));
}

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
