import * as fc from "fast-check";
import { expect, test } from "vitest";
import { createZonedClock } from "../../src/foundation/zoned-time.ts";
import { compileSchema } from "../../src/schemas/compile-schema.ts";
import type { SchemaDefinition } from "../../src/schemas/definition.ts";
import { CSV_SEPARATORS, csvHeader, csvRow, unguarded } from "../../src/submissions/export/csv.ts";
import { COLUMN_ORDERS, columnsOf } from "../../src/submissions/export/export-columns.ts";
import { mapColumns } from "../../src/submissions/import/map-columns.ts";
import { readRow } from "../../src/submissions/import/read-import-row.ts";
import { RowCounts } from "../../src/submissions/import/row-counts.ts";
import { openTable } from "../../src/submissions/import/table-rows.ts";
import { asSubmission } from "../support/add-submission.ts";
import { NOON } from "../support/fake-clock.ts";
import { parseCsv } from "../support/parse-csv.ts";

/** A cell that begins with one of them may be taken for a formula. */
const SIGNS = ["=", "+", "-", "@", "\0", "\t", "\n", "\r", "＝", "＋", "－", "＠"];
const hostile = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.string({ unit: fc.constantFrom("'", "'", '"', ",", ";", "a", " ", ...SIGNS) }),
);
// An empty cell is a field that was not sent.
const value = hostile.filter((text) => text !== "");

const NAMES = ["message", "=sum", "'=sum", "'", "data.x"];
const definition: SchemaDefinition = Object.fromEntries(
  NAMES.map((name) => [name, { type: "string", label: `=${name}` }]),
);

/** Reads the only row of a table of our own. */
async function importRow(csv: string) {
  const bytes = async function* () {
    yield await Promise.resolve(Buffer.from(csv));
  };
  const source = { name: "all.csv", bytes, longestPieceBytes: 1_048_576, mostMembers: 22_000 };
  const { headings, rows, isGuarded } = await openTable(source, { format: "csv", encoding: null });
  const reader = {
    format: "csv",
    columns: mapColumns(headings, { format: "csv", definition, map: [] }),
    isGuarded,
    schema: compileSchema(definition, "drop"),
    clock: createZonedClock("UTC"),
    now: NOON,
    counts: new RowCounts(),
    maxLength: 65_536,
  } as const;
  const read: unknown[] = [];
  for await (const row of rows) read.push(readRow(reader, row));
  expect(read).toHaveLength(1);
  return read[0];
}

test("what a CSV has of a submission comes back as it was, and neither a cell nor a heading begins like a formula", async () => {
  const separators = fc.constantFrom(...CSV_SEPARATORS);
  await fc.assert(
    fc.asyncProperty(
      fc.array(value, { minLength: NAMES.length, maxLength: NAMES.length }),
      fc.record({
        separator: separators,
        hasLabels: fc.boolean(),
        order: fc.constantFrom(...COLUMN_ORDERS),
        userAgent: hostile,
        aside: fc.dictionary(value, fc.oneof(hostile, fc.integer()), { minKeys: 1, maxKeys: 3 }),
      }),
      async (values, { separator, hasLabels, order, userAgent, aside }) => {
        const data = Object.fromEntries(NAMES.map((name, index) => [name, values[index]]));
        const labels = new Map(NAMES.map((name) => [name, `=${name}`]));
        const fields = { names: new Set(NAMES), hasRest: false, hasSetAside: true, labels };
        const columns = columnsOf(fields, { order, hasLabels, clock: null, formName: () => "Contact" });
        const style = { order, clock: null, separator } as const;
        const setAside = { fields: aside, dropped: 0 };
        const sent = { data, setAside, userAgent, ipAddress: "2001:db8::1" };
        const submission = asSubmission({ endpointId: "ep_1", createdAt: NOON, ...sent });
        const csv = csvHeader(columns, style) + csvRow(submission, columns, style);
        for (const cell of parseCsv(csv, separator).flat()) expect(SIGNS).not.toContain(cell[0]);
        expect(await importRow(csv)).toMatchObject({ ...sent, createdAt: NOON, userAgent: userAgent.trim() });
      },
    ),
  );
});

test("unknown fields that no post could have had refuse their row of our own table, and tell its line", async () => {
  const row = (cell: string) =>
    importRow(
      `id,endpoint_id,created_at,spam_class,data.message,unknown_fields\r\nsub_1,ep_1,2026-01-01,low,Hi,"${cell.replaceAll('"', '""')}"\r\n`,
    );
  const field = "unknown_fields";
  expect(await row('{"a":1}')).toMatchObject({ setAside: { fields: { a: 1 }, dropped: 0 } });
  expect(await row("")).toMatchObject({ setAside: null });
  for (const cell of ["red", "[1]", "{", "null"])
    expect(await row(cell)).toEqual({ line: 2, field, message: "expected an object" });
  expect(await row(`{"a":"${"x".repeat(4096)}"}`)).toMatchObject({
    message: expect.stringContaining("4096") as string,
  });
  expect(await row(`{${Array.from({ length: 51 }, (_, at) => `"${at}":1`).join(",")}}`)).toMatchObject({
    message: expect.stringContaining("50 names") as string,
  });
});

test("an apostrophe that somebody typed stays, whatever stands behind it", () => {
  const exported = ["'=1+1", "''=1+1", "'''=1+1", "'tis", "'", "''"];
  expect(exported.map(unguarded)).toEqual(["=1+1", "'=1+1", "''=1+1", "'tis", "'", "''"]);
});
