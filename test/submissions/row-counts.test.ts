import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { RowCounts } from "../../src/submissions/import/row-counts.ts";

test("each of many thousand hashes is counted by itself, as its table grows", () => {
  const counts = new RowCounts();
  const hashOf = (index: number): Buffer => createHash("sha256").update(String(index)).digest();
  for (let round = 1; round <= 3; round += 1) {
    for (let index = 0; index < 20_000; index += 1) {
      if (counts.add(hashOf(index)) !== round) expect.fail(`${index} in round ${round}`);
    }
  }
  expect(counts.add(hashOf(7))).toBe(4);
});
