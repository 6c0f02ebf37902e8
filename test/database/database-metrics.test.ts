import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { measureDatabase } from "../../src/database/sqlite/database-metrics.ts";
import { createMetrics } from "../../src/foundation/prometheus.ts";
import { createFakeClock } from "../support/fake-clock.ts";
import { temporaryDatabase } from "../support/temporary-database.ts";
import { HOUR_MS } from "../../src/foundation/time-units.ts";

test("if backups are scheduled and none ever worked, their age is the server's, so that an alert on it fires", async () => {
  const db = temporaryDatabase();
  const clock = createFakeClock(Date.parse("2026-01-31T00:00:00Z"));
  const ages = (everyHours: number | null): (() => Promise<string | undefined>) => {
    const metrics = createMetrics(null);
    measureDatabase(metrics, db, { everyHours, keep: 3, directory: "." }, clock);
    return async () => /^formsvc_backup_age_seconds (\S+)$/m.exec(await metrics.render())?.[1];
  };
  const [scheduled, unscheduled] = [ages(24), ages(null)];
  clock.advance(49 * HOUR_MS);
  expect([await scheduled(), await unscheduled()]).toEqual([String(49 * 3600), undefined]);
  writeFileSync(join(dirname(db.path), "formsvc-2026-02-02T00-00-00.db"), "");
  expect([await scheduled(), await unscheduled()]).toEqual(["3600", "3600"]);
});
