import { LIMIT_PARAMETER, TEXT_PARAMETER } from "../../database/parameters.ts";
import { all, first, type Steps, text } from "../../database/steps.ts";
import { LIST, listParameter } from "../../database/list-parameter.ts";
import { ALONE, OWN_BODY_SQL, type ClaimedDelivery } from "./claimed-delivery.ts";
import type { Claims } from "./claims.ts";
import { joinLead, postpone } from "./gather-messages.ts";
import { nextStep, noteBegun, type PaceState } from "./pace.ts";
import { readPace, writePace } from "./pace-store.ts";
import type { Pace } from "./transport.ts";

/** The largest number of messages in a summary whose bodies are read. */
const MOST_BODIES = 50;

/** A recipient whose transport has a pace. */
interface PacedRecipient {
  readonly recipientId: string;
  readonly pace: Pace;
  /** As in `Route.gatherSeconds`. */
  readonly gatherSeconds: number | null;
}

/**
 * Claims due messages within the pace: first those that were tried before, then new ones, each by itself or all as one. New ones that must
 * wait are planned for later. Call inside a transaction.
 */
export type PacedClaim = (
  recipient: PacedRecipient,
  limit: number,
  now: number,
) => Steps<readonly ClaimedDelivery[]>;

interface ClaimableRow {
  readonly id: string;
  readonly attempts: number;
  readonly spent: number;
  readonly interruptions: number;
  readonly body: string;
}

interface DueRow extends ClaimableRow {
  /** Whether it leads a summary, which is then fixed; false and 0 say that it does not. */
  readonly leads: unknown;
}

interface MemberRow {
  readonly id: string;
  readonly body: string;
}

const COLUMNS = `delivery.id, delivery.attempts, delivery.spent, delivery.interruptions, ${OWN_BODY_SQL} AS body`;
const IS_PENDING = `FROM delivery JOIN submission ON submission.id = delivery.submission_id
  WHERE delivery.recipient_id = ${TEXT_PARAMETER} AND delivery.state = 'pending' AND delivery.lead_id IS NULL`;
const LEADS = "EXISTS (SELECT 1 FROM delivery AS member WHERE member.lead_id = delivery.id) AS leads";

export const PACED_SQL = {
  due: `SELECT ${COLUMNS}, ${LEADS} ${IS_PENDING} AND delivery.due_at <= ? ORDER BY delivery.lead_id, delivery.due_at LIMIT ${LIMIT_PARAMETER}`,
  one: `SELECT ${COLUMNS} ${IS_PENDING} AND delivery.id = ${TEXT_PARAMETER}`,
  // Recipients are enabled in batches, so some messages of a released summary may still be held. The summary is sent whole all the same.
  members: `SELECT id FROM delivery WHERE lead_id = ${TEXT_PARAMETER} AND state IN ('pending', 'held') ORDER BY id`,
  bodies: `SELECT delivery.id, ${OWN_BODY_SQL} AS body FROM ${LIST} AS member JOIN delivery ON delivery.id = member.key
    JOIN submission ON submission.id = delivery.submission_id`,
} as const;

export function createPacedClaim(claims: Claims): PacedClaim {
  const claimGroup = createGroupClaim(claims);

  function* claimEach(
    recipientId: string,
    fresh: readonly ClaimableRow[],
    most: number,
    now: number,
  ): Steps<ClaimedDelivery[]> {
    const begun: ClaimedDelivery[] = [];
    for (const row of fresh.slice(0, most)) begun.push(...(yield* claimGroup(recipientId, row, now)));
    const limit = most - begun.length;
    return limit > 0 ? [...begun, ...(yield* claims.claimFromOutbox({ recipientId, limit }, now))] : begun;
  }

  function* claimTogether(
    { recipientId, pace }: PacedRecipient,
    state: PaceState,
    now: number,
  ): Steps<ClaimedDelivery[]> {
    const lead = yield* joinLead(recipientId, now);
    const row = lead && (yield* first(text<ClaimableRow>(PACED_SQL.one, recipientId, lead.id)));
    const begun = row ? yield* claimGroup(recipientId, row, now) : [];
    const windowMs = pace.perRecipientInWindow.seconds * 1000;
    const gathersUntil = lead?.isRestLeft === true ? now + windowMs : null;
    yield* writePace(recipientId, { ...noteBegun(state, pace, begun.length, now), gathersUntil });
    return begun;
  }

  function* claimFresh(
    recipient: PacedRecipient,
    fresh: readonly ClaimableRow[],
    most: number,
    now: number,
  ): Steps<ClaimedDelivery[]> {
    const { recipientId, pace, gatherSeconds } = recipient;
    const known = yield* readPace(recipientId);
    // What was gathered is due when its time is over. If nothing is due, all of it was deleted, and no time holds for what comes now.
    const state =
      fresh.length === 0 && (known.gathersUntil ?? now) < now ? { ...known, gathersUntil: null } : known;
    const step = nextStep(state, pace, gatherSeconds, now);
    if (step.kind === "together") return yield* claimTogether(recipient, state, now);
    if (step.kind === "wait") {
      yield* postpone(recipientId, step.until, now);
      if (state.gathersUntil !== step.until)
        yield* writePace(recipientId, { ...state, gathersUntil: step.until });
      return [];
    }
    const begun = yield* claimEach(recipientId, fresh, Math.min(step.most, most), now);
    if (begun.length > 0) yield* writePace(recipientId, noteBegun(state, pace, begun.length, now));
    return begun;
  }

  return function* (recipient, limit, now) {
    const { recipientId } = recipient;
    const due = yield* all(text<DueRow>(PACED_SQL.due, recipientId, now, limit));
    const again: ClaimedDelivery[] = [];
    for (const row of due) if (hasBegun(row)) again.push(...(yield* claimGroup(recipientId, row, now)));
    const fresh = due.filter((row) => !hasBegun(row));
    const most = limit - again.length;
    return most > 0 ? [...again, ...(yield* claimFresh(recipient, fresh, most, now))] : again;
  };
}

/** Whether the message was begun before, and counted. The claim of a summary may have been given back before its first attempt. */
function hasBegun({ attempts, leads }: DueRow): boolean {
  return attempts > 0 || Boolean(leads);
}

type GroupClaim = (recipientId: string, row: ClaimableRow, now: number) => Steps<ClaimedDelivery[]>;

/** Claims one message with those that go with it. Claims nothing if the message is no longer pending. */
function createGroupClaim(claims: Claims): GroupClaim {
  return function* (recipientId, row, now) {
    const { id, attempts, spent, interruptions, body } = row;
    if (!(yield* claims.claimOne(id, now))) return [];
    const before = { attempt: attempts + 1, spent, interruptions };
    const claimed = { id, recipientId, ...before, isProbe: false, claimedAt: now, body };
    const members = yield* all(text<{ readonly id: string }>(PACED_SQL.members, id));
    if (members.length === 0) return [{ ...claimed, ...ALONE }];
    const memberIds = members.map((member) => member.id);
    yield* claims.claimMembers(memberIds);
    return [
      {
        ...claimed,
        outboxNumber: null,
        memberIds,
        memberBodies: yield* readBodies(memberIds.slice(0, MOST_BODIES - 1)),
      },
    ];
  };
}

/** The bodies in the order of the ids. */
function* readBodies(ids: readonly string[]): Steps<string[]> {
  const rows = yield* all(text<MemberRow>(PACED_SQL.bodies, listParameter(ids)));
  const bodies = new Map(rows.map(({ id, body }) => [id, body]));
  return ids.flatMap((id) => bodies.get(id) ?? []);
}
