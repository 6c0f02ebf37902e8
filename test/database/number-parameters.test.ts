import { expect, test } from "vitest";
import { numberMarks, numberParameters } from "../../src/database/number-parameters.ts";

test("each parameter has one number however often it stands there, and texts and casts are left alone", () => {
  const sql =
    "SELECT ':self ''x'' :now', :now::bigint, a FROM t WHERE a = :self AND b <= :now AND c = ':x'::text";
  expect(numberParameters(sql)).toEqual({
    sql: "SELECT ':self ''x'' :now', $1::bigint, a FROM t WHERE a = $2 AND b <= $1 AND c = ':x'::text",
    names: ["now", "self"],
  });
});

test("each question mark is one more parameter, and one in a text or a name is left alone", () => {
  expect(numberMarks(`SELECT "a?" FROM t WHERE b = ? AND c = 'it''s ?' AND d > ?`)).toBe(
    `SELECT "a?" FROM t WHERE b = $1 AND c = 'it''s ?' AND d > $2`,
  );
});
