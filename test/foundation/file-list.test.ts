import { expect, test } from "vitest";
import { exactSizeText, isFileList, sizeText, stateText } from "../../src/foundation/file-list.ts";

const cv = {
  id: "fil_01jzzzzzzzzzzzzzzzzzzzzzzz",
  name: "cv.pdf",
  size: 49_152,
  type: "application/pdf",
  sha256: "00",
};

test("what has become of a file is said in words, and nothing of one that is simply there", () => {
  expect(["scanning", "unscanned", "deleted", "infected"].map((state) => stateText({ state }))).toEqual([
    "being scanned for viruses",
    "not scanned for viruses",
    "not kept any more",
    "deleted: it had a virus",
  ]);
  expect(stateText({ state: "infected", verdict: "Eicar" })).toBe("deleted: it had the virus Eicar");
  expect(stateText({})).toBeNull();
});

test("what only looks like a list of files is none", () => {
  for (const value of [
    [],
    {},
    null,
    "fil_x",
    [{ ...cv, id: "sub_01jzzzzzzzzzzzzzzzzzzzzzzz" }],
    [cv, 1],
    [{ ...cv, size: "1" }],
  ])
    expect(isFileList(value)).toBe(false);
  expect(isFileList([cv])).toBe(true);
});

test("a size is short, and one byte is one byte", () => {
  expect(
    [0, 1, 1023, 1024, 1_048_575, 1_048_576, 26_214_400, 1_610_612_736].map((bytes) => sizeText(bytes)),
  ).toEqual(["0 bytes", "1 byte", "1023 bytes", "1 KB", "1024 KB", "1 MB", "25 MB", "1.5 GB"]);
});

test("an exact size names the bytes once", () => {
  expect([0, 1, 13, 3000].map(exactSizeText)).toEqual([
    "0 bytes",
    "1 byte",
    "13 bytes",
    "2.9 KB (3000 bytes)",
  ]);
});
