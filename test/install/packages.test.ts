import { execFileSync, spawn, spawnSync, type SpawnSyncReturns } from "node:child_process";
import { createHash } from "node:crypto";
import {
  appendFileSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, relative } from "node:path";
import { expect, test } from "vitest";
import { collect } from "../support/program.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { canInstall, newRelease, VERSION } from "./made-release.ts";

const name = `formsvc_${VERSION}_amd64.deb`;
const deb = join(newRelease, name);

function run(tool: string, ...args: string[]): SpawnSyncReturns<string> {
  return spawnSync(tool, args, { encoding: "utf8", env: { PATH: process.env["PATH"], LC_ALL: "C" } });
}

/** Says aloud what is not tested because a tool is missing. */
function canRun(...tools: string[]): boolean {
  const missing = canInstall ? tools.filter((tool) => run(tool, "--version").error !== undefined) : [];
  if (missing.length > 0) process.stderr.write(`SKIPPED: what needs ${missing.join(", ")}\n`);
  return canInstall && missing.length === 0;
}

test.skipIf(!canRun("dpkg-deb")).each(["amd64", "arm64"])(
  "the package for %s names its version, processor and libraries",
  (processor) => {
    const file = join(newRelease, `formsvc_${VERSION}_${processor}.deb`);
    const field = (which: string): string => run("dpkg-deb", "--field", file, which).stdout.trim();
    expect(field("Package")).toBe("formsvc");
    // No revision of Debian's: the package is made by the project itself, with each of its versions once.
    expect(field("Version")).toBe(VERSION);
    expect(field("Architecture")).toBe(processor);
    expect(field("Depends")).toBe("libc6 (>= 2.28), libgcc-s1 (>= 4.2), libstdc++6 (>= 5.2)");
    expect(field("Recommends")).toBe("ca-certificates");
    expect(field("Installed-Size")).toMatch(/^\d{5,6}$/);
  },
);

test.skipIf(!canRun("dpkg-deb"))(
  "the package's configuration is the owner's, and its files are root's",
  () => {
    expect(run("dpkg-deb", "--info", deb, "conffiles").stdout).toBe("/etc/formsvc/formsvc.config.json\n");
    const lines = run("dpkg-deb", "--contents", deb).stdout.trimEnd().split("\n");
    const files = new Map(lines.map((line) => [line.split(/ +/)[5] ?? "", line.split(/ +/).slice(0, 2)]));
    expect(files.get("./usr/bin/formsvc")).toEqual(["-rwxr-xr-x", "root/root"]);
    expect([...files.values()].filter(([, owner]) => owner !== "root/root")).toEqual([]);
    expect([...files.values()].filter(([mode = ""]) => /^-.{7}w|^-...s/.test(mode))).toEqual([]);
    for (const file of [
      "./etc/formsvc/formsvc.config.json",
      "./usr/lib/systemd/system/formsvc.service",
      "./usr/lib/systemd/system/formsvc.socket",
      "./usr/share/bash-completion/completions/formsvc",
      "./usr/share/man/man1/formsvc.1.gz",
    ])
      expect([file, files.get(file)]).toEqual([file, ["-rw-r--r--", "root/root"]]);
  },
);

test.skipIf(!canRun("lintian"))(
  "lintian finds nothing in the packages but what is overridden for Node itself, and that Debian has no zstd",
  // It reads every byte of the executable.
  { timeout: 900_000 },
  async () => {
    const look = async (processor: string): Promise<string[]> => {
      const file = join(newRelease, `formsvc_${VERSION}_${processor}.deb`);
      const env = { PATH: process.env["PATH"], LC_ALL: "C" };
      // Most of its work: what it thinks of the spelling is not shown without --display-info, and each library in Node is overridden.
      const left = "binaries/spelling,libraries/embedded";
      const words = ["--pedantic", "--show-overrides", "--dont-check-part", left];
      const child = spawn("lintian", [...words, file], { env });
      return (await collect(child)).stdout.trimEnd().split("\n");
    };
    for (const told of await Promise.all([look("amd64"), look("arm64")])) {
      const tags = told.map((line) => /^(\w): formsvc: (\S+)/.exec(line)?.slice(1, 3).join(" ") ?? line);
      expect(
        [...new Set(tags)].filter(
          (tag) =>
            !/^O (?:unstripped-binary-or-object|hardening-no-pie)$/.test(tag) &&
            tag !== "E malformed-deb-archive",
        ),
      ).toEqual([]);
      expect(told.filter((line) => line.startsWith("E")).join("\n")).toMatch(
        /^$|^E: formsvc: malformed-deb-archive third \(official\) member data\.tar\.zst not data\.tar\.\S+$/,
      );
    }
  },
);

