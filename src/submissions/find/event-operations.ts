import { z } from "zod";
import {
  type ChangePosition,
  isPositionKnown,
  newestPosition,
  positionBefore,
  type FeedChange,
  readChangesAfter,
} from "../../audit/audit-feed.ts";
import { readSlice } from "../../database/slices.ts";
import type { Steps } from "../../database/steps.ts";
import { viewableEndpointIds } from "../../endpoints/endpoint-store.ts";
import { FormsvcError } from "../../foundation/errors.ts";
import { includesScope } from "../../operations/access.ts";
import { type Context, operation } from "../../operations/operation.ts";
import { findSight, findStanding, type Standing } from "../../workspaces/standing.ts";
import { changeEvent, type EventJson, eventShape, storedEvent } from "./event-json.ts";
import { type EventPosition, readPosition, writePosition } from "./event-position.ts";
import { eventFor } from "./event-rights.ts";
import { EVERY_SUBMISSION } from "../stored/submission-store.ts";
import type { Submission } from "../stored/submission.ts";
import { readTail, tailSince, type TailPosition } from "./tail.ts";
import { HOUR_MS, WEEK_MS } from "../../foundation/time-units.ts";

/** Time for which events can be read. */
const KEPT_MS = WEEK_MS;
const MAX_EVENTS = 100;
/**
 * The largest number of looks for one answer. Each passes up to {@link MAX_LOOKED} submissions and {@link MAX_LOOKED_CHANGES} changes of
 * everybody, so that who may hear of few has to ask again, and one request does not keep the processor busy.
 */
const MAX_LOOKS = 20;
/** A reader who was told that there may be more has this time to ask for it, however old that is. */
const READING_MS = HOUR_MS;

export const listEvents = operation({
  name: "event.list",
  summary: "List what was stored or changed after an earlier call, in the order of commits, for 7 days",
  kind: "read",
  access: "events",
  input: z.strictObject({
    after: z
      .string()
      .nullable()
      .default(null)
      .describe("The `next_after` of an earlier call; null begins with the oldest event that is kept."),
    limit: z
      .int()
      .min(1)
      .max(MAX_EVENTS)
      .default(MAX_EVENTS)
      .describe("The largest number of events in the answer."),
  }),
  output: z.strictObject({
    data: z.array(eventShape).readonly(),
    next_after: z
      .string()
      .describe(
        "What to give as `after` in the next call; also there if no event came. If many others are active, there may be events behind an answer without any.",
      ),
  }),
  async run(context, { after, limit }) {
    const { db, now, gone } = context;
    let start = await db.read(() =>
      after === null ? firstPosition(now - KEPT_MS) : keptPosition(after, now),
    );
    // Who reads on is told of what was kept when it was told that there may be more.
    const since = now - KEPT_MS - (after === null ? 0 : READING_MS);
    for (let looks = 1; ; looks += 1) {
      const from = start;
      const page = await readSlice(db, () => readPage(context, from, { limit, since }), gone);
      if (page.data.length > 0 || !page.isCut || looks >= MAX_LOOKS)
        return { data: page.data, next_after: writePosition(page.next) };
      start = page.next;
    }
  },
});

interface Wanted {
  readonly limit: number;
  /** Milliseconds since 1970 UTC; earlier events are left out. */
  readonly since: number;
}

/** The events after a position. */
interface Page {
  readonly data: readonly EventJson[];
  readonly next: EventPosition;
  /** Whether there may be more events after this page. */
  readonly isCut: boolean;
}

function* readPage(context: Context, start: EventPosition, wanted: Wanted): Steps<Page> {
  const { now } = context;
  const changes = yield* readChanges(context, start, wanted);
  const stored = yield* readStored(context, start, wanted);
  const found = [...changes.found, ...stored.found].toSorted(inOrder);
  const reported = found.filter((each) => isReached(each, changes, stored)).slice(0, wanted.limit);
  // If changes or submissions were cut off, the missing ones may come between those of the other kind.
  const isCut = changes.isCut || stored.isCut || found.length > reported.length;
  const last = behind(reported, start);
  const areReported = (those: readonly Found[]): boolean => those.every((each) => reported.includes(each));
  const next: EventPosition = {
    change: areReported(changes.found) ? changes.position : last.change,
    submission: areReported(stored.found) ? stored.position : last.submission,
    until: Math.max(last.until, now - KEPT_MS + READING_MS),
    ...(!isCut && (yield* endOf(now))),
  };
  return { data: yield* showEach(context, reported), next, isCut };
}

