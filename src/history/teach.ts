import { query } from "../database/database.ts";
import { raiseSettingsVersion } from "../database/settings-version.ts";
import { all, first, run, type Steps } from "../database/steps.ts";
import type { SpamPost } from "../spam/spam-post.ts";
import { learn } from "../spam/lesson.ts";
import { senderOf, teachingOf } from "../spam/post-trace.ts";
import type { KeptLesson, KeptLessons } from "./kept-lessons.ts";
import type { Recollection } from "./remember-texts.ts";
import { createSpamMemory } from "./spam-memory.ts";

export type Mark = "spam" | "ham";

/** The largest number of marks that a workspace learns from. The oldest are forgotten. */
const MAX_LESSONS = 2000;

/** A stored post that the filter learns from. */
export interface TaughtPost {
  readonly workspaceId: string;
  readonly endpointId: string;
  readonly submissionId: string;
  readonly post: SpamPost;
}

/** Teaches the workspaces' filters what posts are, in place of what the same posts taught before. Call inside a transaction. */
export function* teach(
  posts: readonly TaughtPost[],
  { mark, kept }: { readonly mark: Mark; readonly kept: KeptLessons },
  now: number,
): Steps<void> {
  kept.begin();
  const before = yield* forgetLessons(posts);
  const added: AddedLesson[] = [];
  for (const post of posts) added.push(yield* addLesson(post, mark, now));
  yield* relearnAll([...before, ...posts], { of: posts, added, kept });
}

/** Takes back what posts taught. Call inside a transaction. */
export function* unteach(
  posts: readonly Pick<TaughtPost, "workspaceId" | "submissionId">[],
  kept: KeptLessons,
): Steps<void> {
  kept.begin();
  yield* relearnAll([...(yield* forgetLessons(posts)), ...posts], { of: posts, added: [], kept });
}

/** What changed since the kept lessons: those of these submissions are gone, and some were added. */
interface Change {
  readonly of: readonly { readonly submissionId: string }[];
  readonly added: readonly AddedLesson[];
  readonly kept: KeptLessons;
}

type AddedLesson = KeptLesson & { readonly workspaceId: string };

interface Learner {
  readonly workspaceId: string;
}

/** Returns the workspaces that had the lessons: a form may have moved to another one since. */
function* forgetLessons(posts: readonly Pick<TaughtPost, "submissionId">[]): Steps<Learner[]> {
  const learners: Learner[] = [];
  for (const { submissionId } of posts) {
    const workspaceId = yield* forgetLesson(submissionId);
    if (workspaceId !== null) learners.push({ workspaceId });
  }
  return learners;
}

/**
 * Learns anew, once for each workspace, because it takes as long for one post as for many. Servers notice that their memory of it is out of
 * date.
 */
function* relearnAll(learners: readonly Learner[], change: Change): Steps<void> {
  yield* raiseSettingsVersion("rows");
  for (const workspaceId of new Set(learners.map((each) => each.workspaceId)))
    yield* relearn(workspaceId, change);
}

/** The mark of a submission; null if it has none. */
export function* findMark(submissionId: string): Steps<Mark | null> {
  const row = yield* first(
    query.selectFrom("lesson").select("mark").where("submission_id", "=", submissionId),
  );
  return row?.mark ?? null;
}

/** The marks of these submissions, by their ids; a submission without a mark is left out. */
export function* listMarks(submissionIds: readonly string[]): Steps<ReadonlyMap<string, Mark>> {
  if (submissionIds.length === 0) return new Map();
  const rows = yield* all(
    query.selectFrom("lesson").select(["submission_id", "mark"]).where("submission_id", "in", submissionIds),
  );
  return new Map(rows.map(({ submission_id: id, mark }) => [id, mark]));
}

/** A submission and the mark that it was given. */
export interface GivenMark {
  readonly submissionId: string;
  readonly mark: Mark;
}

/** The marks that were given in a workspace since this time, at most {@link MAX_LESSONS}. */
export function* listMarksSince(workspaceId: string, since: number): Steps<readonly GivenMark[]> {
  const rows = yield* all(
    query
      .selectFrom("lesson")
      .select(["submission_id", "mark"])
      .where("workspace_id", "=", workspaceId)
      .where("created_at", ">=", since)
      .orderBy("id", "desc")
      .limit(MAX_LESSONS),
  );
  return rows.map(({ submission_id: submissionId, mark }) => ({ submissionId, mark }));
}

