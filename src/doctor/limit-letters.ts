import { setImmediate as nextTurn } from "node:timers/promises";
import { type Database, query } from "../database/database.ts";
import { all, run, type Steps } from "../database/steps.ts";
import { noteOwnerNotified, readOwnerNotified } from "../files/form-days.ts";
import { type Clock, monthOf, nextMonthStart } from "../foundation/clock.ts";
import { parseMailAddress } from "../foundation/mail-address.ts";
import { type LetterContent, queueLetter } from "../mail/letters/letter-store.ts";
import { holdsForLimit } from "../submissions/commit/limit-news.ts";
import { type NearFormDay, listNearFormDays } from "../submissions/files/near-form-days.ts";
import { listNearStorage, type NearStorage } from "../submissions/files/near-storage.ts";
import { listNearLimit, listOperatorAddresses, type NearLimit } from "../workspaces/near-limit.ts";
import { hasReached } from "../workspaces/usage-mark.ts";
import type { Plans } from "../workspaces/workspace.ts";
import { formDayLetter, type FormDayNotice } from "./form-day-words.ts";
import { limitLetter, type LimitNotice } from "./limit-words.ts";
import { HOUR_MS } from "../foundation/time-units.ts";

interface LimitLettersParts {
  readonly db: Database;
  readonly plans: Plans;
  /** `files` */
  readonly files: { readonly maxTotalBytes: number; readonly maxFormShare: number };
  /** `held.days` */
  readonly heldDays: number | null;
  /** `mail.operator`, as `parseMailAddress` returned it; null means the accounts that are operators. */
  readonly operator: string | null;
  /** The address of the dashboard; null if it is not known. */
  readonly dashboardUrl: string | null;
  readonly clock: Clock;
  /** Called when letters were written. */
  readonly onWritten: () => void;
}

/** A letter that is to be written, and the mark that it was. */
interface DueLetter {
  /** The address of the owner, who is notified besides the operator. */
  readonly owner: string;
  readonly topic: string;
  /** Marks the letter as written. False if it was marked already. */
  readonly mark: (now: number) => Steps<boolean>;
  readonly words: (isOperator: boolean) => LetterContent;
}

/** A month or a day that ended this recently is looked at too, so that a start soon after its end misses nothing. */
const LOOK_BACK_MS = HOUR_MS;

/**
 * Writes letters to the owner and the operator about limits. Once for a workspace and month: it has used 80 % of its submissions, has used
 * all of them, or the first post is held because of that; and the same for its room for files. Once for a form and day: the files that may
 * come through its page. The tables alone decide who was notified, so that several servers and restarts repeat nothing and miss nothing.
 */
export class LimitLetters {
  readonly #parts: LimitLettersParts;
  #isStopping = false;

  constructor(parts: LimitLettersParts) {
    this.#parts = parts;
  }

  /** Looks through all workspaces; posts get their turn in between. Call it at regular times. */
  async lookThrough(): Promise<void> {
    for (const month of this.#months()) {
      let after: string | null = null;
      do {
        after = await this.#look(month, { after, only: null });
        await nextTurn();
      } while (after !== null && !this.#isStopping);
    }
    await this.#lookAtStorage();
    await this.#lookAtFormDays();
  }

  /** Looks at one workspace, after a commit of this server has come near its limit. */
  async lookAt(workspaceId: string): Promise<void> {
    for (const month of this.#months()) await this.#look(month, { after: null, only: workspaceId });
  }

  async #lookAtStorage(): Promise<void> {
    const { db, plans, clock } = this.#parts;
    const month = monthOf(clock.now());
    const due = await db.read(function* () {
      const missing: LimitNotice[] = [];
      for (const near of yield* listNearStorage(plans, clock.now()))
        missing.push(...(yield* findStorageNotices(near, month)));
      return missing;
    });
    await this.#notify(due.map((notice) => this.#ofLimit(notice)));
  }

  async #lookAtFormDays(): Promise<void> {
    const { db, plans, files, clock } = this.#parts;
    const due = await db.read(function* () {
      const missing: FormDayNotice[] = [];
      for (const near of yield* listNearFormDays({ plans, ...files }, clock.now(), LOOK_BACK_MS))
        missing.push(...(yield* findFormDayNotices(near)));
      return missing;
    });
    await this.#notify(due.map((notice) => this.#ofFormDay(notice)));
  }

  stop(): void {
    this.#isStopping = true;
  }

