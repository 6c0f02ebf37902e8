import * as fc from "fast-check";
import { expect, test } from "vitest";
import { comparable } from "../../src/submissions/find/comparable-text.ts";

test.each([
  ["José Núñez", "José Núñez".normalize("NFD")],
  ["Nguyễn Thị Hằng", "Nguyễn Thị Hằng".normalize("NFD").toUpperCase()],
  ["ada@example.org", " ADA@Example.ORG\u00a0"],
  ["ada@example.org", "ａｄａ＠ｅｘａｍｐｌｅ．ｏｒｇ"],
  ["ada@example.org", "\u200bada\u00ad@example.org\u200e"],
  ["ガイド", "ｶﾞｲﾄﾞ"],
  ["Straße 5", "STRASSE\t5"],
  ["Σίσυφος", "ΣΊΣΥΦΟΣ"],
  ["ismail", "İSMAİL"],
  ["Işıl", "IŞIL"],
  ["O’Neil Ltd", "O’Neil\r\n  Ltd"],
  ["ﬁnn", "FINN"],
  ["한국", "한국".normalize("NFD")],
])("%s is found if somebody typed %j", (one, other) => {
  expect(comparable(other)).toBe(comparable(one));
});

test.each([
  ["Jose", "José"],
  ["ada@example.org", "ada@example.com"],
  ["Ada B", "AdaB"],
  ["Müller", "Muller"],
])("%s is somebody else than %s", (one, other) => {
  expect(comparable(other)).not.toBe(comparable(one));
});

test("a text is the same in every normal form, and a second time", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme", maxLength: 40 }), (text) => {
      const folded = comparable(text);
      for (const form of ["NFC", "NFD", "NFKC", "NFKD"])
        expect(comparable(text.normalize(form))).toBe(folded);
      expect(comparable(folded)).toBe(folded);
    }),
  );
});

test("a text of marks that are slow to sort takes no longer than it takes to read it", () => {
  const slow = `a${"\u0301\u0316".repeat(32_000)}`;
  const before = process.cpuUsage();
  for (let round = 0; round < 20; round += 1) comparable(slow);
  // Sorting them takes half a second each time.
  expect(process.cpuUsage(before).user).toBeLessThan(1_000_000);
});
