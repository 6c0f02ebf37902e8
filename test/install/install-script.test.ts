import { execFileSync, spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { type Debian, DEBIANS, prepareDebian } from "./bare-systems.ts";
import { copyDebian } from "./debian-root.ts";
import {
  canInstall,
  newRelease,
  oldSmallRelease,
  OLD_VERSION,
  smallRelease,
  VERSION,
} from "./made-release.ts";

const archive = `formsvc-${VERSION}-linux-x64.tar.gz`;
const roots = new Map<Debian, string | null>();
beforeAll(() => {
  for (const system of canInstall ? DEBIANS : []) roots.set(system, prepareDebian(system));
}, 600_000);

/** A copy of the small release's files, of which a test may change some. */
function copyRelease(): string {
  const folder = temporaryFolder();
  cpSync(join(newRelease, "install.sh"), join(folder, "install.sh"));
  for (const name of ["SHA256SUMS", "SHA256SUMS.sig", "SHA256SUMS.asc", archive])
    cpSync(join(smallRelease, name), join(folder, name));
  return folder;
}

function install(from: string, prefix: string, ...args: string[]) {
  return spawnSync("sh", [join(newRelease, "install.sh"), "--from", from, "--prefix", prefix, ...args], {
    encoding: "utf8",
    env: { PATH: process.env["PATH"], HOME: prefix },
  });
}

/** Everything below a folder, with what stands for the content of each file. */
function filesOf(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" }).sort();
}

const installed = (prefix: string): string =>
  execFileSync(join(prefix, "bin/formsvc"), ["version"], { encoding: "utf8" }).trim();

test.skipIf(!canInstall).for(DEBIANS)(
  "on a bare %s the script verifies with what is there, installs, upgrades and takes away",
  { timeout: 900_000 },
  (system, { skip }) => {
    const root = copyDebian(roots.get(system) ?? skip("no root"));
    expect(root.run("command -v ssh-keygen").status).not.toBe(0);
    const tool = root.run("command -v gpgv").status === 0 ? "gpgv" : "sqv";
    const first = root.mustRun("sh /srv/old/install.sh --from /srv/small/old");
    expect(first).toContain(`the signature is right (${tool})`);
    expect(root.mustRun("/usr/local/bin/formsvc version")).toBe(`${OLD_VERSION}\n`);
    root.mustRun("sh /srv/new/install.sh --from /srv/small/new --dry-run");
    expect(root.mustRun("/usr/local/bin/formsvc version")).toBe(`${OLD_VERSION}\n`);
    root.mustRun("sh /srv/new/install.sh --from /srv/small/new");
    expect(root.mustRun("/usr/local/bin/formsvc version")).toBe(`${VERSION}\n`);
    const older = root.run("sh /srv/new/install.sh --from /srv/small/old");
    expect(older).toMatchObject({
      status: 1,
      stderr: expect.stringContaining("older than the installed") as unknown,
    });
    root.mustRun(`sh /srv/new/install.sh --from /srv/small/old --version ${OLD_VERSION}`);
    expect(root.mustRun("/usr/local/bin/formsvc version")).toBe(`${OLD_VERSION}\n`);
    for (const file of ["SHA256SUMS.asc"]) {
      root.write(`srv/new/${file}`, "");
      expect(root.run("sh /srv/new/install.sh --from /srv/new").stderr).toContain(
        `signature of SHA256SUMS is wrong (${tool})`,
      );
      root.mustRun(`rm /srv/new/${file}`);
      expect(root.run("sh /srv/new/install.sh --from /srv/new").stderr).toContain(
        `the signature ${file} is missing`,
      );
    }
    root.mustRun("rm -f /usr/bin/gpgv /usr/bin/sqv");
    expect(root.run("sh /srv/new/install.sh --from /srv/new")).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(/ssh-keygen .*gpgv .*sqv/) as unknown,
    });
    root.mustRun("sh /srv/new/install.sh --uninstall");
    expect(root.run("ls -A /usr/local/bin").stdout).toBe("");
  },
);

