import { z } from "zod";
import { yieldToOthers } from "../../database/slices.ts";
import type { Steps } from "../../database/steps.ts";
import { type EndpointsReference, reachEndpointIds } from "../../endpoints/viewable-endpoints.ts";
import { dropFiles, listFileIdsOfHeld } from "../../files/file-store.ts";
import { FormsvcError } from "../../foundation/errors.ts";
import { isId } from "../../foundation/id.ts";
import { maxPageBytes, nextCursor, pageInput } from "../../operations/list-page.ts";
import { changed, type Context, operation, type Outcome } from "../../operations/operation.ts";
import { postsInput, readPostsFilter } from "../find/choose-submissions.ts";
import { concealReasons } from "../stored/conceal-reasons.ts";
import { heldId, heldPostJson, heldPostShape } from "./held-json.ts";
import {
  dropExpired,
  dropHeldPostRows,
  dropHeldPostsOf,
  type DroppedPosts,
  hasExpired,
  HELD_REASONS,
  listHeldPosts,
} from "./held-post.ts";
import { reachHeldPost, reachHeldPosts } from "../manage/reach-posts.ts";
import { releaseHeldPostRow } from "./release-held.ts";
import type { LinkRow } from "../files/scanned-files.ts";
import { changesOf } from "../manage/submission-operations.ts";

const heldIds = z.array(heldId).readonly();
const heldInput = z.strictObject({ held: heldId });

/**
 * Drops posts that were held for longer than `held.days`, so that the result is the same whether a server runs or not. If there is none,
 * nothing is written.
 */
async function dropOld({ db, config, now }: Context): Promise<void> {
  const { days } = config.held;
  while (await db.read(() => hasExpired(days, now))) await db.transaction(() => dropExpired(days, now));
}

export const listHeld = operation({
  name: "held.list",
  summary: "List held posts, newest first",
  kind: "read",
  access: "submissions:read",
  input: z.strictObject({
    ...postsInput,
    why: z.enum(HELD_REASONS).nullable().default(null).describe("Only posts that are held for this reason."),
    ...pageInput,
  }),
  output: z.strictObject({ data: z.array(heldPostShape), next_cursor: nextCursor }),
  async run(context, { why, limit, cursor, ...input }) {
    await dropOld(context);
    const { db, actor } = context;
    return db.read(function* () {
      const filter = { ...(yield* readPostsFilter(context, input)), why };
      const { data, nextCursor: next } = yield* listHeldPosts(filter, limit, cursor, maxPageBytes(actor));
      const conceal = yield* concealReasons(context.viewing);
      return { data: data.map((each) => heldPostJson(conceal(each))), next_cursor: next };
    });
  },
});

export const showHeld = operation({
  name: "held.show",
  summary: "Show a held post with its spam reasons",
  kind: "read",
  access: "submissions:read",
  input: heldInput,
  output: heldPostShape.extend({
    schema_version: z.number().describe("The version that the endpoint's schema had when the post came."),
  }),
  async run(context, { held: reference }) {
    await dropOld(context);
    const { held, conceal } = await context.db.read(function* () {
      const found = yield* reachHeldPost(context, reference);
      return { held: found, conceal: yield* concealReasons(context.viewing) };
    });
    return { ...heldPostJson(conceal(held)), schema_version: held.schemaVersion };
  },
});

/** What a release needs besides the database. Links are made only if the post has files. */
interface ReleaseParts {
  readonly fileLinks: { readonly linkRow: LinkRow };
}

