import { tmpdir } from "node:os";
import { defineConfig } from "vitest/config";
import { isShort } from "./faults/extent.ts";
import { compiledSources, executable } from "./support/program.ts";
import { secondTry } from "./support/second-try.ts";
import { PATIENCE_MS } from "./support/until.ts";

/** Tests of the program as its users have it. */
const OF_EXECUTABLE = ["executable", "browser"].map((folder) => `test/${folder}/**/*.test.ts`);
/** Tests of what a release installs, on bare systems. */
const OF_INSTALLING = ["test/install/**/*.test.ts"];
/** Tests that load a server as far as it goes, or break what it stands on. */
const OF_FAULTS = ["test/faults/**/*.test.ts"];
/** Files that take a whole machine, or whose bounds of time or memory hold on an idle machine alone; in the long forms, all files. */
const ALONE = isShort
  ? ["hostile-text", "overload", "webhook-receivers"].map((name) => `test/faults/${name}.test.ts`)
  : OF_FAULTS;

/** Tests of commands that hold at a distance too. */
const AT_A_DISTANCE = [
  "autoreply-commands",
  "endpoint-language",
  "export-workspace",
  "held-commands",
  "hints",
  "import-command",
  "places",
  "plan-commands",
  "refused-origins",
  "spam-commands",
  "webhook-commands",
].map((name) => `test/cli/${name}.test.ts`);

/** A third of the work of each of the hundreds of processes that these tests start, and half of what a worker needs to load modules. */
const COMPILE_CACHE = compiledSources;

/** The faults of a server on a disk, whose writes take time. */
const ON_DISK = { FORMSVC_EXECUTABLE: executable, TMPDIR: tmpdir(), NODE_COMPILE_CACHE: COMPILE_CACHE };

/**
 * Many files in one worker, which loads the product's modules once, as Node does: to load and transform them for each file is a third
 * of the work. So a file leaves the process as it found it, and modules cannot be mocked.
 */
const IN_ONE_WORKER = { isolate: false, experimental: { viteModuleRunner: false, nodeLoader: false } };
/** The same of a file that has a worker of its own. */
const IN_OWN_WORKER = { ...IN_ONE_WORKER, isolate: true };

export default defineConfig({
  test: {
    root: new URL("..", import.meta.url).pathname,
    ...secondTry(),
    // Tests wait for events, so that these end only what hangs, also on a busy machine.
    testTimeout: 2 * PATIENCE_MS,
    hookTimeout: 2 * PATIENCE_MS,
    expect: { poll: { timeout: PATIENCE_MS, interval: 10 } },
    // Two more than the two cores of a small machine, because tests wait for processes and disks a third of their time.
    maxWorkers: 4,
    projects: [
      {
        extends: true,
        test: {
          name: "inside",
          include: ["test/**/*.test.ts"],
          exclude: [...OF_EXECUTABLE, ...OF_FAULTS, ...OF_INSTALLING],
          globalSetup: ["test/support/one-cluster.ts", "test/support/bundle-program.ts"],
          env: { NODE_COMPILE_CACHE: COMPILE_CACHE },
          ...IN_ONE_WORKER,
        },
      },
      {
        extends: true,
        test: {
          name: "distance",
          include: AT_A_DISTANCE,
          globalSetup: ["test/support/one-cluster.ts", "test/support/bundle-program.ts"],
          env: { NODE_COMPILE_CACHE: COMPILE_CACHE, FORMSVC_TESTS_AT: "a distance" },
          ...IN_ONE_WORKER,
        },
      },
      {
        extends: true,
        test: {
          name: "executable",
          include: OF_EXECUTABLE,
          env: { FORMSVC_EXECUTABLE: executable, NODE_COMPILE_CACHE: COMPILE_CACHE },
          globalSetup: "test/executable/build-if-stale.ts",
          ...IN_ONE_WORKER,
        },
      },
      {
        extends: true,
        test: {
          name: "faults",
          include: OF_FAULTS,
          exclude: ALONE,
          env: ON_DISK,
          globalSetup: "test/executable/build-if-stale.ts",
          ...IN_ONE_WORKER,
        },
      },
      {
        extends: true,
        test: {
          name: "install",
          include: OF_INSTALLING,
          globalSetup: "test/install/start-releases.ts",
          setupFiles: "test/install/await-releases.ts",
          ...IN_ONE_WORKER,
        },
      },
      {
        extends: true,
        test: {
          name: "alone",
          include: ALONE,
          env: ON_DISK,
          globalSetup: "test/executable/build-if-stale.ts",
          ...IN_OWN_WORKER,
          // One at a time, and after everything else.
          maxWorkers: 1,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
