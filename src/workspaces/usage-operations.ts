import { z } from "zod";
import { monthOf } from "../foundation/clock.ts";
import { changed, operation } from "../operations/operation.ts";
import { reachWorkspace } from "./reach.ts";
import { requireAnywhere } from "./standing.ts";
import { usageJson, usageShape } from "./workspace-json.ts";
import { onlyOrNamed } from "./workspace-operations.ts";
import { listViewableWorkspaces } from "./workspace-store.ts";
import { readUsage, readUsages } from "./usage-store.ts";
import type { NamedUsage, Usage } from "./workspace.ts";

const month = z
  .string()
  .regex(/^\d{4}-(?:0[1-9]|1[0-2])$/)
  .nullable()
  .default(null)
  .describe("The UTC month, like 2026-01; null is this month.");

export const showUsage = operation({
  name: "workspace.usage",
  summary: "Show how many submissions of a workspace count towards its plan's monthly limit",
  kind: "read",
  access: "workspace:usage",
  input: z.strictObject({ workspace: onlyOrNamed, month }),
  output: usageShape,
  async run(context, { workspace: reference, month: asked }) {
    // From the command line, a read also gives an empty database its first workspace.
    const found = await context.transact(function* () {
      return changed(yield* reachWorkspace(context, reference));
    });
    const counted = asked ?? monthOf(context.now);
    return usageJson(await context.db.read(() => readUsage(found, counted, context.config.plans)));
  },
});

export const listUsages = operation({
  name: "workspace.list-usage",
  summary:
    "Show how many submissions of each workspace count towards its plan's monthly limit, the fullest first; those on a plan that is not configured are left out",
  kind: "read",
  access: "workspace:usage",
  input: z.strictObject({ month }),
  output: z.strictObject({ data: z.array(usageShape.extend({ workspace_name: z.string() })) }),
  *run({ viewing, config, now, access }, { month: asked }) {
    yield* requireAnywhere(viewing, access);
    const visible = yield* listViewableWorkspaces(viewing, access);
    const counted = yield* readUsages(visible, asked ?? monthOf(now), config.plans);
    const fullest = counted.toSorted(
      (left, right) => shareOf(right) - shareOf(left) || right.used - left.used,
    );
    return { data: fullest.map(namedUsageJson) };
  },
});

function namedUsageJson(usage: NamedUsage) {
  return { ...usageJson(usage), workspace_name: usage.name };
}

/** The share of the limit that is used; 1 means all of it. */
function shareOf({ used, limit }: Usage): number {
  if (limit === null) return 0;
  return limit === 0 ? 1 : used / limit;
}