test.skipIf(!canRun("systemd-analyze", "dpkg-deb"))(
  "systemd finds no fault with the units in the package, and little exposure",
  () => {
    const folder = temporaryFolder();
    execFileSync("dpkg-deb", ["--extract", deb, folder]);
    const units = join(folder, "usr/lib/systemd/system");
    const printed = run(join(folder, "usr/bin/formsvc"), "systemd").stdout;
    expect(readFileSync(join(units, "formsvc.service"), "utf8")).toBe(
      printed.replaceAll(`${folder}/usr/bin/formsvc`, "/usr/bin/formsvc"),
    );
    // The program is where the unit names it only once the package is installed.
    const service = join(units, "formsvc.service");
    expect(readFileSync(service, "utf8")).toContain("\nDynamicUser=yes\n");
    writeFileSync(
      service,
      readFileSync(service, "utf8").replaceAll("/usr/bin/formsvc", `${folder}/usr/bin/formsvc`),
    );
    const verified = run("systemd-analyze", "verify", service, join(units, "formsvc.socket"));
    expect([verified.status, verified.stderr]).toEqual([0, ""]);
    const { stdout } = run("systemd-analyze", "security", "--offline=true", "--no-pager", service);
    const exposure = Number(/exposure level for formsvc\.service: (\d+\.\d)/.exec(stdout)?.[1]);
    expect(exposure).toBeLessThanOrEqual(2);
  },
);

/** A copy of a text with one more line, whose signature is then wrong. */
function changed(folder: string, file: string): string {
  const copy = join(folder, "changed");
  cpSync(file, copy);
  appendFileSync(copy, "\n");
  return copy;
}

/** The key of the repository as gpgv reads it, not in letters; apt does this itself. */
function binaryKey(folder: string): string {
  const file = join(folder, "key.gpg");
  const letters = readFileSync(join(newRelease, "apt/formsvc-archive-key.asc"), "latin1");
  const lines = letters.split("\n");
  const body = lines.slice(lines.indexOf("") + 1).filter((line) => /^[A-Za-z0-9+/]/.test(line));
  writeFileSync(file, Buffer.from(body.join(""), "base64"));
  return file;
}

test.skipIf(!canRun("ssh-keygen"))("ssh-keygen accepts the checksums as they are, and refuses others", () => {
  const folder = temporaryFolder();
  const allowed = join(folder, "allowed-signers");
  writeFileSync(allowed, `formsvc ${readFileSync(join(newRelease, "release.pub"), "utf8")}`);
  const sums = join(newRelease, "SHA256SUMS");
  const verify = (file: string, namespace: string): number | null =>
    spawnSync(
      "ssh-keygen",
      ["-Y", "verify", "-f", allowed, "-I", "formsvc", "-n", namespace, "-s", `${sums}.sig`],
      { input: readFileSync(file) },
    ).status;
  expect(verify(sums, "formsvc")).toBe(0);
  expect(verify(sums, "file")).not.toBe(0);
  expect(verify(changed(folder, sums), "formsvc")).not.toBe(0);
});

test.skipIf(!canInstall)("the signed list covers every file of the image, as it is", () => {
  const sha256 = (file: string): string =>
    createHash("sha256")
      .update(readFileSync(join(newRelease, file)))
      .digest("hex");
  const linesOf = (file: string): string[] =>
    readFileSync(join(newRelease, file), "utf8").trimEnd().split("\n");
  expect(linesOf("SHA256SUMS")).toContain(`${sha256("image.sha256")}  image.sha256`);
  const files = readdirSync(join(newRelease, "image"), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name: file }) => relative(newRelease, join(parentPath, file)));
  expect(files.length).toBeGreaterThan(5);
  expect(linesOf("image.sha256")).toEqual(files.sort().map((file) => `${sha256(file)}  ${file}`));
});

test.skipIf(!canRun("gpgv", "sqv")).each(["gpgv", "sqv"])(
  "%s accepts the checksums and the apt repository as they are, and refuses others",
  (tool) => {
    const folder = temporaryFolder();
    const key = tool === "gpgv" ? binaryKey(folder) : join(newRelease, "apt/formsvc-archive-key.asc");
    const stable = join(newRelease, "apt/dists/stable");
    const verify = (...files: string[]): number | null => run(tool, "--keyring", key, ...files).status;
    for (const [signature, file] of [
      [join(newRelease, "SHA256SUMS.asc"), join(newRelease, "SHA256SUMS")],
      [join(stable, "Release.gpg"), join(stable, "Release")],
    ] as const) {
      expect([file, verify(signature, file)]).toEqual([file, 0]);
      expect([file, verify(signature, changed(folder, file))]).not.toEqual([file, 0]);
    }
    if (tool === "gpgv") expect(verify(join(stable, "InRelease"))).toBe(0);
  },
);

