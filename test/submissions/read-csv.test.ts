import * as fc from "fast-check";
import { expect, test } from "vitest";
import { type CsvRecord, readCsv } from "../../src/submissions/import/read-csv.ts";

async function read(text: string, size = text.length): Promise<CsvRecord[]> {
  const chunks: string[] = [];
  for (let at = 0; at < text.length; at += Math.max(1, size))
    chunks.push(text.slice(at, at + Math.max(1, size)));
  const records: CsvRecord[] = [];
  for await (const record of readCsv(chunks)) records.push(record);
  return records;
}

const cellsOf = (records: readonly CsvRecord[]) => records.map(({ cells }) => cells);

test("any cells come back as they were written, with each separator and line end, however the text is cut", async () => {
  const cell = fc.string({
    unit: fc.constantFrom('"', ",", ";", "\t", "\n", "\r\n", "a", "ß", " ", "'", "="),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(cell, { minLength: 2, maxLength: 4 }), { minLength: 1, maxLength: 4 }),
      fc.constantFrom(",", ";", "\t"),
      fc.constantFrom("\n", "\r\n"),
      fc.integer({ min: 1, max: 20 }),
      async (rows, separator, end, size) => {
        const heading = ["x", "y"];
        const all = [heading, ...rows];
        const line = (cells: readonly string[]): string =>
          cells.map((each) => `"${each.replaceAll('"', '""')}"`).join(separator);
        const text = heading.join(separator) + end + rows.map(line).join(end);
        expect(cellsOf(await read(text, size))).toEqual(all);
      },
    ),
  );
});

test("the separator is the one that the first line has most of, outside of quotes", async () => {
  expect(cellsOf(await read('"a,b,c";d\n1;2\n'))).toEqual([
    ["a,b,c", "d"],
    ["1", "2"],
  ]);
  expect(cellsOf(await read("a\tb,c\td\n1\t2\t3\n"))).toEqual([
    ["a", "b,c", "d"],
    ["1", "2", "3"],
  ]);
  expect(cellsOf(await read("alone\n1,2\n"))).toEqual([["alone"], ["1", "2"]]);
});

test("a table is read as it is used, however many rows it has: they are there one by one", async () => {
  let given = 0;
  function* endless(): Generator<string> {
    yield "number,text\n";
    for (;;) yield Array.from({ length: 1000 }, () => `${(given += 1)},x\n`).join("");
  }
  let ahead = 0;
  let rows = 0;
  for await (const { line, cells } of readCsv(endless())) {
    rows += 1;
    ahead = Math.max(ahead, given - rows);
    if (rows === 200_001) {
      expect([line, cells]).toEqual([200_001, ["200000", "x"]]);
      break;
    }
  }
  expect(ahead).toBeLessThanOrEqual(1000);
});

test("a record has the number of the line on which it begins, and empty lines are passed over", async () => {
  const records = await read('a,b\n\n"two\nlines",1\r\n\r\n2,3');
  expect(records.map(({ line, cells }) => [line, cells])).toEqual([
    [1, ["a", "b"]],
    [3, ["two\nlines", "1"]],
    [6, ["2", "3"]],
  ]);
});

test("a quote in the middle of a cell is text, and one that ends there is told of that row alone", async () => {
  const records = await read('a,b\n5" pipe,1\n"x"y,2\n"z" ,3\n');
  expect(records.map(({ cells, problem }) => [cells, problem === null])).toEqual([
    [["a", "b"], true],
    [['5" pipe', "1"], true],
    [["xy", "2"], false],
    [["z ", "3"], true],
  ]);
  expect(records[2]?.problem).toContain("a quote ends in the middle of a cell");
});

test.each([
  ['a,b\n1,2\n"never closed,3\n4,5\n', "line 3: a quote is opened here and never closed"],
  [`a,b\n"${"x".repeat(5_000_000)}`, "line 2: a quote is opened here and never closed"],
  [`a,b\n${"x".repeat(5_000_000)}`, "line 2: the row has more than 4194304 characters"],
  [`a,b\n${",".repeat(3000)}\n`, "line 2: the row has more than 2000 cells"],
  ["x".repeat(5_000_000), "line 1: the row has more than 4194304 characters"],
])("%#: what cannot be a table is refused with its line", async (text, complaint) => {
  await expect(read(text, 65_536)).rejects.toMatchObject({
    code: "usage",
    message: expect.stringContaining(complaint) as string,
  });
});