function* addLesson(taught: TaughtPost, mark: Mark, now: number): Steps<AddedLesson> {
  const { workspaceId, endpointId, submissionId, post } = taught;
  const memory = createSpamMemory(null);
  const recollection = yield* memory.recall(workspaceId, endpointId, post, now);
  const [textId = null] = yield* memory.remember([
    { workspaceId, recollection: withoutTargets(recollection), isSuspicious: mark === "spam" },
  ]);
  if (textId !== null) yield* countMark(textId, mark, 1);
  const { buckets, odds } = teachingOf(post);
  const bytes = Buffer.alloc(buckets.length * 2);
  buckets.forEach((bucket, index) => bytes.writeUInt16LE(bucket, index * 2));
  const row = {
    workspace_id: workspaceId,
    submission_id: submissionId,
    mark,
    email: senderOf(recollection.trace).email,
    text_id: textId,
    buckets: bytes,
    odds: Math.round(odds * 1000),
    created_at: now,
  };
  yield* run(query.insertInto("lesson").values(row));
  return { workspaceId, ...toLesson(row) };
}

/** The recollection without targets: a mark is about a text and not about its targets, so that nothing of it is left when it is undone. */
function withoutTargets(recollection: Recollection): Recollection {
  return { ...recollection, trace: { ...recollection.trace, targets: [] } };
}

/** Returns the workspace that had the lesson; null if there is none. */
function* forgetLesson(submissionId: string): Steps<string | null> {
  const lesson = yield* first(
    query
      .selectFrom("lesson")
      .select(["workspace_id", "mark", "text_id"])
      .where("submission_id", "=", submissionId),
  );
  if (lesson === undefined) return null;
  if (lesson.text_id !== null) yield* countMark(lesson.text_id, lesson.mark, -1);
  yield* run(query.deleteFrom("lesson").where("submission_id", "=", submissionId));
  return lesson.workspace_id;
}

function* countMark(textId: number, mark: Mark, change: 1 | -1): Steps<void> {
  const column = mark === "spam" ? "marked_spam" : "marked_ham";
  yield* run(
    query
      .updateTable("remembered_text")
      .set((eb) => ({ [column]: eb(column, "+", change) }))
      .where("id", "=", textId),
  );
}

/** Calculates the weights from the lessons alone, so that an undone mark leaves nothing behind. */
function* relearn(workspaceId: string, change: Change): Steps<void> {
  const row = yield* first(
    query.selectFrom("learned_weights").select("version").where("workspace_id", "=", workspaceId),
  );
  const before = row?.version ?? 0;
  const lessons = changedLessons(workspaceId, before, change) ?? (yield* readLessons(workspaceId));
  const tooMany = lessons.slice(0, Math.max(0, lessons.length - MAX_LESSONS));
  for (const { submissionId } of tooMany) yield* forgetLesson(submissionId);
  const left = lessons.slice(tooMany.length);
  change.kept.note(workspaceId, { version: before + 1, lessons: left });
  const weights = learn(left);
  const bytes = Buffer.alloc(weights.length * 4);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  for (let index = 0; index < weights.length; index += 1)
    view.setFloat32(index * 4, weights[index] ?? 0, true);
  yield* run(
    query
      .insertInto("learned_weights")
      .values({ workspace_id: workspaceId, version: 1, weights: bytes })
      .onConflict((conflict) =>
        conflict
          .column("workspace_id")
          .doUpdateSet((eb) => ({ weights: bytes, version: eb("learned_weights.version", "+", 1) })),
      ),
  );
}

/** The lessons as the change left them; undefined if those before it are not known. */
function changedLessons(workspaceId: string, version: number, { of, added, kept }: Change) {
  const before = kept.find(workspaceId, version);
  const gone = new Set(of.map(({ submissionId }) => submissionId));
  const here = added.filter((lesson) => lesson.workspaceId === workspaceId);
  return before && [...before.filter(({ submissionId }) => !gone.has(submissionId)), ...here];
}

function* readLessons(workspaceId: string): Steps<KeptLesson[]> {
  const rows = query
    .selectFrom("lesson")
    .select(["submission_id", "mark", "email", "buckets", "odds"])
    .where("workspace_id", "=", workspaceId);
  return (yield* all(rows.orderBy("id"))).map(toLesson);
}

function toLesson(row: {
  mark: Mark;
  email: string | null;
  submission_id: string;
  buckets: Buffer;
  odds: number;
}): KeptLesson {
  return {
    submissionId: row.submission_id,
    spam: row.mark === "spam",
    // Without an e-mail address posts cannot be grouped by sender, so each counts as a sender of its own.
    sender: row.email ?? row.submission_id,
    buckets: readBuckets(row.buckets),
    odds: row.odds / 1000,
  };
}

/** By index: with a function for each bucket, 2,000 lessons took 50 ms. */
function readBuckets(bytes: Buffer): Uint16Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const buckets = new Uint16Array(bytes.length / 2);
  for (let index = 0; index < buckets.length; index += 1) buckets[index] = view.getUint16(index * 2, true);
  return buckets;
}
