import type { Selectable } from "kysely";
import { query } from "../database/database.ts";
import { all, first, run, type Steps, text } from "../database/steps.ts";
import type { Tables } from "../database/tables.generated.ts";
import { DAY_MS, WEEK_MS } from "../foundation/time-units.ts";

/** An account, with its address of that time. */
export interface RecordedAccount {
  readonly accountId: string;
  readonly email: string;
}

/** A program with a token, with the token's name of that time. */
interface TokenDoer {
  readonly tokenId: string;
  readonly tokenName: string;
  /** Whose token it is; null is a token of a workspace. */
  readonly account: RecordedAccount | null;
}

/** Somebody at the command line, as the operating system names them. */
interface TerminalDoer {
  readonly terminalUser: string;
}

/** Somebody without an account who followed the link of a letter. */
const VISITOR = "visitor";

/** Who did it. Null is somebody at the command line whose name is not known, or the server itself. */
export type Doer = RecordedAccount | TokenDoer | TerminalDoer | typeof VISITOR | null;

/** The account that did something, itself or by its token; null if none did. */
export function accountOf(doer: Doer): RecordedAccount | null {
  if (doer === null || doer === VISITOR || "terminalUser" in doer) return null;
  return "tokenId" in doer ? doer.account : doer;
}

/** What was done. */
export interface Change {
  /** Noun and verb, like `endpoint.create`. */
  readonly action: `${string}.${string}`;
  /** What it was done to: an id or an e-mail address. Never a secret. */
  readonly subject: string;
  /** Null when it is about no workspace. */
  readonly workspaceId: string | null;
  /** More about it, for people; null when there is no more to say. Never a secret, never a submission's text. */
  readonly detail: string | null;
}

export interface RecordedChange extends Change {
  readonly id: number;
  readonly at: number;
  /** With the address of that time. */
  readonly actor: Doer;
}

/** Changes that stay, beside those of the last week, which programs may not have heard of yet. */
const MAX_CHANGES = 10_000;
const HEARD_MS = WEEK_MS;
/** Changes of the last week that stay. */
const MAX_UNHEARD = 100_000;
const MAX_AGE_MS = 400 * DAY_MS;
/** Characters of a subject or detail that are kept. */
const MAX_TEXT_LENGTH = 500;
/** Characters of the name of a user of the operating system that are kept. */
const MAX_USER_LENGTH = 100;
/** Changes that are read at once when new ones are looked for. */
const MAX_NEW = 150;
/** Rows deleted in one transaction. */
const BATCH_SIZE = 500;

/**
 * Records a change; call it in the transaction that makes the change, so that there is never one without the other.
 */
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

/** As many of these ids, in their order, as a subject has room for. */
export function fittingSubject(ids: Iterable<string>): string {
  let subject = "";
  for (const id of ids) {
    if (subject.length + 1 + id.length > MAX_TEXT_LENGTH) break;
    subject = subject === "" ? id : `${subject} ${id}`;
  }
  return subject;
}

/** The newest changes that somebody made from a time on, in milliseconds. @param limit of a token's; of others, of all changes */
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

/** Says more of a change that was recorded: of calls that are counted together. Call it in a transaction. */
export function* addToChange(
  id: number,
  { subject, detail }: Pick<Change, "subject" | "detail">,
): Steps<void> {
  yield* run(query.updateTable("audit_event").set({ subject, detail }).where("id", "=", id));
}

/** At most `limit` changes, the newest first. @param before the id of a change: only those that were recorded before it. */
export function* listChanges(limit: number, before: number | null = null): Steps<RecordedChange[]> {
  let rows = query.selectFrom("audit_event").selectAll().orderBy("id", "desc").limit(limit);
  if (before !== null) rows = rows.where("id", "<", before);
  return (yield* all(rows)).map(toChange);
}

/** The changes that were recorded after one, the oldest first, at most 150. @param id of that change; 0 is before all. */
export function* listChangesAfter(id: number): Steps<RecordedChange[]> {
  const rows = query.selectFrom("audit_event").selectAll().where("id", ">", id).orderBy("id").limit(MAX_NEW);
  return (yield* all(rows)).map(toChange);
}

/** At most `limit` changes of a token, the newest first. */
export function* listChangesOfToken(tokenId: string, limit: number): Steps<RecordedChange[]> {
  const rows = query.selectFrom("audit_event").selectAll().where("token_id", "=", tokenId);
  return (yield* all(rows.orderBy("id", "desc").limit(limit))).map(toChange);
}

/** The id of the newest change; 0 when there is none. */
export function* newestChange(): Steps<number> {
  return (yield* listChanges(1))[0]?.id ?? 0;
}

/** Columns of who did it. No address of an account is the word for a visitor: it has an at sign. */
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

const DROP_AGED_SQL = `DELETE FROM audit_event WHERE id IN (
  SELECT id FROM (SELECT id, at FROM audit_event ORDER BY id LIMIT ${BATCH_SIZE}) AS oldest WHERE at < ?)`;

const SPAN_SQL = "SELECT (SELECT max(id) FROM audit_event) - (SELECT min(id) FROM audit_event) AS span";

/** First those that have the most newer ones of the same account, or of the same token that belongs to no account. */
const DROP_SURPLUS_SQL = `DELETE FROM audit_event WHERE id IN (SELECT id FROM (
  SELECT id, at, row_number() OVER (PARTITION BY COALESCE(account_id, token_id) ORDER BY id DESC) AS place FROM audit_event) AS changes
  WHERE at < ? ORDER BY place DESC, id LIMIT ?)`;

const DROP_OLDEST_SQL =
  "DELETE FROM audit_event WHERE id IN (SELECT id FROM audit_event ORDER BY id LIMIT ?)";

/**
 * Deletes up to 500 that are older than 400 days, and up to 500 of those beyond 10,000 that are older than a week: of the account that
 * has the most, so that nobody's changes push out those of others. Beyond 100,000 the oldest go. Returns how many.
 */
export function* dropOldChanges(now: number): Steps<number> {
  const aged = yield* run(text(DROP_AGED_SQL, now - MAX_AGE_MS));
  // Far cheaper than counting, and true for years on most servers.
  const ids = yield* first(text<{ span: number | null }>(SPAN_SQL));
  if ((ids?.span ?? 0) < MAX_CHANGES) return aged;
  const counted = yield* first(text<{ changes: number }>("SELECT count(*) AS changes FROM audit_event"));
  const changes = counted?.changes ?? 0;
  const surplus = Math.min(BATCH_SIZE, changes - MAX_CHANGES);
  if (surplus <= 0) return aged;
  const dropped = yield* run(text(DROP_SURPLUS_SQL, now - HEARD_MS, surplus));
  const unheard = Math.min(BATCH_SIZE, changes - dropped - MAX_UNHEARD);
  return aged + dropped + (unheard <= 0 ? 0 : yield* run(text(DROP_OLDEST_SQL, unheard)));
}
