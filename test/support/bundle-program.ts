import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { ONE_SCRIPT } from "../../scripts/executable.ts";
import { asAscii, bundlePatternEngine } from "../../scripts/smaller-script.ts";
import { newest } from "./newest.ts";
import { bundle, compiledSources, snapshot, startProgram } from "./program.ts";
import { watchServer } from "./running-server.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const threadStarter = new URL("../../src/database/sqlite/start-log-thread.ts", import.meta.url).href;
const SOURCES = [
  "src",
  "scripts/executable.ts",
  "scripts/smaller-script.ts",
  "package-lock.json",
  "test/support/bundle-program.ts",
  "test/support/command-host.ts",
  "test/support/hosted-command.ts",
  "test/support/snapshot-program.ts",
];

/**
 * Bundles the sources once for all test files, if a source is newer than the bundle. A process of the bundle starts in a quarter of the
 * processor time that a process of the sources takes. Packages with native code are not bundled; they are loaded from `node_modules`.
 * Commands start from a snapshot.
 */
export default async function bundleProgram(): Promise<void> {
  const bundledAt = Math.min(newest(bundle), newest(snapshot));
  if (SOURCES.every((source) => newest(join(root, source)) < bundledAt)) return;
  const { build } = await import("esbuild");
  // Another run of the tests may be reading the old bundle, so the new one is written to another file and then renamed.
  const fresh = `${bundle}.${process.pid}`;
  try {
    await build({
      ...ONE_SCRIPT,
      absWorkingDir: root,
      entryPoints: ["src/main.ts"],
      outfile: fresh,
      external: ["better-sqlite3", "@node-rs/argon2"],
      plugins: [bundlePatternEngine()],
      // Only one module starts a thread. It must find the script of the thread among the sources.
      define: { "import.meta.url": JSON.stringify(threadStarter) },
      logLevel: "warning",
    });
    // As ASCII, the bundle takes half as many bytes in memory, so each process has less to read.
    writeFileSync(fresh, asAscii(readFileSync(fresh, "utf8")));
    renameSync(fresh, bundle);
    await compileServer();
    await takeSnapshot();
  } finally {
    rmSync(fresh, { force: true });
  }
}

/**
 * Starts a server of the new bundle and stops it. The first process that ends by itself decides which compiled code Node keeps of a script,
 * for all that follow, and after a command each start of a server takes a quarter more processor time.
 */
async function compileServer(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "formsvc-compile-"));
  try {
    const env = { NODE_COMPILE_CACHE: compiledSources };
    const server = await watchServer(startProgram(folder, ["serve", "--port", "0"], { env }));
    await server.stop();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Makes the snapshot. If it cannot be made, because a source holds something that a snapshot cannot hold, commands start from the bundle.
 */
async function takeSnapshot(): Promise<void> {
  const { makeSnapshot } = await import("./snapshot-program.ts");
  try {
    await makeSnapshot(root, snapshot);
  } catch (error) {
    rmSync(snapshot, { force: true });
    const reason = (error as Error).message.slice(0, LONGEST_REASON);
    process.stderr.write(
      `SLOWER: there is no snapshot of the commands; see snapshot-program.ts. ${reason}\n`,
    );
  }
}

/** The longest part of an error that is shown, in characters: Node writes out every object that it could not keep. */
const LONGEST_REASON = 2000;
