import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

export interface TemporaryFolder {
  readonly path: string;
  remove(): void;
}

/** @param parent the folder that it is in. */
export function makeFolder(parent: string = tmpdir()): TemporaryFolder {
  const path = mkdtempSync(join(parent, "formsvc-test-"));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

/** A folder that is gone after the test. */
export function temporaryFolder(parent?: string): string {
  const folder = makeFolder(parent);
  onTestFinished(() => folder.remove());
  return folder.path;
}