test.skipIf(!canRun("apt-get"))(
  "apt refuses the repository if a list, the package's bytes or the signature is another one",
  () => {
    const folder = temporaryFolder();
    const state = join(folder, "state");
    const repository = join(folder, "apt");
    const sources = join(folder, "sources.list");
    const key = "formsvc-archive-key.asc";
    writeFileSync(sources, `deb [signed-by=${folder}/${key}] file:${repository} stable main\n`);
    cpSync(join(newRelease, "apt", key), join(folder, key));
    const options = [
      `Dir::Etc::SourceList=${sources}`,
      "Dir::Etc::SourceParts=/nowhere",
      `Dir::State=${state}`,
      `Dir::Cache=${state}/cache`,
      `Dir::State::status=${state}/status`,
      "APT::Sandbox::User=root",
      "APT::Architecture=amd64",
      "APT::Architectures=amd64",
    ].flatMap((option) => ["-o", option]);
    /** What apt says of a copy of the repository after a change. */
    const told = (change: () => void): string => {
      execFileSync("rm", ["-rf", state, repository]);
      execFileSync("mkdir", ["-p", `${state}/lists/partial`, `${state}/cache/archives/partial`]);
      writeFileSync(join(state, "status"), "");
      cpSync(join(newRelease, "apt/dists"), join(repository, "dists"), { recursive: true });
      mkdirSync(dirname(join(repository, pool)), { recursive: true });
      symlinkSync(deb, join(repository, pool));
      change();
      const updated = run("apt-get", ...options, "update", "--error-on=any");
      if (updated.status !== 0) return updated.stderr;
      const got = spawnSync("apt-get", [...options, "download", "formsvc"], { cwd: state, encoding: "utf8" });
      return got.status === 0 ? "downloaded" : got.stderr;
    };
    const pool = `pool/main/f/formsvc/${name}`;
    const append = (path: string) => (): void => {
      const file = join(repository, path);
      const bytes = readFileSync(file);
      // Not through a link.
      rmSync(file);
      writeFileSync(file, bytes);
      appendFileSync(file, "\n");
    };
    expect(told(() => {})).toBe("downloaded");
    expect(told(append("dists/stable/main/binary-amd64/Packages.gz"))).toMatch(/size|hash/i);
    expect(told(append(pool))).toMatch(/size|hash/i);
    const release = join(repository, "dists/stable/InRelease");
    expect(
      told(() => writeFileSync(release, readFileSync(release, "utf8").replace("Label: formsvc", "Label: x"))),
    ).toMatch(/signature|BADSIG/i);
  },
);

test.skipIf(!canRun("reprepro", "gpg"))(
  "reprepro takes the repository over with its signature, makes the same list of packages of it, and refuses a changed one",
  () => {
    const folder = temporaryFolder();
    const home = join(folder, "gpg");
    execFileSync("mkdir", ["-m", "700", home]);
    run("gpg", "--homedir", home, "--import", join(newRelease, "apt/formsvc-archive-key.asc"));
    const keys = run("gpg", "--homedir", home, "--list-keys", "--with-colons").stdout;
    const [, key = "no key"] = /^pub:(?:[^:]*:){3}([^:]+)/m.exec(keys) ?? [];
    /** Another repository, which reprepro makes from this one. */
    const update = (from: string): { readonly base: string; readonly status: number | null } => {
      const base = join(folder, `from-${from.length}`);
      execFileSync("mkdir", ["-p", join(base, "conf")]);
      writeFileSync(
        join(base, "conf/distributions"),
        "Codename: stable\nSuite: stable\nArchitectures: amd64 arm64\nComponents: main\nUpdate: formsvc\n",
      );
      writeFileSync(
        join(base, "conf/updates"),
        `Name: formsvc\nMethod: file:${from}\nSuite: stable\nVerifyRelease: ${key}\n`,
      );
      return { base, status: run("reprepro", "-b", base, "--gnupghome", home, "update").status };
    };
    const own = join(newRelease, "apt");
    const { base, status } = update(own);
    expect(status).toBe(0);
    for (const processor of ["amd64", "arm64"]) {
      const list = `dists/stable/main/binary-${processor}/Packages`;
      // It adds two sums that nobody trusts any more.
      const made = readFileSync(join(base, list), "utf8").replace(/^(?:SHA1|MD5sum): .*\n/gm, "");
      expect(made.trim()).toBe(readFileSync(join(own, list), "utf8").trim());
      const pool = `pool/main/f/formsvc/formsvc_${VERSION}_${processor}.deb`;
      expect(readFileSync(join(base, pool)).equals(readFileSync(join(own, pool)))).toBe(true);
    }
    const changed = join(folder, "changed-repository");
    cpSync(join(own, "dists"), join(changed, "dists"), { recursive: true });
    symlinkSync(join(own, "pool"), join(changed, "pool"));
    for (const name of ["InRelease", "Release"]) {
      const file = join(changed, "dists/stable", name);
      writeFileSync(file, readFileSync(file, "utf8").replace("Label: formsvc", "Label: x"));
    }
    expect(update(changed).status).not.toBe(0);
  },
);
