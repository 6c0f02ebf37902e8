import { z } from "zod";
import type { Database } from "../../database/database.ts";
import { yieldToOthers } from "../../database/slices.ts";
import type { Steps } from "../../database/steps.ts";
import type { Endpoint } from "../../endpoints/endpoint.ts";
import { reachEndpoint } from "../../endpoints/endpoint-store.ts";
import { DAY_MS } from "../../foundation/time-units.ts";
import { changed, type Context, operation, type Outcome } from "../../operations/operation.ts";
import { findLimits } from "../../workspaces/workspace.ts";
import { getWorkspace } from "../../workspaces/workspace-store.ts";
import { evictBy, evictForOrigin } from "../held/evict-held.ts";
import { heldLine, readHeldLine } from "../held/held-json.ts";
import { addImportedHeld, findHeldIds, type HeldPost } from "../held/held-post.ts";
import { importBegan } from "./import-record.ts";
import type { ImportParts } from "./imported-file.ts";
import { claimRows, idHash, knownRows } from "./imported-rows.ts";
import { checkPlaced, placeIds } from "./place-ids.ts";
import { batchesOf, chooseTargets, countLines, importInput, readExport } from "./read-export.ts";

/**
 * The whole source is checked before anything is stored. A post that was imported before, and released or dropped since, does not come
 * back. A workspace stays within its bounds for held posts: the oldest go.
 */
export const importHeld = operation({
  name: "held.import",
  summary: "Hold the held posts of a workspace's archive again, with their ids, times and scores",
  kind: "write",
  access: "submissions:import",
  input: z.strictObject(importInput),
  output: z.strictObject({
    imported: z.strictObject({
      added: z.number(),
      known: z
        .number()
        .describe("Posts that are held here already, or that an earlier import brought; they are skipped."),
      new_ids: z
        .number()
        .optional()
        .describe(
          "The number of added ones that got another id, because another workspace has a held post with theirs; absent if none.",
        ),
      expired: z.number().describe("Posts that came more than `held.days` ago; they are skipped."),
    }),
  }),
  async *run(context: Context<ImportParts>, { dry_run: isDry, ...reference }) {
    const { source } = context.parts;
    const targetOf = await chooseTargets(context, reference);
    const total = await countLines(readExport(source, heldLine, context.now), targetOf);
    const tally = { added: 0, known: 0, expired: 0 };
    let newIds = 0;
    const recorded = new Set<string>();
    let done = 0;
    for await (const batch of batchesOf(readExport(source, heldLine, context.now))) {
      const posts: HeldPost[] = [];
      for (const line of batch) posts.push(readHeldLine(line, await targetOf(line)));
      const kept = posts.filter(({ createdAt }) => createdAt >= oldestOf(context));
      const placed = await placePosts(context.db, kept);
      await yieldToOthers();
      const counts = isDry
        ? await context.db.read(() => countNew(placed))
        : await context.transact(() => addPosts(context, { posts: placed, total, recorded }));
      for (const id of counts.keys()) recorded.add(id);
      const added = [...counts.values()].reduce((sum, count) => sum + count.added, 0);
      newIds += [...counts.values()].reduce((sum, count) => sum + count.newIds, 0);
      if (!isDry) await makeRoom(context, posts);
      tally.added += added;
      tally.known += kept.length - added;
      tally.expired += posts.length - kept.length;
      done += batch.length;
      yield { done, total };
    }
    return { imported: { ...tally, ...(newIds > 0 && { new_ids: newIds }) } };
  },
});

function oldestOf({ config, now }: Context): number {
  return config.held.days === null ? 0 : now - config.held.days * DAY_MS;
}

/** What an endpoint got: the number of posts, and how many of them got another id. */
interface Counts {
  readonly added: number;
  readonly newIds: number;
}

/** A post with the id that it has here. */
interface PlacedPost {
  readonly post: HeldPost;
  readonly id: string;
}

/** @throws conflict */
async function placePosts(db: Database, posts: readonly HeldPost[]): Promise<readonly PlacedPost[]> {
  const ids = await placeIds(db, "held", posts);
  return posts.map((post, index) => ({ post, id: ids[index] ?? post.id }));
}

function countsOf(added: readonly PlacedPost[]): Counts {
  return { added: added.length, newIds: added.filter(({ id, post }) => id !== post.id).length };
}

/** Counts the posts that would be added to each endpoint. */
function* countNew(posts: readonly PlacedPost[]): Steps<ReadonlyMap<string, Counts>> {
  const counts = new Map<string, Counts>();
  for (const [endpointId, group] of Map.groupBy(posts, ({ post }) => post.endpointId)) {
    const held = yield* findHeldIds(group.map(({ id }) => id));
    const known = yield* knownRows(
      endpointId,
      group.map(({ post }) => hashOf(post)),
    );
    const fresh = group.filter(({ post, id }) => !held.has(id) && !known.has(hashOf(post)));
    counts.set(endpointId, countsOf([...new Map(fresh.map((each) => [each.id, each])).values()]));
  }
  return counts;
}

interface Addition {
  readonly posts: readonly PlacedPost[];
  readonly total: number;
  /** The endpoints whose import is already in the audit record. */
  readonly recorded: ReadonlySet<string>;
}

/** Adds posts, and returns the counts of each endpoint that got some. The import of an endpoint is recorded with its first post. */
function* addPosts(
  context: Context,
  { posts, total, recorded }: Addition,
): Steps<Outcome<ReadonlyMap<string, Counts>>> {
  const counts = new Map<string, Counts>();
  const began: Endpoint[] = [];
  for (const [endpointId, group] of Map.groupBy(posts, ({ post }) => post.endpointId)) {
    // Meanwhile the form may have been deleted, or the importer may have left the workspace.
    const endpoint = yield* reachEndpoint(context, { endpoint: endpointId });
    const { workspaceId } = endpoint;
    const fresh = yield* claimRows(endpointId, [...new Set(group.map(({ post }) => hashOf(post)))]);
    const [added, there]: [PlacedPost[], PlacedPost[]] = [[], []];
    for (const each of group) {
      if (!fresh.has(hashOf(each.post))) continue;
      const isNew = yield* addImportedHeld({ ...each.post, id: each.id, workspaceId });
      (isNew ? added : there).push(each);
    }
    yield* checkPlaced(
      "held",
      there.map(({ id }) => ({ id, workspaceId })),
    );
    if (added.length === 0) continue;
    counts.set(endpointId, countsOf(added));
    if (!recorded.has(endpointId)) began.push(endpoint);
  }
  return changed(counts, ...began.map((endpoint) => importBegan(endpoint, total)));
}

function hashOf({ id }: HeldPost): string {
  return idHash("ndjson", id);
}

/**
 * Evicts held posts that exceed the bounds. Each transaction is about one workspace only, so that it never deadlocks with a batch of posts.
 */
async function makeRoom({ db, config, now }: Context, posts: readonly HeldPost[]): Promise<void> {
  const ofOrigins = posts.filter(({ why }) => why === "origin");
  for (const [endpointId, [post]] of Map.groupBy(ofOrigins, (each) => each.endpointId))
    if (post !== undefined) await db.transaction(() => evictForOrigin(post.workspaceId, endpointId));
  for (const workspaceId of new Set(posts.map((post) => post.workspaceId)))
    await db.transaction(function* () {
      const { plan } = yield* getWorkspace(workspaceId);
      const bytes = findLimits(config.plans, plan)?.heldBytes ?? null;
      yield* evictBy[db.engine](workspaceId, { posts: config.held.maxPerWorkspace, bytes }, now);
    });
}
