import type { Selectable } from "kysely";
import { query } from "../database/database.ts";
import { deleteSome } from "../database/some-rows.ts";
import { all, first, run, type Steps, text, textByEngine, type TextsByEngine } from "../database/steps.ts";
import type { Tables } from "../database/tables.generated.ts";
import { DAY_MS, WEEK_MS } from "../foundation/time-units.ts";

/** An account, with its address at that time. */
export interface RecordedAccount {
  readonly accountId: string;
  readonly email: string;
}

/** A program with a token, with the token's name at that time. */
interface TokenDoer {
  readonly tokenId: string;
  readonly tokenName: string;
  /** The account of the token; null for a token of a workspace. */
  readonly account: RecordedAccount | null;
}

/** A person at the command line, by the name of the operating system's user. */
interface TerminalDoer {
  readonly terminalUser: string;
}

/** A person without an account who followed the link of a letter. */
const VISITOR = "visitor";

/** Who made a change. Null means a person at the command line whose name is not known, or the server itself. */
export type Doer = RecordedAccount | TokenDoer | TerminalDoer | typeof VISITOR | null;

/** The account that made a change, itself or by its token; null if none did. */
export function accountOf(doer: Doer): RecordedAccount | null {
  if (doer === null || doer === VISITOR || "terminalUser" in doer) return null;
  return "tokenId" in doer ? doer.account : doer;
}

/** A change, as it is recorded. */
export interface Change {
  /** Noun and verb, like `endpoint.create`. */
  readonly action: `${string}.${string}`;
  /** What was changed: an id or an e-mail address. Never a secret. */
  readonly subject: string;
  /** Null if the change concerns no workspace. */
  readonly workspaceId: string | null;
  /** Further text for people; null if there is none. Never a secret, and never the text of a submission. */
  readonly detail: string | null;
}

export interface RecordedChange extends Change {
  readonly id: number;
  readonly at: number;
  /** An account has its address at that time. */
  readonly actor: Doer;
}

/** The number of changes that are kept besides those of the last week, which programs may not have read yet. */
const MAX_CHANGES = 10_000;
const HEARD_MS = WEEK_MS;
/** The largest number of changes of the last week that are kept. */
const MAX_UNHEARD = 100_000;
/** The largest number of rows that are deleted in one transaction because there are too many: to find out whose takes long. */
const SURPLUS_BATCH_SIZE = 2000;
const MAX_AGE_MS = 400 * DAY_MS;
/** The largest number of characters of a subject or detail that are kept. */
const MAX_TEXT_LENGTH = 500;
/** The largest number of characters of the name of an operating system's user that are kept. */
const MAX_USER_LENGTH = 100;
/** The largest number of new changes that are read at once. */
const MAX_NEW = 150;
/** The largest number of rows deleted in one transaction. */
const BATCH_SIZE = 500;

/** Records a change. Call it in the transaction that makes the change, so that neither exists without the other. */
export function* recordChange(actor: Doer, change: Change, now: number): Steps<void> {
  yield* run(
    query.insertInto("audit_event").values({
      at: now,
      ...columnsOf(actor),
      workspace_id: change.workspaceId,
      action: change.action,
      subject: change.subject.slice(0, MAX_TEXT_LENGTH),
      detail: change.detail?.slice(0, MAX_TEXT_LENGTH) ?? null,
    }),
  );
}

/** As many of these ids, in their order, as fit into a subject. */
export function fittingSubject(ids: Iterable<string>): string {
  let subject = "";
  for (const id of ids) {
    if (subject.length + 1 + id.length > MAX_TEXT_LENGTH) break;
    subject = subject === "" ? id : `${subject} ${id}`;
  }
  return subject;
}

/**
 * The newest changes that somebody made at or after `since` (milliseconds since 1970 UTC).
 *
 * @param limit the largest number of rows that are searched: those of the token, or those of everybody if it is not a token
 */
