import { describe, expect, test } from "vitest";
import { createZonedClock } from "../../src/foundation/zoned-time.ts";
import { columnsOf, type ExportFields } from "../../src/submissions/export/export-columns.ts";
import type { StoredSubmission } from "../../src/submissions/stored/submission-work.ts";
import { type Book, xlsxParts } from "../../src/submissions/export/xlsx.ts";
import { asSubmission } from "../support/add-submission.ts";
import { libreofficePath, openInLibreoffice } from "../support/libreoffice.ts";
import { readSheet, unzip } from "../support/read-xlsx.ts";

/** What people and robots send, and what a spreadsheet could take for something else. */
const HOSTILE = [
  "=1+1",
  '=HYPERLINK("https://evil.example","x")',
  "+49 30 123456",
  "-5",
  "@SUM(A1)",
  "007",
  "1e5",
  "TRUE",
  "2026-01-31",
  "  two  blanks  ",
  "two\nlines, \"quoted\" and 'so'",
  "tab\there",
  "<b>&amp;</b> ]]>",
  "_x0041_ and _x005F_",
  "Grüße, 你好, שלום, 🎂",
  "\u202eevil",
];

const ZONE = "Europe/Berlin";
const NAMES = ["text", "number", "yes", "list", "object"];
const FIELDS: ExportFields = {
  names: new Set(NAMES),
  hasRest: false,
  hasSetAside: true,
  labels: new Map([["text", "Your words"]]),
};

/** Two times of the same hour on the clocks of the zone, and a summer's noon. */
const TIMES = ["2026-10-25T00:30:00.000Z", "2026-10-25T01:30:00.000Z", "2026-07-01T10:00:00.000Z"];
const SHOWN_TIMES = ["2026-10-25 02:30:00", "2026-10-25 02:30:00", "2026-07-01 12:00:00"];

function posts(): StoredSubmission[] {
  return HOSTILE.map((text, index) =>
    asSubmission({
      endpointId: "ep_1",
      createdAt: Date.parse(TIMES[index % TIMES.length] ?? ""),
      spamScore: index,
      data: { text, number: index - 2.5, yes: index % 2 === 0, list: ["a", "b"], object: { a: 1 } },
      setAside: index === 3 ? { fields: { beside: text }, dropped: 0 } : null,
    }),
  );
}

async function bookOf(submissions: readonly StoredSubmission[], more: Partial<Book> = {}): Promise<Buffer> {
  async function* rows() {
    for (const each of submissions) yield await Promise.resolve(each);
  }
  const clock = createZonedClock(ZONE);
  const look = { order: "people", hasLabels: true, clock, formName: () => "Cakes" } as const;
  const parts: Buffer[] = [];
  const book = { columns: columnsOf(FIELDS, look), clock, rows: rows(), ...more };
  for await (const part of xlsxParts(book)) parts.push(part);
  return Buffer.concat(parts);
}

const HEADINGS = [
  `When (${ZONE})`,
  "Form",
  "Your words",
  "number",
  "yes",
  "list",
  "object",
  "Not among the fields",
  "State",
  "Assigned to",
  "Notes",
  "Spam score",
  "Spam class",
  "IP address",
  "Browser",
  "Id",
  "Form id",
];

test("each value is a cell of its own kind, in the order of people, with times as the clocks of the zone showed", async () => {
  const submissions = posts();
  const [heading, ...rows] = readSheet(await bookOf(submissions));
  expect(heading).toEqual(HEADINGS);
  expect(rows).toHaveLength(submissions.length);
  for (const [index, row] of rows.entries()) {
    const serial = Date.parse(`${SHOWN_TIMES[index % 3]?.replace(" ", "T")}Z`) / 86_400_000 + 25_569;
    expect(row.slice(0, 12)).toEqual([
      serial,
      "Cakes",
      HOSTILE[index],
      index - 2.5,
      index % 2 === 0,
      "a, b",
      '{"a":1}',
      index === 3 ? '{"beside":"-5"}' : null,
      "open",
      null,
      null,
      index,
    ]);
  }
});

