import { expect, test } from "vitest";
import { toParameter, toPostgresql } from "../../../src/database/postgresql/dialect.ts";

test("parameters get their numbers, and texts and quoted names stay as they are", () => {
  expect(toPostgresql(`SELECT "a?" FROM t WHERE b = ? AND c = 'it''s ? instr' AND d > ?`)).toBe(
    `SELECT "a?" FROM t WHERE b = $1 AND c = 'it''s ? instr' AND d > $2`,
  );
  expect(toPostgresql("id IN (SELECT value FROM json_each(?)) AND instr(messages, ?) > 0")).toBe(
    "id IN (SELECT value FROM json_array_elements_text($1)) AND strpos(messages, $2) > 0",
  );
});

test("the name of an index that SQLite is told to use is left out", () => {
  expect(toPostgresql("SELECT id FROM delivery INDEXED BY delivery_held WHERE state = 'INDEXED BY x'")).toBe(
    "SELECT id FROM delivery  WHERE state = 'INDEXED BY x'",
  );
});

test("thousands of different statements leave each as right as the first", () => {
  for (let number = 0; number < 3000; number += 1)
    expect(toPostgresql(`SELECT ? + ${number}`)).toBe(`SELECT $1 + ${number}`);
  expect(toPostgresql("SELECT ? + 1")).toBe("SELECT $1 + 1");
});

test("a NUL in a text becomes the sign for an unreadable character; nothing else changes", () => {
  const bytes = Buffer.from("\0");
  expect(["a\0b\0", "plain", 7, null, bytes].map(toParameter)).toEqual([
    "a\uFFFDb\uFFFD",
    "plain",
    7,
    null,
    bytes,
  ]);
});
