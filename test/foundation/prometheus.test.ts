import { expect, test } from "vitest";
import { FormsvcError } from "../../src/foundation/errors.ts";
import { createMetrics } from "../../src/foundation/prometheus.ts";

test("values that the database does not give are left out, and all others are served", async () => {
  const metrics = createMetrics(null);
  let isAway = false;
  const ask = async (): Promise<number> => {
    if (isAway) throw new FormsvcError("database_unusable", "away");
    return 7;
  };
  metrics.gauge("formsvc_of_database", "One value.", ask);
  metrics.gauges("formsvc_by_state", "Values.", "state", async () => new Map([["on", await ask()]]));
  metrics.gauge("formsvc_of_memory", "Another one.", () => 3);
  const served = async () =>
    (await metrics.render()).split("\n").filter((line) => /^formsvc_(of|by)_/.test(line));
  const all = ["formsvc_of_database 7", 'formsvc_by_state{state="on"} 7', "formsvc_of_memory 3"];
  expect(await served()).toEqual(all);
  isAway = true;
  expect(await served()).toEqual(["formsvc_of_memory 3"]);
  isAway = false;
  expect(await served()).toEqual(all);
});

test("a defect in a measurement is not hidden", async () => {
  const metrics = createMetrics(null);
  metrics.gauge("formsvc_broken", "None.", () => {
    throw new Error("a defect");
  });
  await expect(metrics.render()).rejects.toThrow("a defect");
});
