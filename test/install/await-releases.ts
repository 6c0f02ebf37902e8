import { existsSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { inject } from "vitest";
import { failureFile, markFile } from "./made-release.ts";

/** What a file of this project does before anything else: `start-releases.ts` has begun to make what it installs. */
const own = inject("releasesOf");
const areMade = (): boolean =>
  own === null || (existsSync(markFile) && readFileSync(markFile, "utf8") === own);
while (!areMade()) {
  if (existsSync(failureFile))
    throw new Error(`no release could be made: ${readFileSync(failureFile, "utf8")}`);
  await sleep(100);
}