test.skipIf(!canInstall)(
  "without root the script installs to ~/.local/bin, may be run again, refuses another version, and takes away",
  { timeout: 900_000 },
  () => {
    const release = copyRelease();
    const home = temporaryFolder();
    for (const folder of [release, home]) execFileSync("chmod", ["755", folder]);
    execFileSync("chown", ["65534:65534", home]);
    const asNobody = ["--reuid", "65534", "--regid", "65534", "--clear-groups"];
    const run = (...args: string[]) =>
      spawnSync("setpriv", [...asNobody, "sh", join(release, "install.sh"), ...args], {
        encoding: "utf8",
        cwd: "/",
        env: { PATH: process.env["PATH"], HOME: home },
      });
    const prefix = join(home, ".local");
    expect(run("--from", release)).toMatchObject({ status: 0 });
    expect(installed(prefix)).toBe(VERSION);
    expect(run("--from", release)).toMatchObject({ status: 0 });
    expect(run("--from", release, "--version", "9.9.9")).toMatchObject({
      status: 1,
      stderr: expect.stringContaining("9.9.9") as unknown,
    });
    expect(installed(prefix)).toBe(VERSION);
    expect(run("--uninstall")).toMatchObject({ status: 0 });
    expect(existsSync(join(prefix, "bin/formsvc"))).toBe(false);
  },
);

test.skipIf(!canInstall)(
  "a wrong checksum, signature or file leaves the old program and nothing else",
  { timeout: 900_000 },
  () => {
    const prefix = temporaryFolder();
    expect(install(oldSmallRelease, prefix, "--version", OLD_VERSION)).toMatchObject({ status: 0 });
    const before = filesOf(prefix);
    const changes: [what: (folder: string) => void, said: string][] = [
      [(folder) => truncateSync(join(folder, archive), 1_000_000), "the checksum of formsvc-"],
      [(folder) => writeFileSync(join(folder, "SHA256SUMS.sig"), ""), "signature of SHA256SUMS is wrong"],
      [(folder) => rmSync(join(folder, "SHA256SUMS.sig")), "SHA256SUMS.sig is missing"],
      [
        (folder) => cpSync(join(oldSmallRelease, "SHA256SUMS.sig"), join(folder, "SHA256SUMS.sig")),
        "signature of SHA256SUMS is wrong",
      ],
      [
        (folder) => {
          const list = readFileSync(join(folder, "SHA256SUMS"), "utf8");
          writeFileSync(
            join(folder, "SHA256SUMS"),
            list.replace(/^./, (digit) => (digit === "0" ? "1" : "0")),
          );
        },
        "signature of SHA256SUMS is wrong",
      ],
      [(folder) => rmSync(join(folder, "SHA256SUMS")), "there is no"],
    ];
    for (const [change, said] of changes) {
      const folder = copyRelease();
      change(folder);
      const ran = install(folder, prefix);
      expect(ran.stderr).toContain(said);
      expect(ran.stderr).toContain("nothing was changed");
      expect(ran.status).toBe(1);
      expect(filesOf(prefix)).toEqual(before);
      expect(installed(prefix)).toBe(OLD_VERSION);
    }
  },
);

