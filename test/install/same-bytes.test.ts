import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { canInstall, newRelease, repository, VERSION } from "./made-release.ts";

/** The files below a folder that are not folders, in the order of their names. */
function filesOf(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => statSync(join(folder, name)).isFile())
    .sort();
}

const MAKE = `
  const [, made, work, release, version] = process.argv;
  const { makeExecutable, makeRelease } = await import(made);
  await makeRelease(release, await makeExecutable(work), version);
`;

/** Another place, hour, language and mask of permissions than those of the first release. */
function makeAgain(copy: string, release: string): void {
  const words = [join(copy, "test/install/make-release.ts"), join(copy, "work"), release, VERSION];
  const node = [process.execPath, "--input-type=module", "-e", MAKE, ...words];
  const { PATH, HOME } = process.env;
  const made = spawnSync("sh", ["-c", 'umask 077; exec "$@"', "sh", ...node], {
    cwd: "/",
    env: { PATH, HOME, TZ: "Pacific/Apia", LC_ALL: "tr_TR.UTF-8" },
    encoding: "utf8",
  });
  if (made.status !== 0) throw new Error(`exit ${made.status}: ${made.stderr}`);
}

test.skipIf(!canInstall)(
  "a second release, of a copy of the tree in a deeper folder with another environment, has the same bytes",
  { timeout: 900_000 },
  () => {
    // On the disk of this tree, whose packages are linked.
    const folder = mkdtempSync(join(repository, "build/second-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const copy = join(folder, "some where/else/again");
    mkdirSync(copy, { recursive: true });
    for (const name of [
      "src",
      "scripts",
      "migrations",
      "test/install",
      "package.json",
      "tsconfig.json",
      "LICENSE",
    ])
      cpSync(join(repository, name), join(copy, name), { recursive: true });
    spawnSync("cp", ["-al", join(repository, "node_modules"), join(copy, "node_modules")]);
    const release = join(folder, "release");
    makeAgain(copy, release);
    const names = filesOf(release);
    expect(names).toEqual(filesOf(newRelease));
    expect(names.length).toBeGreaterThan(15);
    const differing = names.filter(
      (name) => !readFileSync(join(release, name)).equals(readFileSync(join(newRelease, name))),
    );
    expect(differing).toEqual([]);
  },
);
