import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

export interface TemporaryFolder {
  readonly path: string;
  remove(): void;
}

export function makeFolder(): TemporaryFolder {
  const path = mkdtempSync(join(tmpdir(), "formsvc-test-"));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

/** A folder that is gone after the test. */
export function temporaryFolder(): string {
  const folder = makeFolder();
  onTestFinished(() => folder.remove());
  return folder.path;
}
