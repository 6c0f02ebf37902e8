import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { prepareDebian } from "./bare-systems.ts";
import { copyDebian, type DebianRoot } from "./debian-root.ts";
import { canInstall, newRelease, smallRelease, VERSION } from "./made-release.ts";
import { writeScriptRelease } from "./script-release.ts";
import { linkTools, SCRIPT_TOOLS } from "./script-tools.ts";

const PATH = process.env["PATH"] ?? "";

/** Runs install.sh with programs that stand before those of this machine. */
function install(tools: Readonly<Record<string, string>>, prefix: string, path = PATH) {
  const folder = temporaryFolder();
  for (const [name, text] of Object.entries(tools))
    writeFileSync(join(folder, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  return spawnSync("sh", [join(newRelease, "install.sh"), "--from", newRelease, "--prefix", prefix], {
    encoding: "utf8",
    env: { PATH: `${folder}:${path}`, HOME: "/" },
  });
}

test.skipIf(!canInstall).each([
  ["an old glibc", { getconf: "echo glibc 2.17" }, "this system has glibc 2.17; formsvc needs 2.28 or newer"],
  [
    "another processor",
    { uname: "case $1 in -s) echo Linux ;; *) echo riscv64 ;; esac" },
    "there is no program for Linux on riscv64",
  ],
  [
    "another system",
    { uname: "case $1 in -s) echo FreeBSD ;; *) echo amd64 ;; esac" },
    "there is no program for FreeBSD on amd64",
  ],
  ["a full disk", { df: "echo a 1 1 1024 1% /" }, "has 1 MiB free, and 256 MiB are needed"],
] as const)("%s is named, and nothing is left", (_, tools, said) => {
  const prefix = join(temporaryFolder(), "prefix");
  const ran = install(tools, prefix);
  expect(ran.stderr).toContain(said);
  expect(ran.stderr).toContain("nothing was changed");
  expect(ran.status).toBe(1);
  expect(existsSync(prefix)).toBe(false);
});

test.skipIf(!canInstall)("a missing tool is named with its package, and nothing is left", () => {
  const tools = linkTools(...SCRIPT_TOOLS.filter((name) => name !== "tar"));
  const prefix = join(temporaryFolder(), "prefix");
  const ran = install({}, prefix, tools);
  expect([ran.status, ran.stderr]).toEqual([
    1,
    "install.sh: tar is missing: install the package tar\ninstall.sh: nothing was changed\n",
  ]);
  expect(existsSync(prefix)).toBe(false);
});

test.skipIf(!canInstall)("a prefix from which nothing can be executed is named, and nothing is left", () => {
  const prefix = temporaryFolder();
  const script = `mount -t tmpfs -o noexec none ${prefix} && sh ${newRelease}/install.sh --from ${smallRelease} --prefix ${prefix}; echo $?; ls -A ${prefix}`;
  const ran = spawnSync("unshare", ["--mount", "sh", "-c", script], {
    encoding: "utf8",
    env: { PATH, HOME: "/" },
  });
  expect(ran.stderr).toContain(`${prefix}/bin may be mounted noexec: choose another folder, with --prefix`);
  expect(ran.stdout).toMatch(/\n1\n$/);
});

test.skipIf(!canInstall)("a prefix of somebody else is refused, and nothing is left", () => {
  const folder = temporaryFolder();
  execFileSync("chmod", ["755", folder]);
  const words = ["sh", "-s", "--", "--from", newRelease, "--prefix", join(folder, "prefix")];
  const ran = spawnSync("setpriv", ["--reuid", "65534", "--regid", "65534", "--clear-groups", ...words], {
    encoding: "utf8",
    input: execFileSync("cat", [join(newRelease, "install.sh")]),
    env: { PATH, HOME: "/" },
  });
  expect(ran.stderr).toContain(`may not write to ${folder}: run as its owner, or name another --prefix`);
  expect([ran.status, existsSync(join(folder, "prefix"))]).toEqual([1, false]);
});

test.skipIf(!canInstall).for([
  [
    "without the C++ library",
    "rm /usr/lib/*/libstdc++.so.6*",
    "/srv/new",
    "the C++ library is missing: install libstdc++6 (Debian, Ubuntu) or libstdc++ (Fedora)",
  ],
  [
    "with neither curl nor wget",
    "! command -v curl && ! command -v wget",
    "https://127.0.0.1:9",
    "curl and wget are missing: install one of them, or download the files of the release and name their folder with --from",
  ],
] as const)(
  "on a bare Debian %s the script says so, and nothing is left",
  { timeout: 900_000 },
  ([, lack, from, said], { skip }) => {
    const root = copyDebian(prepareDebian("Debian 12") ?? skip("no bare Debian"));
    root.mustRun(lack);
    const ran = root.run(`sh /srv/new/install.sh --from ${from} --prefix /opt/own`);
    // The folder of the root has no list of mounts, of which df warns.
    expect([ran.status, ran.stderr.replace(/^df: .*\n/m, "")]).toEqual([
      1,
      `install.sh: ${said}\ninstall.sh: nothing was changed\n`,
    ]);
    expect(root.run("ls -A /opt").stdout).toBe("");
  },
);

/** A program of the system that needs libatomic, which is missing, in the place of a library that is there. */
function needingLibatomic(root: DebianRoot): Buffer {
  const program = readFileSync(join(root.path, "usr/bin/id"), "latin1");
  const changed = program.replaceAll("libselinux.so.1\0", "libatomic.so.1\0\0");
  if (changed === program) throw new Error("id needs no libselinux.so.1 there");
  return Buffer.from(changed, "latin1");
}

test.skipIf(!canInstall).for(["Debian 12", "Debian 13"] as const)(
  "on a bare %s a program that needs libatomic is refused with the package's name, and nothing is left",
  { timeout: 900_000 },
  (system, { skip }) => {
    const root = copyDebian(prepareDebian(system) ?? skip("no bare Debian"));
    writeScriptRelease(join(root.path, "srv/own"), VERSION, needingLibatomic(root));
    const ran = root.run("sh /srv/new/install.sh --from /srv/own --prefix /opt/own");
    expect([ran.status, ran.stderr.replace(/^df: .*\n/m, "")]).toEqual([
      1,
      "install.sh: libatomic.so.1 is missing: install libatomic1 (Debian, Ubuntu) or libatomic (Fedora)\ninstall.sh: nothing was changed\n",
    ]);
    expect(root.run("ls -A /opt").stdout).toBe("");
  },
);

/**
 * A bare system with musl in place of glibc, like Alpine, from Debian's static busybox and its musl; null, and said aloud, if
 * these cannot be had.
 */
function prepareMusl(): string | null {
  const root = join(process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "formsvc-tests/musl");
  if (existsSync(root)) return root;
  mkdirSync(dirname(root), { recursive: true });
  const folder = mkdtempSync(`${root}-making-`);
  const made = spawnSync(
    "sh",
    [
      "-ec",
      'cd "$1" && apt-get download -qq busybox-static musl && for deb in *.deb; do dpkg-deb --extract "$deb" .; rm "$deb"; done; mkdir -p bin srv tmp dev && mknod -m 666 dev/null c 1 3 && cp usr/bin/busybox bin/ 2>/dev/null || true; for name in $(bin/busybox --list); do [ -e "bin/$name" ] || ln -s busybox "bin/$name"; done; ls lib/ld-musl-x86_64.so.1',
      "sh",
      folder,
    ],
    { encoding: "utf8" },
  );
  if (made.status !== 0) {
    process.stderr.write(`SKIPPED: a system with musl: ${made.stderr.trim()}\n`);
    execFileSync("rm", ["-rf", folder]);
    return null;
  }
  execFileSync("chmod", ["755", folder]);
  renameSync(folder, root);
  return root;
}

test.skipIf(!canInstall)(
  "on a system with musl the script says so and what to use in its place, and nothing is left",
  ({ skip }) => {
    const root = copyDebian(prepareMusl() ?? skip("no busybox-static"));
    const ran = root.run("sh /srv/new/install.sh --from /srv/new");
    expect([ran.status, ran.stderr]).toEqual([
      1,
      "install.sh: this system has musl, like Alpine; formsvc needs glibc 2.28 or newer: use the container image, or a system like Debian\ninstall.sh: nothing was changed\n",
    ]);
    expect(root.run("ls /usr/local").status).not.toBe(0);
  },
);
