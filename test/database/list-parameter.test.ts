import { describe, expect, test } from "vitest";
import { query } from "../../src/database/database.ts";
import {
  LIST,
  LISTED,
  LISTED_IDS,
  listedIds,
  listParameter,
  lookUpListed,
} from "../../src/database/list-parameter.ts";
import { all, text } from "../../src/database/steps.ts";
import { ENGINES } from "../support/engines.ts";

const HOSTILE = [
  "b",
  "a",
  "b",
  "10",
  "9",
  "",
  'it\'s "quoted" \\ {a:0}',
  "line\nbreak",
  "ä🙂",
  "?",
  "$1",
  "__proto__",
];

describe.each(ENGINES)("a list on $name", ({ temporary }) => {
  test("gives its texts as they are, each as often as it is there and in its order", async () => {
    const db = await temporary();
    const rows = await db.read(() =>
      all(text<{ key: string }>(`SELECT key FROM ${LIST}`, listParameter(HOSTILE))),
    );
    expect(rows.map(({ key }) => key)).toEqual(HOSTILE);
    const none = await db.read(() => all(text(`SELECT key FROM ${LIST}`, listParameter([]))));
    expect(none).toEqual([]);
  });

  test("says what a value is among, and may be longer than a statement has parameters", async () => {
    const db = await temporary();
    const many = Array.from({ length: 70_000 }, (_, index) => index);
    const sql = `SELECT CAST(? AS text) IN ${LISTED} AS one, CAST(? AS text) IN ${LISTED} AS other`;
    const [found] = await db.read(() =>
      all(text(sql, "69999", listParameter(many), "70000", listParameter(many))),
    );
    expect([Boolean((found as { one: unknown }).one), Boolean((found as { other: unknown }).other)]).toEqual([
      true,
      false,
    ]);
  });
});

test("PostgreSQL looks listed ids up by their index, and joins lists of other values", () => {
  expect(lookUpListed(`SELECT 1 FROM file WHERE file.id IN ${LISTED_IDS} AND state = 'stored'`)).toBe(
    `SELECT 1 FROM file WHERE file.id = ANY (ARRAY${LISTED_IDS}) AND state = 'stored'`,
  );
  const built = query
    .deleteFrom("held")
    .where("id", "in", listedIds(["held_1"]))
    .compile().sql;
  expect(lookUpListed(built)).toBe(`delete from "held" where "id" = ANY (ARRAY${LISTED_IDS})`);
  for (const other of [`endpoint_id IN ${LISTED}`, "id IN (?)"]) expect(lookUpListed(other)).toBe(other);
});
