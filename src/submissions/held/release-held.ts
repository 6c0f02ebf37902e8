import { query } from "../../database/database.ts";
import { run, type Steps } from "../../database/steps.ts";
import { listFileIdsOfHeld, releaseFiles } from "../../files/file-store.ts";
import { lastWaitOfHeld } from "../../files/scan-store.ts";
import { monthOf } from "../../foundation/clock.ts";
import { isFileList } from "../../foundation/file-list.ts";
import { newId } from "../../foundation/id.ts";
import { decideWaiting, queueSubmission } from "../../outbox/queue/queue-submission.ts";
import { countSubmission } from "../../workspaces/usage-store.ts";
import type { Plans } from "../../workspaces/workspace.ts";
import { findHeldKey, recordHeldKey } from "./held-key.ts";
import type { HeldPost } from "./held-post.ts";
import { teachSubmissions } from "../stored/mark-submission.ts";
import { awaitVerdict, conditionDataOf, type LinkRow } from "../files/scanned-files.ts";
import { insertSubmission } from "../stored/submission-store.ts";
import type { Submission } from "../stored/submission.ts";

/** What a released post is now. */
interface Released {
  /** The id of the submission. */
  readonly id: string;
  /** Whether the submission was there before, because the sender had sent the post again with its Idempotency-Key. */
  readonly wasStored: boolean;
}

/**
 * Turns a held post into a submission that keeps its time of arrival, inside a transaction. The submission counts in the month of its
 * release and is sent to its recipients. If the post was held as spam, the release teaches the filter.
 *
 * If the sender has sent the post again meanwhile, and it is stored, only the held copy is dropped. A later repeat is answered with the
 * submission.
 *
 * @param linkFiles called if the post has files. @throws plan_limit if the month is full.
 */
export function* releaseHeldPostRow(
  held: HeldPost,
  plans: Plans,
  now: number,
  linkFiles: LinkRow,
): Steps<Released> {
  const { workspaceId } = held;
  const key = yield* findHeldKey(held.id, now);
  if (key !== null && key.storedId !== null) {
    yield* run(query.deleteFrom("held").where("id", "=", held.id));
    return { id: key.storedId, wasStored: true };
  }
  yield* countSubmission(workspaceId, monthOf(now), plans);
  const submission = asSubmission(held);
  if (key !== null) yield* recordHeldKey(key, submission.id, now);
  const readConditionData = () => conditionDataOf(submission);
  const hasFiles = Object.values(submission.data).some(isFileList);
  const waitsUntil = hasFiles ? yield* lastWaitOfHeld(held.id) : null;
  if (waitsUntil !== null) {
    // The messages wait until the files are scanned.
    const event = yield* decideWaiting(submission, readConditionData);
    yield* insertSubmission(submission, event);
    yield* awaitVerdict(submission.id, waitsUntil, event);
  } else {
    const own = hasFiles ? yield* listFileIdsOfHeld([held.id]) : [];
    const linkedData = hasFiles ? yield* linkFiles(submission.data, now, own) : null;
    const notified = { ...submission, linkedData };
    yield* insertSubmission(submission, yield* queueSubmission(notified, now, readConditionData));
  }
  yield* releaseFiles(held.id, submission.id);
  if (isSpam(held)) yield* teachSubmissions([{ workspaceId, submission }], { mark: "ham" }, now);
  yield* run(query.deleteFrom("held").where("id", "=", held.id));
  return { id: submission.id, wasStored: false };
}

/** Whether the filter blocked the post, for whatever reason it is held. */
function isSpam({ spamClass }: HeldPost): boolean {
  return spamClass === "blocked";
}

/** Makes a submission of a held post. The owner's decision counts more than the score, so a blocked post gets the score 0. */
function asSubmission(held: HeldPost): Submission {
  const wasSpam = isSpam(held);
  const released = wasSpam
    ? [{ signal: "released", points: -held.spamScore, field: null, detail: "released by the owner" }]
    : [];
  const { workspaceId: _workspaceId, why: _why, origin: _origin, ...submission } = held;
  return {
    ...submission,
    id: newId("sub", held.createdAt),
    spamScore: wasSpam ? 0 : held.spamScore,
    spamClass: wasSpam ? "low" : held.spamClass,
    spamReasons: [...held.spamReasons, ...released],
  };
}
