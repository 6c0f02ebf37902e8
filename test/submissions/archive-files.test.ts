import { expect, test } from "vitest";
import { freeName } from "../../src/submissions/export/archive-files.ts";

test("files of one name get numbers, whatever their case, and no name is a device of Windows", () => {
  const taken = new Set<string>();
  const names = [
    "cv.pdf",
    "CV.PDF",
    "cv (2).pdf",
    "cv.pdf",
    "a.tar.gz",
    "a.tar.gz",
    "notes",
    "Notes",
    ".x",
    ".x",
  ];
  expect(names.map((name) => freeName(name, taken))).toEqual([
    "cv.pdf",
    "CV (2).PDF",
    "cv (2) (2).pdf",
    "cv (3).pdf",
    "a.tar.gz",
    "a.tar (2).gz",
    "notes",
    "Notes (2)",
    ".x",
    ".x (2)",
  ]);
  expect(["con.txt", "NUL", "lpt1.pdf", "console.txt"].map((name) => freeName(name, taken))).toEqual([
    "_con.txt",
    "_NUL",
    "_lpt1.pdf",
    "console.txt",
  ]);
});

test("a name has 255 bytes at most and keeps its extension, with a number too", () => {
  const taken = new Set<string>();
  const long = `${"履".repeat(196)}.pdf`;
  const names = [freeName(long, taken), freeName(long, taken)];
  expect(names[0]).toBe(`${"履".repeat(83)}.pdf`);
  expect(names[1]).toBe(`${"履".repeat(82)} (2).pdf`);
});
