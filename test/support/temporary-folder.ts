import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

export interface TemporaryFolder {
  readonly path: string;
  remove(): void;
}

/** Makes a folder. @param parent the folder that contains it */
export function makeFolder(parent: string = tmpdir()): TemporaryFolder {
  const path = mkdtempSync(join(parent, "formsvc-test-"));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

/** Makes a folder that is removed after the test. */
export function temporaryFolder(parent?: string): string {
  const folder = makeFolder(parent);
  onTestFinished(() => folder.remove());
  return folder.path;
}