  #months(): ReadonlySet<string> {
    const now = this.#parts.clock.now();
    return new Set([monthOf(now - LOOK_BACK_MS), monthOf(now)]);
  }

  /** Looks at some workspaces. Returns the id of the last one; null if there are no more. */
  async #look(
    month: string,
    range: { readonly after: string | null; readonly only: string | null },
  ): Promise<string | null> {
    const { db, plans } = this.#parts;
    const { due, last } = await db.read(function* () {
      const page = yield* listNearLimit(plans, month, range);
      const missing: LimitNotice[] = [];
      for (const near of page.found) missing.push(...(yield* findNotices(near, month)));
      return { due: missing, last: page.last };
    });
    await this.#notify(due.map((notice) => this.#ofLimit(notice)));
    return last;
  }

  async #notify(due: readonly DueLetter[]): Promise<void> {
    const { db, onWritten } = this.#parts;
    for (const each of due) if (await db.transaction(() => this.#write(each))) onWritten();
  }

  /** Writes a letter. False if another server wrote it meanwhile. */
  *#write(due: DueLetter): Steps<boolean> {
    const now = this.#parts.clock.now();
    if (!(yield* due.mark(now))) return false;
    for (const [address, content] of yield* this.#letters(due))
      yield* queueLetter({ kind: "operator", topic: due.topic, address, recipientId: null, content }, now);
    return true;
  }

  /** The letters by address, so that an operator who owns the workspace gets only one. */
  *#letters({ owner, words }: DueLetter): Steps<ReadonlyMap<string, LetterContent>> {
    const { operator } = this.#parts;
    const operators = operator === null ? yield* listOperatorAddresses() : [operator];
    const letters = new Map<string, LetterContent>();
    const add = (address: string, reader: "owner" | "operator"): void => {
      const to = parseMailAddress(address);
      if (to !== null) letters.set(to, words(reader === "operator"));
    };
    add(owner, "owner");
    for (const address of operators) add(address, "operator");
    return letters;
  }

  #ofLimit(notice: LimitNotice): DueLetter {
    const { dashboardUrl, heldDays } = this.#parts;
    const { owner, workspaceId, month, what } = notice;
    return {
      owner,
      topic: `limit ${what} ${month} ${workspaceId}`,
      mark: (now) => noteLimit(notice, now),
      words: (isOperator) => limitLetter(notice, { isOperator, dashboardUrl, heldDays }),
    };
  }

  #ofFormDay(notice: FormDayNotice): DueLetter {
    const { dashboardUrl } = this.#parts;
    const { owner, endpointId, day, what } = notice;
    return {
      owner,
      topic: `form day ${what} ${day} ${endpointId}`,
      mark: () => noteOwnerNotified(notice, what),
      words: (isOperator) => formDayLetter(notice, { isOperator, dashboardUrl }),
    };
  }
}

function* noteLimit({ workspaceId, month, what }: LimitNotice, now: number): Steps<boolean> {
  const row = { workspace_id: workspaceId, month, what, told_at: now };
  const noted = yield* run(
    query
      .insertInto("limit_notice")
      .values(row)
      .onConflict((conflict) => conflict.doNothing()),
  );
  return noted > 0;
}

function* readNoticed(workspaceId: string, month: string): Steps<ReadonlySet<LimitNotice["what"]>> {
  const rows = query.selectFrom("limit_notice").select("what").where("workspace_id", "=", workspaceId);
  return new Set((yield* all(rows.where("month", "=", month))).map(({ what }) => what));
}

/** If the room is full, the letter that it is nearly full is not needed. */
function* findStorageNotices({ isFull, ...near }: NearStorage, month: string): Steps<LimitNotice[]> {
  const noticed = yield* readNoticed(near.workspaceId, month);
  const what = isFull ? "files_full" : "files_near";
  return noticed.has(what) || noticed.has("files_full") ? [] : [{ ...near, month, what }];
}

/** If files were refused, the letter that they soon will be is not needed. */
function* findFormDayNotices(near: NearFormDay): Steps<FormDayNotice[]> {
  const noticed = yield* readOwnerNotified(near);
  const what = near.isFull ? "full" : "near";
  return noticed.has(what) || noticed.has("full") ? [] : [{ ...near, what }];
}

function* findNotices(near: NearLimit, month: string): Steps<LimitNotice[]> {
  const { workspaceId, used, limit } = near;
  const noticed = yield* readNoticed(workspaceId, month);
  const missing: LimitNotice[] = [];
  if (!noticed.has("near")) missing.push({ ...near, month, what: "near" });
  if (!hasReached(used, limit, 100)) return missing;
  if (!noticed.has("full")) missing.push({ ...near, month, what: "full" });
  if (noticed.has("held")) return missing;
  const from = Date.parse(`${month}-01T00:00:00Z`);
  if (yield* holdsForLimit(workspaceId, from, nextMonthStart(from)))
    missing.push({ ...near, month, what: "held" });
  return missing;
}
