import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { openSigner } from "../../scripts/release/sign.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import {
  canInstall,
  newRelease,
  oldSmallRelease,
  OLD_VERSION,
  smallRelease,
  VERSION,
} from "./made-release.ts";
import { linkTools, SCRIPT_TOOLS } from "./script-tools.ts";

const archive = (version: string): string => `formsvc-${version}-linux-x64.tar.gz`;
/** What verifies, and the signature that it reads. */
const VERIFIERS = [
  ["ssh-keygen", "SHA256SUMS.sig"],
  ["gpgv", "SHA256SUMS.asc"],
  ["sqv", "SHA256SUMS.asc"],
] as const;

/** Runs install.sh on a system that has no verifier but this one. */
function install(verifier: string | null, from: string, prefix: string, ...args: string[]) {
  const PATH = linkTools(...SCRIPT_TOOLS, ...(verifier === null ? [] : [verifier]));
  return spawnSync("sh", [join(newRelease, "install.sh"), "--from", from, "--prefix", prefix, ...args], {
    encoding: "utf8",
    env: { PATH, HOME: prefix },
  });
}

/** The files of the release that the script reads, of which a test may change some. */
function copyRelease(): string {
  const folder = temporaryFolder();
  for (const name of ["SHA256SUMS", "SHA256SUMS.sig", "SHA256SUMS.asc", archive(VERSION)])
    copyFileSync(join(smallRelease, name), join(folder, name));
  return folder;
}

/** Signs the list as it is with somebody else's keys: each signature is a good one. */
function signAsStranger(folder: string): void {
  const state = temporaryFolder();
  const before = process.env["XDG_STATE_HOME"];
  process.env["XDG_STATE_HOME"] = state;
  onTestFinished(() => {
    if (before === undefined) delete process.env["XDG_STATE_HOME"];
    else process.env["XDG_STATE_HOME"] = before;
  });
  const signer = openSigner(Math.floor(Date.now() / 1000));
  const list = readFileSync(join(folder, "SHA256SUMS"), "utf8");
  writeFileSync(join(folder, "SHA256SUMS.sig"), signer.signWithSsh(list));
  writeFileSync(join(folder, "SHA256SUMS.asc"), signer.signWithOpenPgp(list, "detached"));
  signer.close();
}

describe.skipIf(!canInstall).each(VERIFIERS)("with %s alone", (verifier, signature) => {
  const isThere = spawnSync(verifier, ["--version"]).error === undefined;
  if (!isThere) process.stderr.write(`SKIPPED: install.sh with ${verifier} alone: it is not installed\n`);

  test.skipIf(!isThere)("the script verifies the release, and installs it", { timeout: 900_000 }, () => {
    const prefix = join(temporaryFolder(), "prefix");
    const ran = install(verifier, smallRelease, prefix);
    expect([ran.status, ran.stderr]).toEqual([0, ""]);
    expect(ran.stdout).toContain(`the signature is right (${verifier})`);
    const { stdout } = spawnSync(join(prefix, "bin/formsvc"), ["version"], { encoding: "utf8" });
    expect(stdout).toBe(`${VERSION}\n`);
  });

  test.skipIf(!isThere)(
    "a stranger's signature, that of another list, an empty, damaged or missing one and a changed list are refused",
    { timeout: 900_000 },
    () => {
      const prefix = temporaryFolder();
      expect(install(verifier, oldSmallRelease, prefix, "--version", OLD_VERSION)).toMatchObject({
        status: 0,
      });
      const wrong = `the signature of SHA256SUMS is wrong (${verifier}): do not use these files`;
      const change = (file: string, text: (before: string) => string) => (folder: string) =>
        writeFileSync(join(folder, file), text(readFileSync(join(folder, file), "latin1")), "latin1");
      const changes: readonly [what: (folder: string) => void, said: string][] = [
        [signAsStranger, wrong],
        [(folder) => copyFileSync(join(oldSmallRelease, signature), join(folder, signature)), wrong],
        [change(signature, () => ""), wrong],
        [change(signature, (text) => text.slice(0, text.length / 2)), wrong],
        [change("SHA256SUMS", (text) => text.replace(/^./, (digit) => (digit === "0" ? "1" : "0"))), wrong],
        [change("SHA256SUMS", (text) => `${text}\n`), wrong],
        [
          (folder) => rmSync(join(folder, signature)),
          `the signature ${signature} is missing: do not use these files`,
        ],
      ];
      for (const [what, said] of changes) {
        const folder = copyRelease();
        what(folder);
        const ran = install(verifier, folder, prefix);
        expect([ran.status, ran.stderr]).toEqual([
          1,
          `install.sh: ${said}\ninstall.sh: nothing was changed\n`,
        ]);
        expect(readdirSync(prefix, { recursive: true })).toEqual(["bin", "bin/formsvc"]);
      }
      const { stdout } = spawnSync(join(prefix, "bin/formsvc"), ["version"], { encoding: "utf8" });
      expect(stdout).toBe(`${OLD_VERSION}\n`);
    },
  );
});

test.skipIf(!canInstall)(
  "with none of them the script refuses, and names all three with their packages",
  () => {
    const prefix = join(temporaryFolder(), "prefix");
    const ran = install(null, smallRelease, prefix);
    expect([ran.status, ran.stderr]).toEqual([
      1,
      "install.sh: nothing can verify the signature: install one of ssh-keygen (package openssh-client), gpgv (gpgv) or sqv (sqv)\ninstall.sh: nothing was changed\n",
    ]);
    expect(existsSync(prefix)).toBe(false);
  },
);
