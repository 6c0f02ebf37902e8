import { expect, test } from "vitest";
import type { Database } from "../../src/database/database.ts";
import { exportSubmissions } from "../../src/submissions/export/export-submissions.ts";
import { storeSubmissions } from "../support/add-submission.ts";
import { NOON } from "../support/fake-clock.ts";
import { parseCsv } from "../support/parse-csv.ts";
import { temporaryDatabase } from "../support/temporary-database.ts";
import { changeSchema, partsOn } from "../support/terminal.ts";
import { twoOwners } from "../support/two-owners.ts";

/** More than enough on a busy machine; it took half a minute, in which the server did nothing else. */
const LONGEST_US = 5_000_000;
const VERSIONS = 100;
const FIELDS = 200;

/** An endpoint with as many versions of its schema as are kept, each with other fields. */
async function endpointWithFields(db: Database, fieldOf: (version: number, index: number) => object) {
  const { endpoint } = (await twoOwners(db)).shop;
  for (let version = 0; version < VERSIONS; version += 1) {
    const fields = Array.from({ length: FIELDS }, (_, index) => {
      const field = { type: "string", ...fieldOf(version, index) } as const;
      return [`f${version}_${index}`, field] as const;
    });
    await db.transaction(() => changeSchema(endpoint, Object.fromEntries(fields), NOON));
  }
  return endpoint;
}

test("an export takes time by what is exported, however many fields the earlier schemas had and whatever their labels are", async () => {
  const db = temporaryDatabase();
  const endpoint = await endpointWithFields(db, () => ({ label: "x" }));
  const before = process.cpuUsage();
  await partsOn(db, exportSubmissions, { endpoint, format: "xlsx" }, { parts: { searches: null } });
  const input = { endpoint, format: "csv", labels: true } as const;
  const parts = await partsOn(db, exportSubmissions, input, { parts: { searches: null } });
  expect(process.cpuUsage(before).user).toBeLessThan(LONGEST_US);
  const [headings = []] = parseCsv(parts[0]?.text ?? "");
  expect(headings.slice(7, 10)).toEqual(["x", "x (2)", "x (3)"]);
  expect(new Set(headings).size).toBe(headings.length);
});

test("up to 4,000 fields of schemas have a column, those of the newest first, and what was sent in others is there all the same", async () => {
  const db = temporaryDatabase();
  const endpoint = await endpointWithFields(db, () => ({}));
  const data = { f99_0: "new", f0_7: "old" };
  await storeSubmissions(db, [{ endpointId: endpoint, data, createdAt: NOON + 1 }]);
  const input = { endpoint, format: "csv" } as const;
  const parts = await partsOn(db, exportSubmissions, input, { parts: { searches: null } });
  const [headings = [], ...rows] = parseCsv(parts.map(({ text }) => text).join(""));
  expect(headings.filter((heading) => /^data\.f\d/.test(heading))).toHaveLength(4001);
  const last = rows.at(-1) ?? [];
  expect(headings[7]).toBe("data.f99_0");
  expect([last[7], last[headings.indexOf("data.f0_7")]]).toEqual(["new", "old"]);
});
