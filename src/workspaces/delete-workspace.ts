import { z } from "zod";
import { type Database, query } from "../database/database.ts";
import { run, type Steps } from "../database/steps.ts";
import { raiseSettingsVersion } from "../database/settings-version.ts";
import { changed, type Context, operation, type Progress } from "../operations/operation.ts";
import { runBatches } from "../operations/run-batches.ts";
import { reachWorkspace } from "./reach.ts";
import { workspaceJson, workspaceShape } from "./workspace-json.ts";

/** The largest number of rows in one transaction, so that posts to other workspaces never wait long. */
const BATCH_SIZE = 500;

/** What is deleted together with a workspace. */
export const contentsShape = z.strictObject({
  endpoints: z.number(),
  submissions: z.number(),
  held: z.number().describe("The number of held posts."),
});

/** Counts and deletes what belongs to a workspace in other folders. */
export interface WorkspaceContents {
  /** Reads in slices, because there may be millions of rows. */
  readonly count: (db: Database, workspaceId: string) => Promise<z.output<typeof contentsShape>>;
  /** Steps that run in this order. Each deletes at most `limit` rows and returns their number; 0 means that nothing of its kind is left. */
  readonly removals: readonly ((workspaceId: string, limit: number, now: number) => Steps<number>)[];
}

export interface WorkspaceParts {
  readonly workspaceContents: WorkspaceContents;
}

const reference = { workspace: z.string().describe("Id of the workspace, or its name if that is unique.") };

export const countContents = operation({
  name: "workspace.count-contents",
  summary: "Count what would be deleted with a workspace",
  kind: "read",
  access: "workspace:usage",
  input: z.strictObject(reference),
  output: z.strictObject({ workspace: workspaceShape, contents: contentsShape }),
  async run(context: Context<WorkspaceParts>, { workspace }) {
    const { db, parts } = context;
    const found = await db.read(() => reachWorkspace(context, workspace));
    return { workspace: workspaceJson(found), contents: await parts.workspaceContents.count(db, found.id) };
  },
});

/**
 * The change is recorded first, so that after an interruption the record shows who deleted; deleting again finishes the work. From the
 * beginning, posts to the workspace's endpoints are refused as if the endpoints did not exist. The output is the workspace as it was.
 */
export const deleteWorkspace = operation({
  name: "workspace.delete",
  summary: "Delete a workspace with all its endpoints and what was sent to them",
  kind: "danger",
  access: "workspace:delete",
  input: z.strictObject(reference),
  output: z.strictObject({ workspace: workspaceShape }),
  async *run(context: Context<WorkspaceParts>, { workspace }) {
    const found = await context.transact(function* () {
      const reached = yield* reachWorkspace(context, workspace);
      return changed(reached, { subject: reached.id, workspaceId: reached.id, detail: reached.name });
    });
    yield* emptyAndDelete(context, found.id);
    return { workspace: workspaceJson(found) };
  },
});

/** Deletes a workspace as part of an operation that has recorded it. */
export async function* emptyAndDelete(
  { db, parts, now }: Context<WorkspaceParts>,
  id: string,
): AsyncGenerator<Progress, void> {
  const { count, removals } = parts.workspaceContents;
  const { submissions } = await count(db, id);
  const batches = removals.map((remove) => () => remove(id, BATCH_SIZE, now));
  yield* runBatches(db, batches, submissions);
  await db.transaction(() => deleteWorkspaceRow(id));
}

function* deleteWorkspaceRow(id: string): Steps<void> {
  yield* run(query.deleteFrom("workspace").where("id", "=", id));
  yield* raiseSettingsVersion(id);
}
