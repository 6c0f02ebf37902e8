import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { openSigner } from "../../scripts/release/sign.ts";

await makeOldRelease(process.argv.slice(2));

/** What the scripts of a clone export, as far as it is used here. */
interface Assembling {
  readonly assemble: (
    source: object,
    output: string,
    strip: null,
  ) => Promise<{ readonly inputs: readonly string[] }>;
}
interface Writing {
  readonly readExecutable: (target: string, path: string, addons: readonly string[]) => object;
  readonly writeRelease: (folder: string, executables: object, parts: object) => Promise<void>;
}

/**
 * Makes the release of a clone for Linux on x64 alone, by its own scripts and with the packages that it locked, under another
 * version.
 */
async function makeOldRelease([tree = "", release = "", version = ""]: readonly string[]): Promise<void> {
  const manifest = join(tree, "package.json");
  const text = readFileSync(manifest, "utf8");
  writeFileSync(manifest, text.replace(/"version": "[^"]+"/, `"version": "${version}"`));
  const install = ["ci", "--omit=dev", "--os=linux", "--cpu=x64", "--libc=glibc", "--no-audit", "--no-fund"];
  execFileSync("npm", install, { cwd: tree, stdio: ["ignore", "ignore", "inherit"] });
  const load = (name: string): Promise<unknown> => import(join(tree, "scripts", name));
  const { assemble } = (await load("executable.ts")) as Assembling;
  const { readExecutable, writeRelease } = (await load("release/write-release.ts")) as Writing;
  const seconds = Number(
    execFileSync("git", ["-C", tree, "log", "-1", "--format=%ct"], { encoding: "utf8" }),
  );
  const signer = openSigner(seconds);
  signer.close();
  const output = join(tree, "build/formsvc");
  mkdirSync(dirname(output));
  const source = { folder: tree, target: "linux-x64", release: { url: "", key: signer.sshPublicKey } };
  const { inputs } = await assemble(source, output, null);
  const addons = inputs.filter((input) => input.endsWith(".node")).map((input) => join(tree, input));
  await writeRelease(
    release,
    { "linux-x64": readExecutable("linux-x64", output, addons) },
    {
      version,
      seconds,
      url: "",
      license: readFileSync(join(tree, "LICENSE"), "utf8"),
      thirdParty: "none\n",
      bill: "{}\n",
    },
  );
  rmSync(tree, { recursive: true, force: true });
}
