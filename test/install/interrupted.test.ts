import { execFileSync, spawn, spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { collect, whenEnded } from "../support/program.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { until } from "../support/until.ts";
import {
  canInstall,
  newRelease,
  oldSmallRelease,
  OLD_VERSION,
  smallRelease,
  VERSION,
} from "./made-release.ts";
import { linkTools, SCRIPT_TOOLS } from "./script-tools.ts";

const script = join(newRelease, "install.sh");
const versionOf = (prefix: string): string =>
  execFileSync(join(prefix, "bin/formsvc"), ["version"], { encoding: "utf8" }).trim();

/** Runs the script to its end. */
function install(from: string, prefix: string, ...args: string[]) {
  const env = { PATH: process.env["PATH"], HOME: prefix };
  return spawnSync("sh", [script, "--from", from, "--prefix", prefix, ...args], { encoding: "utf8", env });
}

/** Starts the script as a terminal does: in a group of processes, which a signal reaches as a whole. */
function startInstall(from: string, prefix: string) {
  const env = { PATH: process.env["PATH"], HOME: prefix };
  const child = spawn("sh", [script, "--from", from, "--prefix", prefix], {
    detached: true,
    env,
    stdio: ["ignore", "pipe", "ignore"],
  });
  let told = "";
  child.stdout.on("data", (part: Buffer) => (told += String(part)));
  return {
    told: () => told,
    hasEnded: () => child.exitCode !== null || child.signalCode !== null,
    async signal(name: NodeJS.Signals): Promise<number | null> {
      try {
        process.kill(-(child.pid ?? 0), name);
      } catch {
        // It has ended by itself.
      }
      return whenEnded(child);
    },
  };
}

/** Serves a release, and holds the last part of the archive back. */
async function serveHalf(): Promise<{ readonly from: string; readonly isHeld: () => boolean }> {
  let isHeld = false;
  const server = createServer((request, response) => {
    const content = readFileSync(join(smallRelease, request.url ?? "/"));
    response.writeHead(200, { "content-length": content.length });
    if (request.url?.endsWith(".tar.gz") === true)
      response.write(content.subarray(0, 1_000_000), () => (isHeld = true));
    else response.end(content);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return { from: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, isHeld: () => isHeld };
}

/** What the script says in its order; the last step is the rename. */
const STEPS = [
  "checking the system",
  "fetching SHA256SUMS",
  "the signature is right",
  "fetching formsvc-",
  "the checksum is right",
  "unpacking",
];

test.skipIf(!canInstall)(
  "a script that is killed at any step leaves a whole program, and the next run removes what it left",
  { timeout: 900_000 },
  async () => {
    const prefix = temporaryFolder();
    for (const step of STEPS) {
      expect(install(oldSmallRelease, prefix, "--version", OLD_VERSION)).toMatchObject({ status: 0 });
      expect(readdirSync(join(prefix, "bin"))).toEqual(["formsvc"]);
      const running = startInstall(newRelease, prefix);
      await until(() => running.told().includes(step) || running.hasEnded());
      await running.signal("SIGKILL");
      expect([OLD_VERSION, VERSION]).toContain(versionOf(prefix));
    }
  },
);

test.skipIf(!canInstall)(
  "a script that is killed in the middle of the download leaves the old program, and what another run works on stays",
  { timeout: 900_000 },
  async () => {
    const prefix = temporaryFolder();
    expect(install(oldSmallRelease, prefix, "--version", OLD_VERSION)).toMatchObject({ status: 0 });
    const [killed, other] = [await serveHalf(), await serveHalf()];
    const first = startInstall(killed.from, prefix);
    await until(killed.isHeld);
    await first.signal("SIGKILL");
    expect(versionOf(prefix)).toBe(OLD_VERSION);
    const [left = "nothing", ...more] = readdirSync(join(prefix, "bin")).filter((name) => name !== "formsvc");
    expect([left, more]).toEqual([expect.stringMatching(/^\.formsvc-install\.\d+\./), []]);

    const second = startInstall(other.from, prefix);
    await until(other.isHeld);
    expect(existsSync(join(prefix, "bin", left))).toBe(false);
    expect(install(smallRelease, prefix)).toMatchObject({ status: 0 });
    expect(versionOf(prefix)).toBe(VERSION);
    expect(readdirSync(join(prefix, "bin"))).toHaveLength(2);
    await second.signal("SIGKILL");
  },
);

test.skipIf(!canInstall).each(["SIGINT", "SIGTERM", "SIGHUP"] as const)(
  "a script that %s ends in the middle of the download leaves the old program and nothing else",
  { timeout: 900_000 },
  async (signal) => {
    const prefix = temporaryFolder();
    expect(install(oldSmallRelease, prefix, "--version", OLD_VERSION)).toMatchObject({ status: 0 });
    const half = await serveHalf();
    const running = startInstall(half.from, prefix);
    await until(half.isHeld);
    expect(await running.signal(signal)).not.toBe(0);
    expect(readdirSync(join(prefix, "bin"))).toEqual(["formsvc"]);
    expect(versionOf(prefix)).toBe(OLD_VERSION);
  },
);

test.skipIf(!canInstall).each(["curl", "wget"])(
  "a download by %s alone that is cut off leaves nothing behind, and a whole one is installed",
  { timeout: 900_000 },
  async (tool) => {
    if (spawnSync(tool, ["--version"]).error !== undefined) {
      process.stderr.write(`SKIPPED: a download by ${tool}: it is not installed\n`);
      return;
    }
    let isCut = true;
    const server = createServer((request, response) => {
      const content = readFileSync(join(smallRelease, request.url ?? "/"));
      response.writeHead(200, { "content-length": content.length });
      if (isCut && request.url?.endsWith(".tar.gz") === true)
        response.write(content.subarray(0, 1_000_000), () => response.destroy());
      else response.end(content);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void server.close());
    const from = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const prefix = join(temporaryFolder(), "prefix");
    const env = { PATH: linkTools(...SCRIPT_TOOLS, tool, "gpgv"), HOME: "/" };
    const run = () =>
      collect(
        spawn("sh", [script, "--from", from, "--prefix", prefix], { env, stdio: ["ignore", "pipe", "pipe"] }),
      );
    expect(await run()).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("cannot fetch") as unknown,
    });
    expect(existsSync(prefix)).toBe(false);
    isCut = false;
    expect(await run()).toMatchObject({ code: 0, stderr: "" });
    expect(versionOf(prefix)).toBe(VERSION);
  },
);
