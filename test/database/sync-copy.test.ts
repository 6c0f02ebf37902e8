import { writeFileSync } from "node:fs";
import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, test } from "vitest";
import { createCopySync } from "../../src/database/sqlite/sync-copy.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const PAGES = 20_000;

test("a copy is never more than some pages ahead of the disk, and at its end of hardly any", async () => {
  const file = `${temporaryFolder()}/copy`;
  writeFileSync(file, "");
  let copied = 0;
  let kept = 0;
  let syncs = 0;
  // The disk keeps what was written when the sync began, some turns later.
  const sync = createCopySync(file, async () => {
    const written = copied;
    syncs += 1;
    for (let turn = 0; turn < 50; turn += 1) await nextTurn();
    kept = written;
  });
  let ahead = 0;
  while (copied < PAGES) {
    if (sync.mayGoOn(copied, PAGES - copied)) copied += Math.min(20, PAGES - copied);
    ahead = Math.max(ahead, copied - kept);
    await nextTurn();
  }
  expect(ahead).toBeLessThanOrEqual(1024 + 20);
  expect(PAGES - kept).toBeLessThanOrEqual(64 + 20);
  expect(syncs).toBeLessThan(100);
  await sync.close();
});

test("a copy that begins again waits for the disk again, and one whose file cannot be opened goes on", async () => {
  const file = `${temporaryFolder()}/copy`;
  const without = createCopySync(file);
  expect(without.mayGoOn(9000, 100)).toBe(true);
  await without.close();
  writeFileSync(file, "");
  const sync = createCopySync(file, () => Promise.resolve());
  expect(sync.mayGoOn(2000, 9000)).toBe(false);
  await nextTurn();
  expect(sync.mayGoOn(2000, 9000)).toBe(true);
  expect(sync.mayGoOn(20, 9000)).toBe(true);
  expect(sync.mayGoOn(1900, 9000)).toBe(false);
  await sync.close();
});