/** The events as the caller may read them; others are left out. */
function* showEach(context: Context, reported: readonly Found[]): Steps<readonly EventJson[]> {
  const data: EventJson[] = [];
  const standings = new Map<string, Standing | null>();
  for (const each of reported) {
    const event = "change" in each ? changeEvent(each.change) : yield* storedEvent(each.submission);
    const { workspace_id: workspaceId } = event;
    if (workspaceId !== null && !standings.has(workspaceId))
      standings.set(workspaceId, yield* findStanding(context.viewing, workspaceId));
    const standing = workspaceId === null ? null : (standings.get(workspaceId) ?? null);
    const shown = eventFor(context, standing, event);
    if (shown !== null) data.push(shown);
  }
  return data;
}

/** A change or a submission, with its number in the order of commits. */
type Found =
  | { readonly commit: number; readonly change: FeedChange }
  | { readonly commit: number; readonly submission: Submission; readonly position: TailPosition };

/** A change comes after the submissions with the same commit number: they were stored before it. */
function inOrder(one: Found, other: Found): number {
  if (one.commit !== other.commit) return one.commit - other.commit;
  if ("change" in one) return "change" in other ? one.change.id - other.change.id : 1;
  return "change" in other ? -1 : one.submission.id < other.submission.id ? -1 : 1;
}

function* firstPosition(until: number): Steps<EventPosition> {
  return { change: yield* positionBefore(until), submission: yield* tailSince(until), until };
}

/** Reads a position. @throws invalid_request; gone if events after it are not kept any more */
function* keptPosition(after: string, now: number): Steps<EventPosition> {
  const start = readPosition(after);
  if (start.until >= now - KEPT_MS && (yield* isPositionKnown(start.change))) return start;
  throw new FormsvcError(
    "gone",
    "events behind this place are not kept any more: begin without after, and read the lists for what was before",
  );
}

/** Changes, and the position up to which they were looked at. */
interface Changes {
  readonly found: readonly Found[];
  readonly position: ChangePosition;
  readonly isCut: boolean;
}

function* readChanges({ viewing }: Context, start: EventPosition, { limit, since }: Wanted): Steps<Changes> {
  const sight = yield* findSight(viewing);
  const workspaceIds = sight && [...sight.whole, ...sight.bound];
  const filter = { after: start.change, since, workspaceIds };
  const { changes, position, isCut } = yield* readChangesAfter(filter, limit);
  return { found: changes.map((change) => ({ commit: change.commit, change })), position, isCut };
}

/** The submissions after a position, and the position up to which submissions were looked at. */
interface Stored {
  readonly found: readonly Found[];
  readonly position: TailPosition;
  readonly isCut: boolean;
}

function* readStored(
  { actor, viewing }: Context,
  start: EventPosition,
  { limit, since }: Wanted,
): Steps<Stored> {
  const nothing = { found: [], position: start.submission, isCut: false };
  if (actor.kind === "token" && !includesScope(actor.scopes, "submissions:read")) return nothing;
  const endpointIds = yield* viewableEndpointIds(viewing);
  const filter = { ...EVERY_SUBMISSION, endpointIds, since };
  const { submissions, positions, position, isCut } = yield* readTail(filter, start.submission, limit);
  const found = submissions.map((submission, index) => {
    const at = positions[index] ?? start.submission;
    return { commit: at.commit, submission, position: at };
  });
  return { found, position, isCut };
}

/** Whether an event may be reported now: it waits until all changes and submissions before it were looked at. */
function isReached(each: Found, changes: Changes, stored: Stored): boolean {
  if ("submission" in each) return !changes.isCut || each.commit <= changes.position.commit;
  return !stored.isCut || each.commit < stored.position.commit;
}

/** The position after the reported events. */
function behind(reported: readonly Found[], start: EventPosition): EventPosition {
  const change = reported.findLast((each) => "change" in each)?.change;
  const position = reported.findLast((each) => "position" in each)?.position;
  const last = reported.at(-1);
  const at = last === undefined ? 0 : "change" in last ? last.change.at : last.submission.createdAt;
  return {
    change: change === undefined ? start.change : { commit: change.commit, id: change.id },
    submission: position ?? start.submission,
    until: Math.max(start.until, at),
  };
}

/** The position after the newest change. */
function* endOf(now: number): Steps<Pick<EventPosition, "change" | "until">> {
  return { change: yield* newestPosition(), until: now };
}
