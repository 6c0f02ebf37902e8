import { z } from "zod";
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
      expired: z.number().describe("Posts that came more than `held.days` ago; they are skipped."),
    }),
  }),
  async *run(context: Context<ImportParts>, { dry_run: isDry, ...reference }) {
    const { source } = context.parts;
    const targetOf = await chooseTargets(context, reference);
    const total = await countLines(readExport(source, heldLine, context.now), targetOf);
    const tally = { added: 0, known: 0, expired: 0 };
    const recorded = new Set<string>();
    let done = 0;
    for await (const batch of batchesOf(readExport(source, heldLine, context.now))) {
      const posts: HeldPost[] = [];
      for (const line of batch) posts.push(readHeldLine(line, await targetOf(line)));
      const kept = posts.filter(({ createdAt }) => createdAt >= oldestOf(context));
      await yieldToOthers();
      const counts = isDry
        ? await context.db.read(() => countNew(kept))
        : await context.transact(() => addPosts(context, { posts: kept, total, recorded }));
      for (const id of counts.keys()) recorded.add(id);
      const added = [...counts.values()].reduce((sum, count) => sum + count, 0);
      if (!isDry) await makeRoom(context, posts);
      tally.added += added;
      tally.known += kept.length - added;
      tally.expired += posts.length - kept.length;
      done += batch.length;
      yield { done, total };
    }
    return { imported: tally };
  },
});

function oldestOf({ config, now }: Context): number {
  return config.held.days === null ? 0 : now - config.held.days * DAY_MS;
}

/** Counts the posts that would be added to each endpoint. */
function* countNew(posts: readonly HeldPost[]): Steps<ReadonlyMap<string, number>> {
  const held = yield* findHeldIds(posts.map(({ id }) => id));
  const counts = new Map<string, number>();
  for (const [endpointId, group] of Map.groupBy(posts, (post) => post.endpointId)) {
    const known = yield* knownRows(endpointId, group.map(hashOf));
    const fresh = group.filter((post) => !held.has(post.id) && !known.has(hashOf(post)));
    counts.set(endpointId, new Set(fresh.map(({ id }) => id)).size);
  }
  return counts;
}

interface Addition {
  readonly posts: readonly HeldPost[];
  readonly total: number;
  /** The endpoints whose import is already in the audit record. */
  readonly recorded: ReadonlySet<string>;
}

/** Adds posts, and returns the number for each endpoint that got some. The import of an endpoint is recorded with its first post. */
function* addPosts(
  context: Context,
  { posts, total, recorded }: Addition,
): Steps<Outcome<ReadonlyMap<string, number>>> {
  const counts = new Map<string, number>();
  const began: Endpoint[] = [];
  for (const [endpointId, group] of Map.groupBy(posts, (post) => post.endpointId)) {
    // Meanwhile the form may have been deleted, or the importer may have left the workspace.
    const endpoint = yield* reachEndpoint(context, { endpoint: endpointId });
    const { workspaceId } = endpoint;
    const fresh = yield* claimRows(endpointId, [...new Set(group.map(hashOf))]);
    let count = 0;
    for (const post of group)
      if (fresh.has(hashOf(post)) && (yield* addImportedHeld({ ...post, workspaceId }))) count += 1;
    if (count === 0) continue;
    counts.set(endpointId, count);
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
