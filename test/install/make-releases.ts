import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { type Target, targets } from "../../scripts/executable.ts";
import {
  canFetchLibraries,
  DEBIAN_PACKAGES,
  downloadPackages,
} from "../../scripts/release/debian-libraries.ts";
import { installPackages } from "../../scripts/release/install-packages.ts";
import { openSigner, type Signer } from "../../scripts/release/sign.ts";
import {
  cache,
  DEBIANS,
  fillDebian,
  INSTALL_SYSTEMD,
  keep,
  prepareDebian,
  READERS_TOOLS,
} from "./bare-systems.ts";
import { prepareDocker } from "./docker-root.ts";
import { cloneTree, repository, runRelease, startOldRelease } from "./make-release.ts";
import {
  hasOldTables,
  markFile,
  newRelease,
  OLD_COMMIT,
  OLD_VERSION,
  oldRelease,
  oldSmallRelease,
  RELEASE_URL,
  releases,
  secondRelease,
  smallRelease,
  toldFile,
  VERSION,
} from "./made-release.ts";
import { smallProgram, writeScriptRelease } from "./script-release.ts";

const [own = ""] = process.argv.slice(2);
// The run that wants the releases is over: nothing of this goes on.
process.stdin.on("end", () => process.kill(-process.pid, "SIGKILL")).resume();
await makeReleases();
prepareSystems();
writeFileSync(markFile, own);
process.stdin.destroy();

async function makeReleases(): Promise<void> {
  const first = join(releases, "first");
  // A deeper folder, with a blank.
  const second = join(releases, "some where/else/again");
  for (const tree of [first, second]) cloneTree(tree, null);
  // The test keys, which all three look for at once.
  const signer = openSigner(Math.floor(Date.now() / 1000));
  signer.close();
  const quick = { RELEASE_COMPRESSION: "least", RELEASE_PACKAGES: preparePackages() };
  const without = { ...quick, RELEASE_SIGNING_KEY: "", RELEASE_GPG_KEY: "", SOURCE_DATE_EPOCH: "" };
  const [told] = await Promise.all([
    runRelease(first, newRelease, { ...without, RELEASE_URL }),
    runRelease(second, secondRelease, { ...without, ...otherEnvironment() }),
    prepareOldRelease(signer),
  ]);
  rmSync(join(releases, "some where"), { recursive: true });
  writeFileSync(toldFile, told);
  writeScriptRelease(smallRelease, VERSION, smallProgram(VERSION));
  writeScriptRelease(oldSmallRelease, OLD_VERSION, smallProgram(OLD_VERSION));
}

/** The packages of each platform, and of Debian for the image, which a machine fetches once for the lock file. */
function preparePackages(): string {
  const hash = createHash("sha256").update(process.version);
  const scripts = ["install-packages.ts", "debian-libraries.ts"].map((name) => `scripts/release/${name}`);
  for (const name of [...scripts, "package-lock.json", ".npmrc"])
    hash.update(readFileSync(join(repository, name)));
  const kept = join(cache, `packages-${hash.digest("hex").slice(0, 12)}`);
  if (existsSync(kept)) return kept;
  mkdirSync(cache, { recursive: true });
  const made = mkdtempSync(join(cache, "making-"));
  installPackages(repository, Object.keys(targets) as Target[], (target) => join(made, target));
  if (canFetchLibraries()) downloadPackages(["linux-x64", "linux-arm64"], join(made, DEBIAN_PACKAGES));
  keep(made, kept);
  return kept;
}

/** The version before is one commit, which a machine packs once for the keys that it signs with. */
async function prepareOldRelease({ sshPublicKey, openPgpPublicText }: Signer): Promise<void> {
  const tree = join(releases, "old");
  if (!hasOldTables) {
    process.stderr.write(`NOT TESTED: upgrades from other tables: this clone has no commit ${OLD_COMMIT}\n`);
    cloneTree(tree, "HEAD");
    return startOldRelease(tree, oldRelease, OLD_VERSION);
  }
  const maker = readFileSync(new URL("./make-old-release.ts", import.meta.url));
  const hash = createHash("sha256").update(maker);
  for (const part of [OLD_COMMIT, OLD_VERSION, process.version, sshPublicKey, openPgpPublicText])
    hash.update(`${part}\0`);
  const kept = join(cache, `old-release-${hash.digest("hex").slice(0, 12)}`);
  if (!existsSync(kept)) {
    cloneTree(tree, OLD_COMMIT);
    mkdirSync(cache, { recursive: true });
    const made = mkdtempSync(join(cache, "making-"));
    await startOldRelease(tree, made, OLD_VERSION);
    keep(made, kept);
  }
  mkdirSync(dirname(oldRelease), { recursive: true });
  execFileSync("cp", ["-a", kept, oldRelease]);
}

/** Before two files need the same one: the minutes that they take for the first time on a machine are those of other tests. */
function prepareSystems(): void {
  for (const system of DEBIANS) {
    prepareDebian(system);
    fillDebian(system, INSTALL_SYSTEMD, `systemd on ${system}`);
    fillDebian(system, READERS_TOOLS, `following docs/install.md on ${system}`);
  }
  prepareDocker();
}

/** Another hour, language and mask of permissions, and the keys as files. */
function otherEnvironment(): Record<string, string> {
  const keys = join(process.env["XDG_STATE_HOME"] ?? join(homedir(), ".local/state"), "formsvc-test-keys");
  return {
    RELEASE_URL: `${RELEASE_URL}/`,
    RELEASE_SIGNING_KEY: join(keys, "RELEASE_SIGNING_KEY"),
    RELEASE_GPG_KEY: readFileSync(join(keys, "RELEASE_GPG_KEY"), "latin1"),
    TZ: "Pacific/Apia",
    LC_ALL: "tr_TR.UTF-8",
    UMASK: "077",
  };
}