test("no cell is a formula, and one that begins like one stays text when it is edited", async () => {
  const sheet =
    unzip(await bookOf(posts()))
      .get("xl/worksheets/sheet1.xml")
      ?.toString("utf8") ?? "";
  expect(sheet).not.toMatch(/<f[ >]/);
  const styles = new Map(
    HOSTILE.map((text) => [text, /s="(\d)"><is><t[^>]*>/.exec(cellWith(sheet, text))?.[1]]),
  );
  expect(styles.get("=1+1")).toBe("3");
  expect(styles.get("007")).toBe("0");
});

function cellWith(sheet: string, text: string): string {
  return sheet.split("<c ").find((cell) => cell.includes(`>${text}<`)) ?? "";
}

test("a text that is longer than a cell takes is cut with a mark, and what XML cannot write is replaced", async () => {
  const long = `${"x".repeat(32_766)}😀tail`;
  const odd = "a\0b\u0007c\uffffd\ud800e\r\nf\rg";
  const texts = [long, odd].map((text) => asSubmission({ endpointId: "ep_1", data: { text } }));
  const [, first, second] = readSheet(await bookOf(texts));
  expect(first?.[2]).toBe(`${"x".repeat(32_766)}…`);
  expect(second?.[2]).toBe("a\ufffdb\ufffdc\ufffdd\ufffde\nf\ng");
});

test("what has no room on one sheet goes on the next, each with its heading", async () => {
  const submissions = posts();
  const book = await bookOf(submissions, { sheetRows: 8 });
  const sheets = [1, 2, 3].map((number) => readSheet(book, number));
  expect(sheets.map((rows) => rows.length)).toEqual([8, 8, 3]);
  expect(sheets.flatMap(([heading]) => heading?.[2])).toEqual(["Your words", "Your words", "Your words"]);
  expect(sheets.flatMap((rows) => rows.slice(1).map((row) => row[15]))).toEqual(
    submissions.map(({ id }) => id),
  );
});

test("a book of nothing is a sheet with its heading alone", async () => {
  expect(readSheet(await bookOf([]))).toEqual([HEADINGS]);
});

test("the same submissions give the same bytes", async () => {
  const submissions = posts();
  expect(await bookOf(submissions)).toEqual(await bookOf(submissions));
});

test("whoever stops reading ends the reading of submissions", async () => {
  let isEnded = false;
  const given: StoredSubmission[] = [];
  async function* rows() {
    try {
      for (;;) {
        const submission = asSubmission({ endpointId: "ep_1" });
        given.push(submission);
        yield await Promise.resolve(submission);
      }
    } finally {
      isEnded = true;
    }
  }
  const look = { order: "people", hasLabels: true, clock: null, formName: () => "" } as const;
  const parts = xlsxParts({ columns: columnsOf(FIELDS, look), clock: null, rows: rows() });
  while (given.length === 0) await parts.next();
  await parts.return(undefined);
  expect(isEnded).toBe(true);
});

describe.skipIf(libreofficePath === null)("in LibreOffice", () => {
  test("a book opens with the same cells, on each of its sheets", async () => {
    const submissions = posts();
    const sheets = await openInLibreoffice(await bookOf(submissions, { sheetRows: 12 }));
    expect([...sheets.keys()].toSorted()).toEqual(["Submissions", "Submissions 2"]);
    const [heading, ...first] = sheets.get("Submissions") ?? [];
    const [, ...second] = sheets.get("Submissions 2") ?? [];
    expect(heading).toEqual(HEADINGS);
    expect([...first, ...second]).toEqual(
      submissions.map(({ id, spamScore }, index) => [
        SHOWN_TIMES[index % 3],
        "Cakes",
        HOSTILE[index],
        String(index - 2.5),
        index % 2 === 0 ? "TRUE" : "FALSE",
        "a, b",
        '{"a":1}',
        index === 3 ? '{"beside":"-5"}' : "",
        "open",
        "",
        "",
        String(spamScore),
        "low",
        "",
        "",
        id,
        "ep_1",
      ]),
    );
  }, 120_000);
});