test.skipIf(!canInstall)(
  "a dry run does every check and changes nothing, and to take away what is not there fails",
  { timeout: 900_000 },
  () => {
    const [folder, temporary] = [temporaryFolder(), temporaryFolder()];
    const prefix = join(folder, "prefix");
    const run = (...args: string[]) =>
      spawnSync("sh", [join(newRelease, "install.sh"), "--prefix", prefix, ...args], {
        encoding: "utf8",
        env: { PATH: process.env["PATH"], HOME: folder, TMPDIR: temporary },
      });
    const dry = run("--from", smallRelease, "--dry-run");
    expect([dry.status, dry.stderr]).toEqual([0, ""]);
    for (const step of [
      "checking the system",
      "the signature is right",
      "the checksum is right",
      "unpacking",
    ])
      expect(dry.stdout).toContain(step);
    expect(dry.stdout).toContain(`dry run: would install formsvc ${VERSION} as ${prefix}/bin/formsvc`);
    expect([...readdirSync(folder), ...readdirSync(temporary)]).toEqual([]);

    const damaged = copyRelease();
    truncateSync(join(damaged, archive), 1_000_000);
    expect(run("--from", damaged, "--dry-run")).toMatchObject({
      status: 1,
      stderr: expect.stringContaining("the checksum of formsvc-") as unknown,
    });
    expect([...readdirSync(folder), ...readdirSync(temporary)]).toEqual([]);
    expect(run("--uninstall")).toMatchObject({
      status: 1,
      stderr: `install.sh: there is no ${prefix}/bin/formsvc\ninstall.sh: nothing was changed\n`,
    });

    expect(run("--from", smallRelease)).toMatchObject({ status: 0 });
    const own = join(prefix, "bin/formsvc.db");
    writeFileSync(own, "the owner's");
    expect(run("--uninstall", "--dry-run").stdout).toContain("dry run: would remove");
    expect(installed(prefix)).toBe(VERSION);
    expect(run("--uninstall")).toMatchObject({ status: 0 });
    expect(filesOf(prefix)).toEqual(["bin", "bin/formsvc.db"]);
  },
);

test.skipIf(!canInstall)(
  "a disk that is full, from the start or in the middle, leaves the old program",
  { timeout: 900_000 },
  () => {
    const prefix = temporaryFolder();
    const full = (megabytes: number, script: string) =>
      spawnSync(
        "unshare",
        ["-m", "sh", "-c", `mount -t tmpfs -o size=${megabytes}m none ${prefix} && ${script}`],
        { encoding: "utf8", env: { PATH: process.env["PATH"], HOME: "/" } },
      );
    const install = `sh ${newRelease}/install.sh --from ${newRelease} --prefix ${prefix}`;
    expect(full(100, install)).toMatchObject({
      status: 1,
      stderr: expect.stringContaining("MiB are needed") as unknown,
    });
    // A df that sees more room than there is: the disk fills while the archive is unpacked.
    const tools = temporaryFolder();
    writeFileSync(join(tools, "df"), "#!/bin/sh\necho 'a 1 1 99999999 1% /'\n", { mode: 0o755 });
    const old = `mkdir ${prefix}/bin && echo old >${prefix}/bin/formsvc`;
    const ran = full(
      100,
      `${old}; PATH=${tools}:$PATH ${install}; echo $?; cat ${prefix}/bin/formsvc; ls -A ${prefix}/bin`,
    );
    expect(ran.stdout).toMatch(/\n1\nold\nformsvc\n$/);
    expect(ran.stderr).toContain("is the disk full?");
  },
);

test("wrong usage ends with 2, and a script that was cut off anywhere does nothing", () => {
  if (!canInstall) return;
  const prefix = join(temporaryFolder(), "prefix");
  for (const args of [["--nope"], ["--version"], ["--version", "1; rm"], ["--from="]]) {
    const ran = spawnSync("sh", [join(newRelease, "install.sh"), ...args], {
      encoding: "utf8",
      env: { HOME: prefix },
    });
    expect([args, ran.status, ran.stdout]).toEqual([args, 2, ""]);
  }
  // It knows where a release is, as a published one does: a call without arguments would install it.
  const script = readFileSync(join(newRelease, "install.sh"), "latin1")
    .trimEnd()
    .replace(/RELEASE_URL=.*/, `RELEASE_URL=${newRelease}`);
  expect(script).toContain(newRelease);
  const last = script.lastIndexOf("\n");
  for (const end of [
    200,
    2000,
    Math.floor(script.length / 2),
    last,
    ...Array.from({ length: script.length - last - 1 }, (_, at) => last + 1 + at),
  ]) {
    const input = script.slice(0, end);
    const ran = spawnSync("sh", ["-s", "--", "--from", newRelease, "--prefix", prefix], {
      input,
      encoding: "utf8",
      env: { PATH: process.env["PATH"] },
    });
    expect([end, ran.stdout]).toEqual([end, ""]);
  }
  expect(existsSync(prefix)).toBe(false);
  mkdirSync(prefix);
});
