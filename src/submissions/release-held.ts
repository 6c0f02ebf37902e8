import { query } from "../database/database.ts";
import { run, type Steps } from "../database/steps.ts";
import { releaseFiles } from "../files/file-store.ts";
import { monthOf } from "../foundation/clock.ts";
import { isFileList } from "../foundation/file-list.ts";
import { newId } from "../foundation/id.ts";
import { findSchema } from "../endpoints/endpoint-store.ts";
import type { JudgedData } from "../outbox/queue/conditions.ts";
import { queueSubmission } from "../outbox/queue/queue-submission.ts";
import { countSubmission } from "../workspaces/workspace-store.ts";
import type { Plans } from "../workspaces/workspace.ts";
import type { HeldPost } from "./held-post.ts";
import { teachSubmissions } from "./mark-submission.ts";
import { insertSubmission } from "./submission-store.ts";
import type { Submission } from "./submission.ts";

/** The data of a submission as JSON, each of its files with an address. */
export type LinkRow = (data: Submission["data"], now: number) => Steps<string>;

/**
 * Turns a held post into a submission with the time it arrived, inside a transaction. It counts in the month of its release, is sent to
 * the webhooks, and teaches the filter if it was held as spam.
 *
 * @param linkFiles called if it has files. @throws plan_limit if the month is full.
 */
export function* releaseHeldPostRow(
  held: HeldPost,
  plans: Plans,
  now: number,
  linkFiles: LinkRow,
): Steps<Submission> {
  const { workspaceId } = held;
  yield* countSubmission(workspaceId, monthOf(now), plans);
  const submission = asSubmission(held);
  const readJudged = () => judgedOf(submission);
  const hasFiles = Object.values(submission.data).some(isFileList);
  const linkedData = hasFiles ? yield* linkFiles(submission.data, now) : null;
  const notified = { ...submission, linkedData };
  yield* insertSubmission(submission, yield* queueSubmission(notified, now, readJudged));
  yield* releaseFiles(held.id, submission.id);
  if (isSpam(held)) yield* teachSubmissions([{ workspaceId, submission }], "ham", now);
  yield* run(query.deleteFrom("held").where("id", "=", held.id));
  return submission;
}

/** Of the schema that the post was checked with. One that is not there any more has no fields, so no condition keeps a message back. */
function* judgedOf({ endpointId, schemaVersion, data }: Submission): Steps<JudgedData> {
  return { data, fields: (yield* findSchema(endpointId, schemaVersion)) ?? {} };
}

/** Whatever it is held for. */
function isSpam({ spamClass }: HeldPost): boolean {
  return spamClass === "blocked";
}

/** The owner's decision counts more than the score: a released post is sent like any other. */
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
