import { expect, test } from "vitest";
import type { planFile } from "../../src/apply/plan-file.ts";
import { runPlan } from "../../src/apply/run-plan.ts";
import { createWorkspace } from "../../src/workspaces/workspace-operations.ts";
import {
  applyTo,
  EVERYTHING,
  exported,
  linesOf,
  performerOn,
  planOf,
  PRUNES,
} from "../support/forms-world.ts";
import { temporaryDatabase } from "../support/temporary-database.ts";

type Planned = Awaited<ReturnType<typeof planFile>>;

/** Runs plans that were made at the same time, one operation of each in turn, and returns what stopped each of them. */
async function runAtOnce(perform: ReturnType<typeof performerOn>, plans: readonly Planned[]) {
  let turn = Promise.resolve<unknown>(undefined);
  const inTurn: typeof perform = (operation, input) => {
    const done = turn.then(() => perform(operation, input));
    turn = done.catch(() => undefined);
    return done;
  };
  const ends = await Promise.allSettled(
    plans.map((plan) => runPlan(plan, { perform: inTurn, onDone: () => undefined })),
  );
  return ends.map((end) => (end.status === "fulfilled" ? "done" : (end.reason as { code: string }).code));
}

test.each([
  ["that are there", ["Client A", "Client B"]],
  ["of which one is there", ["Client A", "Other"]],
])(
  "two that make the same at once in workspaces %s make each thing once, and the next run does the rest",
  async (_what, workspaces) => {
    const perform = performerOn(temporaryDatabase());
    for (const name of workspaces) await perform(createWorkspace, { name });
    const plans = [await planOf(perform, EVERYTHING), await planOf(perform, EVERYTHING)];
    expect((await runAtOnce(perform, plans)).toSorted()).toEqual(["already_exists", "done"]);
    expect(linesOf(await planOf(perform, EVERYTHING, PRUNES))).toEqual([]);
  },
);

test("two that add the same webhook and recipient at once to a form that is there add each once", async () => {
  const perform = performerOn(temporaryDatabase());
  const file = (endpoint: object) => ({
    version: 1,
    workspaces: [{ name: "W", endpoints: [{ name: "F", schema: {}, ...endpoint }] }],
  });
  await applyTo(perform, file({}));
  for (const more of [
    { webhooks: [{ url: "https://192.0.2.1/a" }] },
    { webhooks: [{ url: { env: "SLACK_URL" }, format: "slack" }] },
    { recipients: [{ address: "a@example.com" }] },
  ]) {
    const plans = [await planOf(perform, file(more)), await planOf(perform, file(more))];
    expect((await runAtOnce(perform, plans)).toSorted()).toEqual(["already_exists", "done"]);
    expect(linesOf(await planOf(perform, file(more), PRUNES))).not.toContain("create");
  }
  const [{ endpoints } = { endpoints: [] }] = (await exported(perform)).workspaces;
  expect([endpoints[0]?.webhooks?.length, endpoints[0]?.recipients?.length]).toEqual([2, 1]);
});
