import { sql } from "kysely";
import { query } from "../../database/database.ts";
import { listed } from "../../database/list-parameter.ts";
import type { LiveServers } from "../../database/live-servers.ts";
import { deleteSome } from "../../database/some-rows.ts";
import { all, first, run, type Steps, text, textByEngine } from "../../database/steps.ts";
import type { Language } from "../../languages/language.ts";
import { firstIdAt, newId } from "../../foundation/id.ts";
import type { Attempt } from "../../outbox/queue/delivery.ts";
import { DAY_MS, HOUR_MS } from "../../foundation/time-units.ts";

/**
 * Letters that must not be lost wait in the database. They are written in the transaction of the change that they report, and survive the
 * end of the process. None contains the token of a link.
 */

/** The kinds of stored letters, the most urgent first. */
const STORED_KINDS = ["security", "operator", "confirmation"] as const;
export type StoredKind = (typeof STORED_KINDS)[number];

/** The words of a letter. */
export interface LetterContent {
  /** The language of the letter; absent means English. */
  readonly language?: Language;
  readonly subject: string;
  readonly paragraphs: readonly string[];
  /** A link to an address of this server, without any token; null if there is none. */
  readonly link: { readonly label: string; readonly url: string } | null;
}

export interface NewLetter {
  readonly kind: StoredKind;
  /** What the letter is about. While a letter waits, no second one with the same topic is written to its address. */
  readonly topic: string;
  /** As `parseMailAddress` returned it. */
  readonly address: string;
  /** The id of the recipient whose holder is asked; null for other letters, and for an invitation, which the topic names. */
  readonly recipientId: string | null;
  readonly content: LetterContent;
}

type LetterState = "pending" | "delivered" | "failed";

export interface StoredLetter extends NewLetter {
  /** `msg_…` */
  readonly id: string;
  readonly state: LetterState;
  /** The number of attempts that have begun; `spent` counts those that count towards the schedule. */
  readonly attempts: number;
  readonly spent: number;
  readonly dueAt: number;
  /** The last attempt that ended; null before the first. */
  readonly lastAttempt: Attempt | null;
}

/** The state of a letter after an attempt. */
export interface LetterOutcome {
  readonly state: LetterState;
  readonly spent: number;
  readonly dueAt: number;
  readonly attempt: Attempt;
}
/**
 * The number of letters of one kind that an address gets at once within an hour. Further letters wait for an hour, and only one of each
 * topic.
 */
const AT_ONCE: Readonly<Record<StoredKind, number>> = { security: 3, operator: 6, confirmation: 3 };
/** No letter waits longer than this for its next attempt, so one that is due later was planned by a clock that was ahead. */
const LONGEST_WAIT_MS = 9 * DAY_MS;
/** The largest number of rows that one transaction deletes. */
const BATCH_SIZE = 500;

/** Writes a letter, to be sent soon. Returns its id; null if a letter of the same topic already waits, which says the same. */
export function* queueLetter(letter: NewLetter, now: number): Steps<string | null> {
  const { kind, topic, address, recipientId, content } = letter;
  // A clock that was ahead may have written letters with later ids.
  const bounds = [firstIdAt("msg", now - HOUR_MS), firstIdAt("msg", now + HOUR_MS)];
  const lately = yield* first(text<{ count: number }>(COUNT_SQL, address, kind, ...bounds));
  const id = newId("msg", now);
  const row = {
    id,
    kind,
    topic,
    address,
    recipient_id: recipientId,
    content: JSON.stringify(content),
    state: "pending" as const,
    due_at: (lately?.count ?? 0) < AT_ONCE[kind] ? now : now + HOUR_MS,
  };
  const written = yield* run(
    query
      .insertInto("letter")
      .values(row)
      .onConflict((conflict) => conflict.doNothing()),
  );
  return written === 0 ? null : id;
}

const COUNT_SQL =
  "SELECT count(*) AS count FROM letter WHERE address = ? AND kind = ? AND id >= ? AND id < ?";

/** Whether a letter of this topic to this address waits to be sent. */
export function* isLetterWaiting(address: string, topic: string): Steps<boolean> {
  const sql = "SELECT 1 FROM letter WHERE state = 'pending' AND address = ? AND topic = ?";
  return (yield* first(text(sql, address, topic))) !== undefined;
}

/**
 * Claims the next letter that is due, the most urgent kind first. From now on only this server sends it, until this server is lost.
 *
 * @param kinds the kinds that may be sent now.
 * @returns undefined if none is due.
 */
export function* claimLetter(
  kinds: readonly StoredKind[],
  servers: LiveServers,
  now: number,
): Steps<StoredLetter | undefined> {
  while (kinds.length > 0) {
    const row = yield* first(
      selectDue(kinds, servers, now).selectAll().orderBy(URGENCY).orderBy("id").limit(1),
    );
    if (row === undefined) return undefined;
    const claimed = { claimed_by: servers.self, attempts: row.attempts + 1 };
    const free = selectDue(kinds, servers, now).select("id").where("id", "=", row.id);
    // Another server may have claimed it between the two statements.
    const isOurs = query.updateTable("letter").set(claimed).where("id", "in", free);
    if ((yield* run(isOurs.where("attempts", "=", row.attempts))) > 0)
      return toLetter({ ...row, ...claimed });
  }
  return undefined;
}