export function* listChangesSince(doer: Doer, since: number, limit: number): Steps<RecordedChange[]> {
  const { token_id: tokenId, account_id: accountId, terminal_user: user } = columnsOf(doer);
  const rows = query.selectFrom("audit_event").selectAll().orderBy("id", "desc").limit(limit);
  const found = yield* all(tokenId === null ? rows : rows.where("token_id", "=", tokenId));
  return found
    .filter(
      (row) =>
        row.at >= since &&
        row.token_id === tokenId &&
        row.account_id === accountId &&
        row.terminal_user === user,
    )
    .map(toChange);
}

/** Replaces subject and detail of a recorded change, for calls that are counted together. Call it in a transaction. */
export function* addToChange(
  id: number,
  { subject, detail }: Pick<Change, "subject" | "detail">,
): Steps<void> {
  yield* run(query.updateTable("audit_event").set({ subject, detail }).where("id", "=", id));
}

/** At most `limit` changes, the newest first. @param before the id of a change; only changes that were recorded before it are returned */
export function* listChanges(limit: number, before: number | null = null): Steps<RecordedChange[]> {
  let rows = query.selectFrom("audit_event").selectAll().orderBy("id", "desc").limit(limit);
  if (before !== null) rows = rows.where("id", "<", before);
  return (yield* all(rows)).map(toChange);
}

/**
 * The changes that were recorded after a change, the oldest first, at most 150.
 *
 * @param id the id of that change; 0 returns the changes from the beginning
 */
export function* listChangesAfter(id: number): Steps<RecordedChange[]> {
  const rows = query.selectFrom("audit_event").selectAll().where("id", ">", id).orderBy("id").limit(MAX_NEW);
  return (yield* all(rows)).map(toChange);
}

/** At most `limit` changes of a token, the newest first. */
export function* listChangesOfToken(tokenId: string, limit: number): Steps<RecordedChange[]> {
  const rows = query.selectFrom("audit_event").selectAll().where("token_id", "=", tokenId);
  return (yield* all(rows.orderBy("id", "desc").limit(limit))).map(toChange);
}

/** The id of the newest change; 0 if there is none. */
export function* newestChange(): Steps<number> {
  return (yield* listChanges(1))[0]?.id ?? 0;
}

/** When the newest change was recorded, in milliseconds since 1970 UTC; null if there is none. */
export function* newestChangeAt(): Steps<number | null> {
  return (yield* listChanges(1))[0]?.at ?? null;
}

/** The columns for who made a change. The word for a visitor cannot be the address of an account, because that has an at sign. */
function columnsOf(doer: Doer) {
  const account = accountOf(doer);
  const known = doer !== null && doer !== VISITOR;
  return {
    account_id: account?.accountId ?? null,
    email: doer === VISITOR ? VISITOR : (account?.email ?? null),
    token_id: known && "tokenId" in doer ? doer.tokenId : null,
    token_name: known && "tokenId" in doer ? doer.tokenName : null,
    terminal_user: known && "terminalUser" in doer ? doer.terminalUser.slice(0, MAX_USER_LENGTH) : null,
  };
}

function doerOf(row: Selectable<Tables["audit_event"]>): Doer {
  const account = row.account_id === null ? null : { accountId: row.account_id, email: row.email ?? "" };
  if (row.token_id !== null) return { tokenId: row.token_id, tokenName: row.token_name ?? "", account };
  if (account !== null) return account;
  if (row.terminal_user !== null) return { terminalUser: row.terminal_user };
  return row.email === VISITOR ? VISITOR : null;
}

export type AuditRow = Selectable<Tables["audit_event"]>;

export function toChange(row: AuditRow): RecordedChange {
  return {
    id: row.id,
    at: row.at,
    actor: doerOf(row),
    workspaceId: row.workspace_id,
    action: row.action as Change["action"],
    subject: row.subject,
    detail: row.detail,
  };
}

