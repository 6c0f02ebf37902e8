import { describe, expect, test } from "vitest";
import type { SchemaDefinition } from "../../src/schemas/definition.ts";
import { importSubmissions } from "../../src/submissions/import/import-submissions.ts";
import { importTable } from "../../src/submissions/import/import-table.ts";
import { readCsv } from "../../src/submissions/import/read-csv.ts";
import { NOON } from "../support/fake-clock.ts";
import { temporaryDatabase } from "../support/temporary-database.ts";
import { changeSchema, performOn } from "../support/terminal.ts";
import { twoOwners } from "../support/two-owners.ts";

const PART_BYTES = 65_536;
/** More than enough on a busy machine; each of these files took many seconds, or hours if it was somewhat larger. */
const LONGEST_US = 2_000_000;

const SCHEMA: SchemaDefinition = {
  name: { type: "string" },
  days: { type: "array", items: { type: "string" } },
  code: { type: "string", pattern: "[ab]*a[ab]{38}[cd]$|\\z" },
};
const HEAD = "created_at,name,days,code\n";
const TIME = "2026-01-31T10:00:00Z";

/** Imports a file without storing anything. */
async function bring(text: string) {
  const db = temporaryDatabase();
  const { endpoint } = (await twoOwners(db)).shop;
  await db.transaction(() => changeSchema(endpoint, SCHEMA, NOON));
  const bytes = Buffer.from(text);
  const cut = function* () {
    for (let at = 0; at < bytes.length; at += PART_BYTES) yield bytes.subarray(at, at + PART_BYTES);
  };
  const source = { name: "old.csv", bytes: cut, longestPieceBytes: 4_194_304, mostMembers: 22_000 };
  const input = { endpoint, format: "csv", dry_run: true } as const;
  return performOn(db, importTable, input, { parts: { source } });
}

const blanks = (count: number): string => " ".repeat(count);
const MIB = 1_048_576;

/** Letters in no order that a pattern could follow, the same each time. */
function letters(count: number): string {
  let state = 12_345;
  const next = (): string => {
    state = (state * 1_103_515_245 + 12_345) & 0x7fffffff;
    return (state & 65_536) === 0 ? "a" : "b";
  };
  return Array.from({ length: count }, next).join("");
}

describe("a table takes processor time by its size and no more, whatever is in it:", () => {
  test.each<{ what: string; text: string; refused?: RegExp; rows?: number }>([
    {
      what: "a time with many blanks",
      text: `${HEAD}${TIME.slice(0, 10)}${blanks(60_000)}x y,,,\n`,
      rows: 1,
    },
    { what: "a list with many blanks", text: `${HEAD}${TIME},,x${blanks(60_000)}x,\n`, rows: 0 },
    {
      what: "a row longer than a post, for a pattern",
      text: `${HEAD}${TIME},,,${letters(4e6)}\n`,
      rows: 1,
    },
    { what: "quotes alone", text: `${HEAD}${'"'.repeat(3 * MIB)}`, rows: 1 },
    { what: "carriage returns alone", text: `${HEAD}${"\r".repeat(3 * MIB)}`, rows: 0 },
    {
      what: "a record of quotes without end",
      text: `${HEAD}${'"'.repeat(5 * MIB)}`,
      refused: /line 2: the row has more than 4194304 characters/,
    },
    { what: "blanks alone", text: blanks(5 * MIB), refused: /begins with more than 4194304 blanks/ },
    {
      what: "a list of objects, each without the members of the first",
      text: `[{${Array.from({ length: 2000 }, (_, at) => `"m${at}":1`).join(",")}}${",{}".repeat(MIB)}]`,
      refused: /1048577 rows with 2000 members are more than 10000000 cells; split the file/,
    },
  ])("$what", async ({ text, refused, rows }) => {
    const before = process.cpuUsage();
    const ended = bring(text);
    if (refused === undefined) expect((await ended).refused).toHaveLength(rows ?? 0);
    else await expect(ended).rejects.toThrow(refused);
    expect(process.cpuUsage(before).user).toBeLessThan(LONGEST_US);
  });
});

test("a row may be as long as a post, and a longer one is told with its line", async () => {
  const row = (length: number): string => `${TIME},${"x".repeat(length)},,\n`;
  expect(await bring(`${HEAD}${row(65_536)}${row(65_537)}`)).toMatchObject({
    imported: 1,
    refused: [
      {
        line: 3,
        field: null,
        message: "the row has more than 65536 characters, and no post may be that long",
      },
    ],
  });
});

test("a table has the same records however its bytes are cut", async () => {
  const pieces = ['"', '"', '"', ",", ";", "\r", "\n", "\n", "a", " "];
  const collect = async (chunks: readonly string[]): Promise<unknown> => {
    const records: unknown[] = [];
    try {
      for await (const record of readCsv(chunks)) records.push(record);
    } catch (error) {
      return (error as Error).message;
    }
    return records;
  };
  for (let count = 0; count < 10_000; count += 1) {
    let left = count;
    const signs: string[] = [];
    for (let at = 0; at < 8; at += 1) {
      signs.push(pieces[left % pieces.length] ?? "");
      left = Math.floor(left / pieces.length) + at * count;
    }
    expect(await collect(signs), JSON.stringify(signs)).toEqual(await collect([signs.join("")]));
  }
});

test("millions of blank lines in an export take processor time by their size, and are counted in what is refused", async () => {
  const db = temporaryDatabase();
  const { actor } = await twoOwners(db);
  const part = Buffer.from("\n \r\n".repeat(PART_BYTES / 4));
  const bytes = function* () {
    for (let at = 0; at < 16 * MIB; at += part.length) yield part;
    yield Buffer.from("{broken\n");
  };
  const source = { name: "all.ndjson", bytes, longestPieceBytes: 4_194_304, mostMembers: 22_000 };
  const before = process.cpuUsage();
  const done = performOn(db, importSubmissions, {}, { actor, parts: { source } });
  await expect(done).rejects.toThrow(`all.ndjson: line ${(16 * MIB) / 2 + 1}: not JSON`);
  const { user, system } = process.cpuUsage(before);
  expect(user + system).toBeLessThan(LONGEST_US);
});
