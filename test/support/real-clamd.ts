import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { Clamd } from "../../src/files/clamd.ts";
import { until } from "./until.ts";

/** The folder with clamd: what `scripts/unpack-debian.sh` fetched, or the system's own; null skips the tests that need it. */
export const clamdRoot: string | null =
  [
    join(process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "formsvc-tests/clamd/unpacked"),
    "/",
  ].find((root) => existsSync(join(root, "usr/sbin/clamd"))) ?? null;

if (clamdRoot === null) {
  process.stderr.write(
    "SKIPPED: scanning by a real clamd, because it is not here. Run scripts/test.sh, or see there how it is fetched\n",
  );
}

/** The only virus that this clamd knows: a part of the EICAR text, at any position. */
const SIGNATURE = `Eicar-Own:0:*:${Buffer.from("EICAR-STANDARD-ANTIVIRUS-TEST-FILE").toString("hex")}\n`;

/** Starts clamd with one signature of our own, as the current user, on a socket in its own folder. It ends with the test. */
export async function startClamd(streamMaxBytes = 10_485_760) {
  const root = clamdRoot ?? "/";
  // The path of a socket must be short.
  const folder = mkdtempSync(join(tmpdir(), "clamd-"));
  const path = join(folder, "clamd.ctl");
  mkdirSync(join(folder, "db"));
  writeFileSync(join(folder, "db/own.ndb"), SIGNATURE);
  const settings = [
    `LocalSocket ${path}`,
    `DatabaseDirectory ${join(folder, "db")}`,
    `TemporaryDirectory ${folder}`,
    "Foreground yes",
    `StreamMaxLength ${streamMaxBytes}`,
  ];
  writeFileSync(join(folder, "clamd.conf"), `${settings.join("\n")}\n`);
  const child = spawn(join(root, "usr/sbin/clamd"), ["-c", join(folder, "clamd.conf")], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, LD_LIBRARY_PATH: librariesOf(root) },
  });
  const said: string[] = [];
  for (const output of [child.stdout, child.stderr]) output.on("data", (text) => said.push(String(text)));
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  onTestFinished(async () => {
    child.kill();
    await ended;
    rmSync(folder, { recursive: true });
  });
  const clamd = new Clamd({ path });
  await until(async () => {
    if (child.exitCode !== null) throw new Error(`clamd ended: ${said.join("")}`);
    return clamd.version().catch(() => undefined);
  });
  return { clamd, url: `unix:${path}` };
}

/** Lists the folders of libraries from the unpacked packages, as a value of `LD_LIBRARY_PATH`. */
function librariesOf(root: string): string {
  if (root === "/") return process.env["LD_LIBRARY_PATH"] ?? "";
  const triplets = readdirSync(join(root, "usr/lib")).filter((name) => name.includes("-linux-"));
  return ["usr/lib", ...triplets.map((name) => `usr/lib/${name}`)].map((path) => join(root, path)).join(":");
}
