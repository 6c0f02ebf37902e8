import { existsSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../support/temporary-folder.ts";

/** What install.sh calls, but for what fetches and what verifies. */
export const SCRIPT_TOOLS =
  "sh id uname tar gzip sed mktemp dirname df awk getconf cat cp rm mv chmod mkdir rmdir sha256sum base64 sync".split(
    " ",
  );

/** A folder that has only these programs of this machine, for PATH. */
export function linkTools(...names: readonly string[]): string {
  const folder = temporaryFolder();
  const folders = (process.env["PATH"] ?? "").split(":");
  for (const name of names) {
    const found = folders.map((each) => join(each, name)).find(existsSync);
    if (found !== undefined) symlinkSync(found, join(folder, name));
  }
  return folder;
}
