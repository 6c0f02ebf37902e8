import { sql } from "kysely";
import { query } from "../database/database.ts";
import type { LiveServers } from "../database/live-servers.ts";
import { all, first, run, type Steps, text } from "../database/steps.ts";
import type { Language } from "../languages/language.ts";
import { firstIdAt, newId } from "../foundation/id.ts";
import type { Attempt } from "../outbox/queue/delivery.ts";
import { DAY_MS, HOUR_MS } from "../foundation/time-units.ts";

/**
 * Letters that must not be lost wait in the database: they are written in the transaction of what they tell, and survive the end of
 * the process. None holds the token of a link.
 */

/** The more urgent come first. */
export const STORED_KINDS = ["security", "operator", "confirmation"] as const;
export type StoredKind = (typeof STORED_KINDS)[number];

/** The words of a letter. */
export interface LetterContent {
  /** Absent is English. */
  readonly language?: Language;
  readonly subject: string;
  readonly paragraphs: readonly string[];
  /** An address of ours without any token; null if there is none. */
  readonly link: { readonly label: string; readonly url: string } | null;
}

export interface NewLetter {
  readonly kind: StoredKind;
  /** What it is about: while one waits, no other of this topic is written to its address. */
  readonly topic: string;
  /** As `parseMailAddress` gives it. */
  readonly address: string;
  /** The recipient whose holder is asked; null for an invitation, which the topic names, and for other kinds. */
  readonly recipientId: string | null;
  readonly content: LetterContent;
}

export type LetterState = "pending" | "delivered" | "failed";

export interface StoredLetter extends NewLetter {
  /** `msg_…` */
  readonly id: string;
  readonly state: LetterState;
  /** All attempts begun, and those of them that count towards the schedule. */
  readonly attempts: number;
  readonly spent: number;
  readonly dueAt: number;
  /** The last one that ended; null before it. */
  readonly lastAttempt: Attempt | null;
}

/** How an attempt leaves its letter. */
export interface LetterOutcome {
  readonly state: LetterState;
  readonly spent: number;
  readonly dueAt: number;
  readonly attempt: Attempt;
}
/** Letters of one kind that an address gets at once in an hour; the next ones wait for an hour, one for each topic. */
const AT_ONCE: Readonly<Record<StoredKind, number>> = { security: 3, operator: 6, confirmation: 3 };
/** No letter waits longer for its next attempt, so one that is due later was planned by a wrong clock. */
const LONGEST_WAIT_MS = 9 * DAY_MS;
/** Rows deleted in one transaction. */
const BATCH_SIZE = 500;

/** Writes a letter, to be sent soon. Returns its id; null if one of its topic waits already, which says the same. */
export function* queueLetter(letter: NewLetter, now: number): Steps<string | null> {
  const { kind, topic, address, recipientId, content } = letter;
  const since = firstIdAt("msg", now - HOUR_MS);
  const lately = yield* first(text<{ count: number }>(COUNT_SQL, address, kind, since));
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

const COUNT_SQL = "SELECT count(*) AS count FROM letter WHERE address = ? AND kind = ? AND id >= ?";

/** Whether a letter of this topic to this address waits to be sent. */
export function* isLetterWaiting(address: string, topic: string): Steps<boolean> {
  const sql = "SELECT 1 FROM letter WHERE state = 'pending' AND address = ? AND topic = ?";
  return (yield* first(text(sql, address, topic))) !== undefined;
}

/**
 * The next letter that is due, the most urgent kind first. This server sends it from now on, and no other one until it is lost.
 *
 * @param kinds that may be sent now.
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
    // Between both, another server may have taken it.
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

/** When the next letter is due; undefined if none waits. */
export function* nextLetterAt(): Steps<number | undefined> {
  const row = yield* first(
    text<{ due_at: number | null }>("SELECT min(due_at) AS due_at FROM letter WHERE state = 'pending'"),
  );
  return row?.due_at ?? undefined;
}

/** Records how an attempt ended. Writes nothing if another server sends the letter now, because this one counted as lost. */
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

/** There is nothing to say any more. */
export function* dropLetter(id: string): Steps<void> {
  yield* run(query.deleteFrom("letter").where("id", "=", id));
}

/** The newest letter that asks the holder of a recipient's address; undefined if none did. */
export function* findLastQuestion(recipientId: string): Steps<StoredLetter | undefined> {
  const rows = query.selectFrom("letter").selectAll().where("recipient_id", "=", recipientId);
  const row = yield* first(rows.orderBy("id", "desc").limit(1));
  return row && toLetter(row);
}

/** Deletes a batch of letters that ended long ago. @param days null keeps them. @returns how many */
export function* dropOldLetters(days: number | null, now: number): Steps<number> {
  if (days === null) return 0;
  const old = query
    .selectFrom("letter")
    .select("id")
    .where("finished_at", "<=", now - days * DAY_MS)
    .limit(BATCH_SIZE);
  return yield* run(query.deleteFrom("letter").where("id", "in", old));
}

export interface LetterFilter {
  /** Letters about one of these recipients; null is every letter. */
  readonly recipientIds: readonly string[] | null;
  readonly state: LetterState | null;
  /** The id that the page before ended with; null is the first page. */
  readonly before: string | null;
  readonly limit: number;
}

/** Newest first. */
export function* listLetters(filter: LetterFilter): Steps<StoredLetter[]> {
  const { recipientIds, state, before, limit } = filter;
  if (recipientIds?.length === 0) return [];
  let rows = query.selectFrom("letter").selectAll().orderBy("id", "desc").limit(limit);
  if (recipientIds !== null) rows = rows.where("recipient_id", "in", recipientIds);
  if (state !== null) rows = rows.where("state", "=", state);
  if (before !== null) rows = rows.where("id", "<", before);
  return (yield* all(rows)).map(toLetter);
}

/** How many letters to owners and operators were given up since then. */
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
