import { describe, expect, test } from "vitest";
import type { Database } from "../../src/database/database.ts";
import { exportSubmissions, partContent } from "../../src/submissions/export/export-submissions.ts";
import { firstIdAt } from "../../src/foundation/id.ts";
import { type GivenSubmission, storeSubmissions } from "../support/add-submission.ts";
import { addPlace } from "../support/batch-world.ts";
import { ENGINES } from "../support/engines.ts";
import { NOON } from "../support/fake-clock.ts";
import { parseCsv } from "../support/parse-csv.ts";
import { readSheet } from "../support/read-xlsx.ts";
import { streamOn } from "../support/terminal.ts";

/** Exports the submissions of an endpoint; `later` are stored when the export has begun. */
async function exportWhile(
  db: Database,
  { format, endpoint }: { readonly format: "csv" | "xlsx" | "ndjson"; readonly endpoint: string },
  later: readonly GivenSubmission[],
): Promise<Buffer> {
  const stream = await streamOn(db, exportSubmissions, { endpoint, format }, { parts: { searches: null } });
  const parts: Buffer[] = [];
  for await (const part of stream) {
    if (parts.length === 0) await storeSubmissions(db, later);
    parts.push(Buffer.from(partContent(part)));
  }
  return Buffer.concat(parts);
}

const ROWS = 2500;

describe.each(ENGINES)("a table that is exported from $name while posts come", ({ temporary }) => {
  /** Stores submissions, ten milliseconds apart, that an export reads in several parts. */
  async function begin() {
    const db = await temporary();
    const { endpointId } = await addPlace(db);
    const given = (at: number, data: object, more: Partial<GivenSubmission> = {}): GivenSubmission => ({
      endpointId,
      data: { ...data },
      createdAt: NOON + at,
      id: firstIdAt("sub", NOON + at),
      ...more,
    });
    const rows = Array.from({ length: ROWS }, (_, at) => given(10 * at, { message: "x" }));
    const ids = await storeSubmissions(db, rows);
    return { db, endpoint: endpointId, given, ids };
  }

  test("has what was there when it began, whole, and nothing of a field that it has no column for", async () => {
    const { db, endpoint, given, ids } = await begin();
    const later = [
      given(24_985, { message: "imported" }),
      given(24_986, { message: "imported", fax: "1" }),
      given(24_987, { message: "imported" }, { setAside: { fields: { fax: "2" }, dropped: 0 } }),
      given(25_000, { message: "new" }),
      given(25_001, { message: "new", fax: "3" }),
    ];
    const text = (await exportWhile(db, { endpoint, format: "csv" }, later)).toString();
    const [headings = [], ...rows] = parseCsv(text);
    expect(headings.filter((heading) => heading.includes("fax") || heading.includes("unknown"))).toEqual([]);
    expect(rows).toHaveLength(ROWS + 1);
    expect(rows.at(-2)?.[headings.indexOf("data.message")]).toBe("imported");
    expect(rows.at(-1)?.[0]).toBe(ids.at(-1));
    // The next export has the rest.
    const next = parseCsv((await exportWhile(db, { endpoint, format: "csv" }, [])).toString());
    expect(next).toHaveLength(1 + ROWS + later.length);
    expect(next[0]).toEqual(expect.arrayContaining(["data.fax", "unknown_fields"]));
  });

  test("is whole as a spreadsheet too; JSON lines name all that they bring", async () => {
    const { db, endpoint, given } = await begin();
    const later = [given(25_001, { fax: "1" })];
    const sheet = readSheet(await exportWhile(db, { endpoint, format: "xlsx" }, later));
    expect(sheet).toHaveLength(1 + ROWS);
    const again = [given(25_002, { telex: "1" })];
    const lines = await exportWhile(db, { endpoint, format: "ndjson" }, again);
    expect(lines.toString()).toContain('"telex":"1"');
  });
});
