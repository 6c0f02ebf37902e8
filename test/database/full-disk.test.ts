import { spawnSync } from "node:child_process";
import { mkdirSync, statSync } from "node:fs";
import { expect, test } from "vitest";
import { run as runStep, text } from "../../src/database/steps.ts";
import { submissionAdder } from "../support/add-submission.ts";
import { operatorMachine } from "../support/operator-machine.ts";
import { post } from "../support/posts.ts";
import { program } from "../support/program.ts";
import { temporaryDatabase } from "../support/temporary-database.ts";

const mayMount = spawnSync("unshare", ["-m", "mount", "-t", "tmpfs", "none", "/mnt"]).status === 0;
if (!mayMount) process.stderr.write("NOT TESTED: commands on a full disk (run the tests as root)\n");

/** A database of one submission, and commands that find a small disk at `disk`. */
async function machineWithSmallDisk() {
  const machine = operatorMachine();
  const endpoint = await machine.createEndpoint();
  const server = await machine.serve();
  await post(server.url, endpoint.secret);
  await server.stop();
  mkdirSync(machine.path("disk"));
  const run = (bytes: number, prepare: string, args: readonly string[]) => {
    const script = `mount -t tmpfs -o size=${bytes} none disk && { ${prepare}; } && exec "$0" "$@"`;
    const ran = spawnSync(
      "unshare",
      ["-m", "--propagation", "private", "sh", "-c", script, ...program, ...args],
      { cwd: machine.folder, encoding: "utf8" },
    );
    return { code: ran.status, stderr: ran.stderr };
  };
  return { machine, server, run, bytes: statSync(machine.database).size };
}

test.skipIf(!mayMount)(
  "a backup or export to a full disk fails with a sentence that names the file",
  async () => {
    const { machine, run, bytes } = await machineWithSmallDisk();
    const full = (file: string, code: number) => ({
      code,
      stderr: `formsvc: ${file}: the disk is full; free some space\n`,
    });
    const copy = machine.path("disk/copy.db");
    expect(run(bytes / 2, "true", ["backup", "disk/copy.db"])).toEqual(full(copy, 1));
    const exporting = ["submission", "export", "--output", "disk/all.csv"];
    const fill = "head -c 4096 /dev/zero > disk/room";
    expect(run(4096, fill, exporting)).toEqual(full("disk/all.csv", 1));

    const server = await machine.serve();
    expect(run(bytes / 2, "true", ["backup", "disk/copy.db"])).toEqual(full(copy, 1));
    await server.stop();
  },
);

test.skipIf(!mayMount)(
  "a restore on a full disk fails with a sentence that names the file, and leaves what was there",
  async () => {
    const { machine, run, bytes } = await machineWithSmallDisk();
    await machine.mustRun(["backup", "copy.db"]);
    const ran = run(bytes * 1.5, "cp formsvc.db disk", [
      "restore",
      "copy.db",
      "--db",
      "disk/formsvc.db",
      "--yes",
    ]);
    expect(ran).toEqual({
      code: 1,
      stderr: `formsvc: ${machine.path("disk/formsvc.db")}: the disk is full; free some space\n`,
    });
  },
);

test.skipIf(!mayMount)("a database that cannot be opened because its disk is full is told so", async () => {
  const { run, bytes } = await machineWithSmallDisk();
  const fill = "cp formsvc.db disk && { cat /dev/zero > disk/room 2> /dev/null || true; }";
  const ran = run(bytes * 1.5, fill, ["account", "list", "--db", "disk/formsvc.db"]);
  expect([ran.code, ran.stderr]).toEqual([5, expect.stringContaining("the disk is full")]);
});

test.skipIf(!mayMount)(
  "a disk that has space but takes no further file is told so, and seen by doctor",
  async () => {
    const { run, bytes } = await machineWithSmallDisk();
    const ofFiles = (count: number) => `cp formsvc.db disk && mount -o remount,nr_inodes=${count} disk`;
    const ran = run(bytes * 9, ofFiles(2), ["backup", "disk/copy.db"]);
    expect(ran).toEqual({
      // As on a disk that is full.
      code: 1,
      stderr: expect.stringContaining("takes no further file (df -i)") as string,
    });
    const examined = run(bytes * 9, `${ofFiles(30)} && exec >&2`, ["doctor", "--db", "disk/formsvc.db"]);
    expect(examined.stderr).toMatch(
      /PROBLEM +disk\.space +the disk takes only \d+ further files, whatever their size\n/,
    );
  },
);

test.skipIf(!mayMount)("a deletion needs a few MB of room, however much is deleted", async () => {
  const { machine, run } = await machineWithSmallDisk();
  const db = machine.open();
  const insert = submissionAdder(db);
  const { id: endpointId } = db.prepare("SELECT id FROM endpoint").get() as { id: string };
  db.transaction(() => {
    for (let count = 0; count < 20_000; count += 1)
      insert({ endpointId, data: { message: "x".repeat(300) } });
  })();
  db.pragma("wal_checkpoint(TRUNCATE)");
  const { size } = statSync(machine.database);
  const ran = run(size + 4_194_304, "cp formsvc.db disk", [
    "endpoint",
    "delete",
    endpointId,
    "--yes",
    "--db",
    "disk/formsvc.db",
  ]);
  expect([ran.code, ran.stderr]).toEqual([0, ""]);
});

test("what found no room has the log copied, so that the next transaction begins it anew", async () => {
  const db = temporaryDatabase();
  db.execute("CREATE TABLE t (x)");
  db.pragma(`max_page_count = ${Number(db.pragma("page_count"))}`);
  const tooLarge = db.transaction(() => runStep(text("INSERT INTO t VALUES (zeroblob(1000000))")));
  await expect(tooLarge).rejects.toThrow("the disk is full");
  const { log, checkpointed } = db.prepare("PRAGMA wal_checkpoint(NOOP)").get() as Record<string, number>;
  expect(checkpointed).toBe(log);
});

test.skipIf(!mayMount)("a database on a disk that is read-only is told so", async () => {
  const { run, bytes } = await machineWithSmallDisk();
  const lock = "cp formsvc.db disk && mount -o remount,ro disk";
  const ran = run(bytes * 1.5, lock, ["account", "list", "--db", "disk/formsvc.db"]);
  expect([ran.code, ran.stderr]).toEqual([5, expect.stringContaining("its disk is read-only")]);
});