export const releaseHeld = operation({
  name: "held.release",
  summary: "Turn a held post into a submission: it is counted and sent to webhooks; spam teaches the filter",
  kind: "write",
  access: "held:write",
  input: heldInput,
  output: z.strictObject({ held: heldId, submission: z.string() }),
  async run(context: Context<ReleaseParts>, { held: reference }) {
    await dropOld(context);
    const { config, now, parts } = context;
    const linkFiles: LinkRow = (...data) => parts.fileLinks.linkRow(...data);
    return context.transact(function* () {
      const held = yield* reachHeldPost(context, reference);
      const { id, wasStored } = yield* releaseHeldPostRow(held, config.plans, now, linkFiles);
      const { workspaceId } = held;
      const detail = wasStored ? "its sender sent it again, and it was stored then" : null;
      return changed({ held: held.id, submission: id }, { subject: held.id, workspaceId, detail });
    });
  },
});

export const dropHeld = operation({
  name: "held.drop",
  summary: "Drop held posts for good, all of them or none",
  kind: "danger",
  access: "held:write",
  input: z.strictObject({ held: heldIds }),
  output: z.strictObject({ dropped: heldIds }),
  async run(context, { held }) {
    const wanted = [...new Set(held)];
    await dropOld(context);
    const fileIds = await context.transact(function* () {
      const workspaceIds = yield* reachHeldPosts(context, wanted, "; nothing was dropped");
      const lost = yield* listFileIdsOfHeld(wanted);
      yield* dropHeldPostRows(wanted);
      return changed(lost, ...changesOf(wanted, workspaceIds, "dropped"));
    });
    await dropFiles(context.db, fileIds);
    return { dropped: wanted };
  },
});

export const dropAllHeld = operation({
  name: "held.drop-all",
  summary: "Drop for good all posts that are held now",
  kind: "danger",
  access: "held:write",
  input: z.strictObject({
    endpoint: postsInput.endpoint,
    workspace: postsInput.workspace,
    newest: heldId
      .nullable()
      .default(null)
      .describe(
        "Id of the newest post to drop: posts that came after it stay. Null drops all that are held now.",
      ),
  }),
  output: z.strictObject({ dropped: z.number() }),
  async *run(context, { newest, ...reference }) {
    if (newest !== null && !isId("held", newest))
      throw new FormsvcError("usage", "name the newest post to drop by the id of a held post");
    await dropOld(context);
    // A durable transaction, not a read: the answer that nothing is held may rest on a commit that only the primary has yet.
    const range = await context.db.transaction(() => chooseRange(context, reference, newest));
    if (range === null) return { dropped: 0 };
    let dropped = 0;
    for (;;) {
      await yieldToOthers();
      const { count, fileIds } = await context.transact(() => dropSome(range));
      await dropFiles(context.db, fileIds);
      if (count === 0) return { dropped };
      dropped += count;
      yield { done: dropped, total: null };
    }
  },
});

/** The held posts to drop: posts of some endpoints, up to and with `newestId`. */
interface HeldPostRange {
  /** Null means every endpoint. */
  readonly endpointIds: readonly string[] | null;
  readonly newestId: string;
  /** What the audit record names: the id of an endpoint or a workspace, or `all`. */
  readonly subject: string;
}

/** Chooses the held posts to drop; null if there is none. */
function* chooseRange(
  context: Context,
  { endpoint, workspace }: EndpointsReference,
  newest: string | null,
): Steps<HeldPostRange | null> {
  const endpointIds = yield* reachEndpointIds(context, { endpoint, workspace });
  const filter = { endpointIds, since: null, until: null };
  const newestId = newest ?? (yield* listHeldPosts(filter, 1, null)).data[0]?.id;
  if (newestId === undefined) return null;
  const named = endpoint === null ? (workspace ?? "all") : (endpointIds?.[0] ?? endpoint);
  return { endpointIds, newestId, subject: named };
}

function* dropSome({ endpointIds, newestId, subject }: HeldPostRange): Steps<Outcome<DroppedPosts>> {
  const dropped = yield* dropHeldPostsOf(endpointIds, newestId);
  if (dropped.count === 0) return changed(dropped);
  const detail = `${dropped.count} dropped, up to ${newestId}`;
  return changed(dropped, { action: "held.drop", subject, workspaceId: null, detail });
}
