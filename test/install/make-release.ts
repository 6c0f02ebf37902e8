import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { assemble } from "../../scripts/executable.ts";
import { openSigner } from "../../scripts/release/sign.ts";
import { readExecutable, writeRelease } from "../../scripts/release/write-release.ts";

/** What `npm run release` does of the tree that this file is in, for Linux on x64 alone, with the packages that are installed. */

const repository = fileURLToPath(new URL("../..", import.meta.url));
/** 2026-06-01: a release's own time is its commit's. */
const SECONDS = 1_780_272_000;

/** An executable with the native addons that are inside it. */
export interface Assembled {
  readonly file: string;
  readonly addons: readonly string[];
}

/** @param work an absent or old folder for what is made on the way, on the disk of the tree. */
export async function makeExecutable(work: string): Promise<Assembled> {
  rmSync(work, { recursive: true, force: true });
  mkdirSync(work, { recursive: true });
  for (const name of ["src", "package.json"])
    cpSync(join(repository, name), join(work, name), { recursive: true });
  // Not a link to the folder: where the bundler finds a package is written into the executable.
  execFileSync("cp", ["-al", `${join(repository, "node_modules")}/.`, join(work, "node_modules")]);
  const signer = openSigner(SECONDS);
  signer.close();
  const file = join(work, "formsvc");
  const release = { url: "", key: signer.sshPublicKey };
  const { inputs } = await assemble({ folder: work, target: "linux-x64", release }, file, null);
  return {
    file,
    addons: inputs.filter((input) => input.endsWith(".node")).map((input) => join(work, input)),
  };
}

export async function makeRelease(folder: string, program: Assembled, version: string): Promise<void> {
  await writeRelease(
    folder,
    { "linux-x64": readExecutable("linux-x64", program.file, program.addons) },
    {
      version,
      seconds: SECONDS,
      url: "",
      license: readFileSync(join(repository, "LICENSE"), "utf8"),
      thirdParty: "none\n",
      bill: "{}\n",
    },
  );
}