const URGENCY = sql`CASE kind WHEN 'security' THEN 0 WHEN 'operator' THEN 1 ELSE 2 END`;

function selectDue(kinds: readonly StoredKind[], { self, ...servers }: LiveServers, now: number) {
  const others = servers.list().filter((id) => id !== self);
  const due = query
    .selectFrom("letter")
    .where("state", "=", "pending")
    .where("kind", "in", kinds)
    .where((eb) => eb.or([eb("due_at", "<=", now), eb("due_at", ">", now + LONGEST_WAIT_MS)]));
  return others.length === 0
    ? due
    : due.where((eb) => eb.or([eb("claimed_by", "is", null), eb("claimed_by", "not in", others)]));
}

/** Undoes a claim of which nothing was sent. */
export function* giveLetterBack({ id, attempts }: StoredLetter, self: string): Steps<void> {
  yield* run(
    query
      .updateTable("letter")
      .set({ attempts: attempts - 1 })
      .where("id", "=", id)
      .where("claimed_by", "=", self)
      .where("attempts", "=", attempts),
  );
}

/** When the next letter is due, in milliseconds since 1970; undefined if none waits. */
export function* nextLetterAt(): Steps<number | undefined> {
  const row = yield* first(
    text<{ due_at: number | null }>("SELECT min(due_at) AS due_at FROM letter WHERE state = 'pending'"),
  );
  return row?.due_at ?? undefined;
}

/** Records how an attempt ended. Writes nothing if another server has taken over the letter, because this server counted as lost. */
export function* finishLetter(
  { id, attempts }: StoredLetter,
  { state, spent, dueAt, attempt }: LetterOutcome,
  self: string,
  now: number,
): Steps<void> {
  const finished_at = state === "pending" ? null : now;
  yield* run(
    query
      .updateTable("letter")
      .set({ state, spent, due_at: dueAt, last_attempt: JSON.stringify(attempt), finished_at })
      .where("id", "=", id)
      .where("claimed_by", "=", self)
      .where("attempts", "=", attempts),
  );
}

/** Deletes a letter that has become pointless. */
export function* dropLetter(id: string): Steps<void> {
  yield* run(query.deleteFrom("letter").where("id", "=", id));
}

/** The newest letter that asks the holder of a recipient's address; undefined if there is none. */
export function* findLastQuestion(recipientId: string): Steps<StoredLetter | undefined> {
  const rows = query.selectFrom("letter").selectAll().where("recipient_id", "=", recipientId);
  const row = yield* first(rows.orderBy("id", "desc").limit(1));
  return row && toLetter(row);
}

/** Deletes a batch of letters that ended more than `days` days ago. @param days null keeps them. @returns the number deleted. */
export function* dropOldLetters(days: number | null, now: number): Steps<number> {
  if (days === null) return 0;
  return yield* run(textByEngine(DROP_OLD_SQL, now - days * DAY_MS, BATCH_SIZE));
}

const DROP_OLD_SQL = deleteSome(
  "letter",
  ["id"],
  (id) => `SELECT ${id} FROM letter WHERE finished_at <= ? LIMIT ?`,
);

export interface LetterFilter {
  /** Selects letters about these recipients; null selects every letter. */
  readonly recipientIds: readonly string[] | null;
  readonly state: LetterState | null;
  /** The id of the last letter on the page before; null gives the first page. */
  readonly before: string | null;
  readonly limit: number;
}

/** Letters, newest first. */
export function* listLetters(filter: LetterFilter): Steps<StoredLetter[]> {
  const { recipientIds, state, before, limit } = filter;
  if (recipientIds?.length === 0) return [];
  let rows = query.selectFrom("letter").selectAll().orderBy("id", "desc").limit(limit);
  if (recipientIds !== null) rows = rows.where("recipient_id", "in", listed(recipientIds));
  if (state !== null) rows = rows.where("state", "=", state);
  if (before !== null) rows = rows.where("id", "<", before);
  return (yield* all(rows)).map(toLetter);
}

/** The number of letters to owners and operators that have been given up since this time. */
export function* countFailedLetters(since: number): Steps<number> {
  const sql =
    "SELECT count(*) AS count FROM letter WHERE finished_at >= ? AND state = 'failed' AND kind <> 'confirmation'";
  return (yield* first(text<{ count: number }>(sql, since)))?.count ?? 0;
}

/** Undefined if there is none with this id. */
export function* findLetter(id: string): Steps<StoredLetter | undefined> {
  const row = yield* first(query.selectFrom("letter").selectAll().where("id", "=", id));
  return row && toLetter(row);
}

interface LetterRow {
  readonly id: string;
  readonly kind: StoredKind;
  readonly topic: string;
  readonly address: string;
  readonly recipient_id: string | null;
  readonly content: string;
  readonly state: LetterState;
  readonly attempts: number;
  readonly spent: number;
  readonly due_at: number;
  readonly last_attempt: string | null;
}

function toLetter(row: LetterRow): StoredLetter {
  return {
    id: row.id,
    kind: row.kind,
    topic: row.topic,
    address: row.address,
    recipientId: row.recipient_id,
    content: JSON.parse(row.content) as LetterContent,
    state: row.state,
    attempts: row.attempts,
    spent: row.spent,
    dueAt: row.due_at,
    lastAttempt: row.last_attempt === null ? null : (JSON.parse(row.last_attempt) as Attempt),
  };
}
