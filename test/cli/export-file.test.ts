import { existsSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createExportFile } from "../../src/cli/transfer/export-file.ts";
import { openExportFolder } from "../../src/cli/transfer/export-files.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

// In a container, each process has the id of the one before.
test("an export goes on after one that was killed under the same process id, and replaces what that one left", () => {
  const folder = temporaryFolder();
  const path = join(folder, "all.zip");
  const { unfinished } = openExportFolder(folder);
  for (const left of [`${path}.unfinished-${process.pid}`, unfinished]) writeFileSync(left, "cut off");
  const archive = createExportFile(path);
  archive.text("whole");
  archive.finish();
  expect(readFileSync(path, "utf8")).toBe("whole");
  const one = createExportFile(join(folder, "cv.pdf"), unfinished);
  one.text("cv");
  one.finish();
  expect(readFileSync(join(folder, "cv.pdf"), "utf8")).toBe("cv");
  expect(existsSync(unfinished)).toBe(false);
});

test("an export is not written through a link that lies under the name of its unfinished file", () => {
  const folder = temporaryFolder();
  const [path, victim] = [join(folder, "all.zip"), join(folder, "victim")];
  writeFileSync(victim, "mine");
  symlinkSync(victim, `${path}.unfinished-${process.pid}`);
  const archive = createExportFile(path);
  archive.text("whole");
  archive.finish();
  expect([readFileSync(victim, "utf8"), readFileSync(path, "utf8")]).toEqual(["mine", "whole"]);
});
