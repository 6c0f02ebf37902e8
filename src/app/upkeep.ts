import { dropOldChanges } from "../audit/audit-store.ts";
import type { Steps } from "../database/steps.ts";
import { toIsoTime } from "../foundation/clock.ts";
import { clockDoubted, maintenanceFailed } from "../foundation/events.ts";
import { dropOldUploads } from "../files/file-room.ts";
import { deleteWaiting } from "../files/file-deletions.ts";
import { dropLostFiles } from "../files/file-store.ts";
import { forgetOldRefusals } from "../endpoints/refused-origins.ts";
import { finishGrace } from "../keys/key-store.ts";
import { dropOldLetters } from "../mail/letters/letter-store.ts";
import { dropOldAnswers } from "../operations/kept-answers.ts";
import { MAIL_KIND } from "../mail/recipients/mail-recipient.ts";
import {
  BEFORE_ALL,
  dropOldDeliveries,
  dropOldFailures,
  type KeptDeliveries,
} from "../outbox/queue/delivery-retention.ts";
import { dropOldUse } from "../outbox/queue/quotas.ts";
import { REPLY_KIND } from "../outbox/queue/recipient.ts";
import { spreadLate } from "../outbox/sending/spread-outbox.ts";
import { dropOldAddresses } from "../sessions/known-clients.ts";
import { dropOldMailedLinks } from "../sessions/mailed-link.ts";
import { dropOldInvitations } from "../workspaces/invitation-store.ts";
import { dropEndedSessions } from "../sessions/session.ts";
import { dropExpired } from "../submissions/held/held-post.ts";
import { forgetExpired } from "../submissions/commit/idempotency.ts";
import { forgetProofs } from "../submissions/commit/spent-proofs.ts";
import { lookAtClock } from "../submissions/stored/clock-seen.ts";
import { expireSubmissions } from "../submissions/stored/retention.ts";
import { WEBHOOK_KIND } from "../webhooks/webhook.ts";
import type { Engine, ServiceParts } from "./parts.ts";

/** Work that a timer starts, so that nothing is kept longer than it should be. */
export interface Upkeep {
  /** Whether the clean-ups may follow the clock; false for a while after it went far ahead. Call it before each round of them. */
  readonly trustsClock: () => Promise<boolean>;
  /** Each clean-up runs one short transaction and returns the number of rows that it deleted; 0 if none is left. They go by age. */
  readonly cleanUps: readonly (() => Promise<number>)[];
  /** Clean-ups that delete nothing because it is old. */
  readonly ageless: readonly (() => Promise<number>)[];
  /** A clean-up of submissions that are older than their endpoint keeps them, or have been in the bin for too long. */
  readonly expire: () => Promise<number>;
  /** Empties the write-ahead log of deleted content if that is possible at once. Never throws: the clean-ups try again. */
  readonly clearLog: () => void;
}

export function createUpkeep(
  { db, config, clock, log }: ServiceParts,
  { served: { cleaner }, cleanUps }: Engine,
): Upkeep {
  const noted = async (work: () => Steps<number>): Promise<number> => {
    const deleted = await db.transaction(work);
    cleaner.note(deleted);
    return deleted;
  };
  const keepDeliveries = (kept: KeptDeliveries) => {
    let after = BEFORE_ALL;
    return async (): Promise<number> => {
      const dropped = await db.transaction(() => dropOldDeliveries(kept, after, clock.now()));
      after = dropped.last;
      cleaner.note(dropped.looked);
      return dropped.looked;
    };
  };
  return {
    trustsClock: clockWatch({ db, clock, log }),
    cleanUps: [
      () => db.transaction(() => forgetExpired(clock.now())),
      () => db.transaction(() => forgetProofs(clock.now())),
      () => db.transaction(() => finishGrace(clock.now())),
      () => noted(() => dropExpired(config.held.days, clock.now())),
      () => db.transaction(() => forgetOldRefusals(config.held.days, clock.now())),
      () => noted(() => dropLostFiles(clock.now())),
      () => db.transaction(() => dropOldUploads(clock.now())),
      () => db.transaction(() => dropEndedSessions(clock.now(), config.dashboard)),
      () => db.transaction(() => dropOldMailedLinks(clock.now())),
      () => db.transaction(() => dropOldInvitations(clock.now())),
      () => db.transaction(() => dropOldAddresses(clock.now())),
      () => db.transaction(() => dropOldChanges(clock.now())),
      () => db.transaction(() => dropOldAnswers(clock.now())),
      keepDeliveries({ kind: WEBHOOK_KIND, days: config.webhooks.keepDeliveredDays }),
      keepDeliveries({ kind: MAIL_KIND, days: config.mail.keepSentDays }),
      keepDeliveries({ kind: REPLY_KIND, days: config.mail.keepSentDays }),
      () => noted(() => dropOldFailures({ kind: REPLY_KIND, days: config.mail.keepSentDays }, clock.now())),
      () => noted(() => dropOldLetters(config.mail.keepSentDays, clock.now())),
      () => db.transaction(() => dropOldUse(clock.now())),
    ],
    ageless: [
      () => spreadLate(db, clock.now()),
      ...cleanUps,
      // The last one, because a file store that does not answer would keep the others waiting.
      () => deleteWaiting(db, clock.now()),
    ],
    expire: () => noted(() => expireSubmissions(config.submissions.binDays, clock.now())),
    clearLog() {
      try {
        cleaner.clean();
      } catch (error) {
        maintenanceFailed(log, error);
      }
    },
  };
}

/** The largest time between two looks that counts as time in which the server ran: one that was not the first one did not look. */
const LONGEST_BETWEEN_LOOKS_MS = 120_000;

function clockWatch({ db, clock, log }: Pick<ServiceParts, "db" | "clock" | "log">): () => Promise<boolean> {
  let lookedAt = performance.now();
  let ranMs = 0;
  let isLogged = false;
  return async () => {
    const at = performance.now();
    ranMs += Math.round(Math.min(at - lookedAt, LONGEST_BETWEEN_LOOKS_MS));
    lookedAt = at;
    const { doubt, isNoted } = await db.transaction(() => lookAtClock(clock.now(), ranMs));
    if (isNoted) ranMs = 0;
    if (doubt !== null && !isLogged)
      clockDoubted(log, { before: toIsoTime(doubt.seenAt), after: toIsoTime(doubt.doubtedAt) });
    isLogged = doubt !== null;
    return doubt === null;
  };
}
