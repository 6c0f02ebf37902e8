import { expect, test } from "vitest";
import { isFileList, sizeText, valueText } from "../../src/foundation/file-list.ts";

const cv = {
  id: "fil_01jzzzzzzzzzzzzzzzzzzzzzzz",
  name: "cv.pdf",
  size: 49_152,
  type: "application/pdf",
  sha256: "00",
};

test("mails, chats and lists tell of files by their names and sizes, and of other values as before", () => {
  expect(valueText([cv, { ...cv, name: "me.png", size: 5_452_595 }])).toBe("cv.pdf (48 KB), me.png (5.2 MB)");
  const states = ["scanning", "unscanned", "deleted", "infected"].map((state) =>
    Object.assign({ state }, cv),
  );
  expect(valueText([...states, { ...cv, state: "infected", verdict: "Eicar" }])).toBe(
    "cv.pdf (48 KB, being scanned for viruses), cv.pdf (48 KB, not scanned for viruses), cv.pdf (48 KB, not kept any more), " +
      "cv.pdf (48 KB, deleted: it had a virus), cv.pdf (48 KB, deleted: it had the virus Eicar)",
  );
  expect(valueText("a")).toBe("a");
  expect(valueText([1, { a: 2 }])).toBe('[1,{"a":2}]');
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
  expect([0, 1, 1023, 1024, 1_048_575, 1_048_576, 26_214_400, 1_610_612_736].map(sizeText)).toEqual([
    "0 bytes",
    "1 byte",
    "1023 bytes",
    "1 KB",
    "1024 KB",
    "1 MB",
    "25 MB",
    "1.5 GB",
  ]);
});
