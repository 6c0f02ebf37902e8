import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { canInstall, newRelease, secondRelease } from "./made-release.ts";

/** The files below a folder that are not folders, in the order of their names. */
function filesOf(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => statSync(join(folder, name)).isFile())
    .sort();
}

test.skipIf(!canInstall)(
  "`npm run release` on two clones, in other folders, hours, languages and masks, makes the same bytes",
  () => {
    const names = filesOf(secondRelease);
    expect(names).toEqual(filesOf(newRelease));
    expect(names.length).toBeGreaterThan(30);
    const differing = names.filter(
      (name) => !readFileSync(join(secondRelease, name)).equals(readFileSync(join(newRelease, name))),
    );
    expect(differing).toEqual([]);
  },
);
