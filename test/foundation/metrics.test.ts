import { expect, test } from "vitest";
import { FormsvcError } from "../../src/foundation/errors.ts";
import { createMetrics } from "../../src/foundation/prometheus.ts";

const sample = (text: string, name: string) => new RegExp(`^${name}\\S* (\\S+)$`, "m").exec(text)?.[1];

test("a value that does not come is left out, and is not asked for again before it came", async () => {
  const metrics = createMetrics(null);
  const answer = Promise.withResolvers<number>();
  let asked = 0;
  metrics.gauge("formsvc_silent", "Never.", () => {
    asked += 1;
    return answer.promise;
  });
  metrics.gauges("formsvc_refused", "Refused.", "state", () => {
    throw new FormsvcError("database_unusable", "the database is away");
  });
  metrics.gauge("formsvc_known", "Here.", () => 7);
  const text = await metrics.render();
  expect([
    sample(text, "formsvc_silent"),
    sample(text, "formsvc_refused"),
    sample(text, "formsvc_known"),
  ]).toEqual([undefined, undefined, "7"]);
  expect(sample(await metrics.render(), "formsvc_metrics_missing_total")).toBe("2");
  expect(asked).toBe(1);
  answer.resolve(3);
  expect(sample(await metrics.render(), "formsvc_silent")).toBe("3");
  expect(sample(await metrics.render(), "formsvc_silent")).toBe("3");
  expect(asked).toBe(2);
});

test("a defect is not left out, and is over when the value can be read again", async () => {
  const metrics = createMetrics(null);
  let isBroken = true;
  metrics.gauge("formsvc_broken", "Broken.", () => {
    if (isBroken) throw new TypeError("a defect");
    return 1;
  });
  await expect(metrics.render()).rejects.toThrow("a defect");
  isBroken = false;
  expect(sample(await metrics.render(), "formsvc_broken")).toBe("1");
});