/** The oldest ids are looked at, because times have no index. */
const DROP_AGED_SQL = `DELETE FROM audit_event WHERE at < ?
  AND id <= (SELECT max(id) FROM (SELECT id FROM audit_event ORDER BY id LIMIT ${BATCH_SIZE}) AS oldest)`;

const SPAN_SQL = "SELECT (SELECT max(id) FROM audit_event) - (SELECT min(id) FROM audit_event) AS span";

/**
 * Whose changes there are: those of an account, of all tokens of a workspace, which may have many, or of visitors. Null is the command line
 * and the server.
 */
const OWNER =
  "COALESCE(account_id, CASE WHEN token_id IS NOT NULL THEN COALESCE(workspace_id, token_id) END, email)";
const COUNT_SQL = `SELECT ${OWNER} AS owner, count(*) AS total, count(CASE WHEN at < ? THEN 1 END) AS heard
  FROM audit_event GROUP BY ${OWNER}`;

/** How many changes of one age somebody has. */
interface OwnedChanges {
  readonly owner: string | null;
  readonly count: number;
}

/**
 * Deletes up to 500 changes that are older than 400 days. Beyond 10,000 changes that are older than a week, and beyond 100,000 newer ones,
 * it deletes the oldest ones of the accounts with the most of that age, so that nobody's changes push out those of others: up to 2,000.
 * Returns the number.
 */
export function* dropOldChanges(now: number): Steps<number> {
  const aged = yield* run(text(DROP_AGED_SQL, now - MAX_AGE_MS));
  // Far cheaper than counting, and exact enough for years on most servers.
  const ids = yield* first(text<{ span: number | null }>(SPAN_SQL));
  if ((ids?.span ?? 0) < MAX_CHANGES) return aged;
  const heardBefore = now - HEARD_MS;
  const owners = yield* all(
    text<{ owner: string | null; total: number; heard: number }>(COUNT_SQL, heardBefore),
  );
  const heard = owners.map(({ owner, heard: count }) => ({ owner, count }));
  const unheard = owners.map(({ owner, total, heard: count }) => ({ owner, count: total - count }));
  const dropped = yield* dropSurplus(heard, MAX_CHANGES, { sql: "at < ?", at: heardBefore });
  const newer = yield* dropSurplus(unheard, MAX_UNHEARD, { sql: "at >= ?", at: heardBefore });
  return aged + dropped + newer;
}

/** Deletes the oldest changes of those who have the most. @param age the condition on `at` that selects the changes */
function* dropSurplus(
  owned: readonly OwnedChanges[],
  most: number,
  age: { readonly sql: string; readonly at: number },
): Steps<number> {
  const level = levelOf(owned, most);
  let left = SURPLUS_BATCH_SIZE;
  for (const { owner, count } of owned.toSorted((one, other) => other.count - one.count)) {
    const surplus = Math.min(left, count - level);
    if (surplus <= 0) break;
    const [own, values] = owner === null ? [`${OWNER} IS NULL`, []] : [`${OWNER} = ?`, [owner]];
    left -= yield* run(textByEngine(dropSql(`${age.sql} AND ${own}`), age.at, ...values, surplus));
  }
  return SURPLUS_BATCH_SIZE - left;
}

function dropSql(condition: string): TextsByEngine {
  return deleteSome(
    "audit_event",
    ["id"],
    (id) => `SELECT ${id} FROM audit_event WHERE ${condition} ORDER BY audit_event.id LIMIT ?`,
  );
}

/** The number of changes that everybody may keep, so that all together have at most `most`; infinite if they have no more. */
function levelOf(owned: readonly OwnedChanges[], most: number): number {
  let room = most;
  let left = owned.length;
  for (const { count } of owned.toSorted((one, other) => one.count - other.count)) {
    if (count * left > room) return Math.floor(room / left);
    room -= count;
    left -= 1;
  }
  return Infinity;
}
