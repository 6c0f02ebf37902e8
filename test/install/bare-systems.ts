import { execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

/** The systems that packages are tried on, with the names that their makers gave them. */
const SUITES = { "Debian 12": "bookworm", "Debian 13": "trixie", "Ubuntu 24.04": "noble" } as const;
export type Debian = keyof typeof SUITES;
export const DEBIANS = Object.keys(SUITES) as readonly Debian[];

export const cache = join(process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "formsvc-tests");

/** What docs/install.md calls for and a bare system lacks. */
export const READERS_TOOLS =
  "apt-get update && apt-get install -y --no-install-recommends curl openssh-client && apt-get clean";

/** Makes a bare system one that can boot. */
export const INSTALL_SYSTEMD =
  "apt-get update && apt-get install -y --no-install-recommends systemd systemd-sysv && apt-get clean";

/** It only ends a download that hangs. */
const FILL_MS = 600_000;

/** All that a process in a bare system is told of this machine. */
export const ENVIRONMENT = {
  PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
  HOME: "/root",
  DEBIAN_FRONTEND: "noninteractive",
};

/**
 * Fills a copy of a bare system by a script, once in the user's cache; null, and said aloud, if that cannot be done.
 *
 * @param purpose what cannot be tested then.
 */
export function fillDebian(system: Debian, script: string, purpose: string): string | null {
  const name = `${SUITES[system]}-${createHash("sha256").update(script).digest("hex").slice(0, 12)}`;
  return makeOnce(name, purpose, (folder) => {
    const source = prepareDebian(system);
    if (source === null) return `there is no bare ${system}`;
    execFileSync("cp", ["-a", `${source}/.`, folder]);
    return failureOf("chroot", [folder, "/bin/sh", "-ec", script]);
  });
}

/**
 * Makes a bare system (`debootstrap --variant=minbase`) once in the user's cache; null, and said aloud, if that cannot be had.
 * Debian's mirror is the one that this machine's apt uses; Ubuntu's is debootstrap's own.
 */
export function prepareDebian(system: Debian): string | null {
  const suite = SUITES[system];
  return makeOnce(suite, `installing on ${system}`, (folder) => {
    const mirror = findMirror();
    const hasTool = spawnSync("debootstrap", ["--version"]).error === undefined;
    if (mirror === null || !hasTool || process.getuid?.() !== 0)
      return "needs root, debootstrap and a mirror of Debian in apt's sources";
    const bootstrap = ["--variant=minbase"];
    if (system !== "Ubuntu 24.04") return failureOf("debootstrap", [...bootstrap, suite, folder, mirror]);
    const keys = prepareUbuntuKeys();
    if (keys === null) return "its keys cannot be had";
    bootstrap.push("--force-check-gpg", `--keyring=${keys}`);
    // A debootstrap that is older than the system has no script of its name; all since 2007 are made by this one.
    return failureOf("debootstrap", [
      ...bootstrap,
      suite,
      folder,
      "",
      "/usr/share/debootstrap/scripts/gutsy",
    ]);
  });
}

/** The file of the keys that Ubuntu signs with, from a package that Debian signs. */
function prepareUbuntuKeys(): string | null {
  const name = "usr/share/keyrings/ubuntu-archive-keyring.gpg";
  const made = makeOnce("ubuntu-keys", "Ubuntu's keys", (folder) => {
    const source = prepareDebian("Debian 13");
    if (source === null) return "there is no bare Debian 13";
    const root = join(folder, "root");
    execFileSync("cp", ["-a", source, root]);
    const fetch = "apt-get update && cd /srv && apt-get download ubuntu-keyring && dpkg-deb -x *.deb .";
    const failure = failureOf("chroot", [root, "/bin/sh", "-ec", fetch]);
    if (failure === null) cpSync(join(root, "srv", name), join(folder, "keys.gpg"));
    rmSync(root, { recursive: true, force: true });
    return failure;
  });
  return made && join(made, "keys.gpg");
}

/** @returns the folder below the cache; null, and said aloud, if `make` says why it cannot be made. */
function makeOnce(name: string, purpose: string, make: (folder: string) => string | null): string | null {
  const root = join(cache, name);
  if (existsSync(root)) return root;
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, "making-"));
  const failure = make(folder);
  if (failure !== null) {
    rmSync(folder, { recursive: true, force: true });
    process.stderr.write(`SKIPPED: ${purpose}: ${failure}\n`);
    return null;
  }
  execFileSync("chmod", ["755", folder]);
  keep(folder, root);
  return root;
}

/** Gives what was made in the cache its name there; another run of the tests may have made it meanwhile. */
export function keep(folder: string, root: string): void {
  if (existsSync(root)) rmSync(folder, { recursive: true, force: true });
  else renameSync(folder, root);
}

/** Null if the command ends with 0; it may download by a proxy that the environment names. */
function failureOf(command: string, words: readonly string[]): string | null {
  const env = { ...process.env, ...ENVIRONMENT };
  const options = { encoding: "utf8", env, maxBuffer: 1 << 28, timeout: FILL_MS } as const;
  const { status, stderr, error } = spawnSync(command, words, options);
  return status === 0 ? null : `${command} ended with ${status}: ${error?.message ?? stderr.trim()}`;
}

/** Of the packages of Debian itself, not of its security updates. */
function findMirror(): string | null {
  const format = "$(ORIGIN) $(REPO_URI) $(RELEASE)";
  const { stdout } = spawnSync("apt-get", ["indextargets", "--format", format, "Created-By: Packages"], {
    encoding: "utf8",
  });
  return /^Debian (\S+\/debian\/) /m.exec(stdout)?.[1] ?? null;
}
