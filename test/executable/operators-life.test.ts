import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));
const isBuilt = existsSync(`${root}/dist/formsvc`);
if (!isBuilt) process.stderr.write("NOT TESTED: dist/formsvc is not built (npm run build)\n");

test.skipIf(!isBuilt)(
  "install, serve, load, back up, kill, break, restore, import and upgrade lose nothing that was acknowledged",
  () => {
    const steps = execFileSync(process.execPath, [`${root}/scripts/operators-life.ts`], { encoding: "utf8" });
    expect(steps).toMatch(/^compared: what is there is what was acknowledged/m);
  },
  120_000,
);
