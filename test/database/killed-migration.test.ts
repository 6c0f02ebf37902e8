import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename } from "node:path";
import Driver from "better-sqlite3";
import { expect, test } from "vitest";
import { migrate } from "../../src/database/migrate.ts";
import { migrations } from "../../src/database/migrations.generated.ts";
import { openDatabase } from "../../src/database/sqlite/open-database.ts";
import { type OperatorMachine, operatorMachine } from "../support/operator-machine.ts";
import { whenEnded } from "../support/program.ts";

const hasStrace = spawnSync("strace", ["--version"]).status === 0;
if (!hasStrace) process.stderr.write("NOT TESTED: a migration that is killed (apt-get install strace)\n");

const OLD = migrations.length - 1;
/** More than a migration makes of each kind. */
const MOST_CALLS = 100_000;

/** A machine with a database of the version before, in which an account is. */
function machineOfBefore(): OperatorMachine {
  const machine = operatorMachine();
  const db = openDatabase(machine.database, { busyTimeoutMs: 10 });
  migrate(db, migrations.slice(0, OLD));
  db.execute("INSERT INTO account (id, email, created_at) VALUES ('acct_1', 'a@b', 1)");
  db.close();
  return machine;
}

/** Runs a migration within strace. @returns the exit code, and null or 137 if strace killed it */
async function migrateWithin(machine: OperatorMachine, args: readonly string[]): Promise<number | null> {
  // Node would write files of its cache.
  const env = { NODE_DISABLE_COMPILE_CACHE: "1" };
  const within = ["strace", "-f", "-qq", ...args];
  return whenEnded(machine.start(["migrate", "up"], { within, env }));
}

/** The files that look like kept copies, of which each must be whole. */
function wholeCopies(machine: OperatorMachine): string[] {
  const pattern = new RegExp(String.raw`^${basename(machine.database)}\.schema-\d+(?:\.\d+)?$`);
  const names = readdirSync(machine.folder).filter((name) => pattern.test(name));
  for (const name of names) {
    const copy = new Driver(machine.path(name), { readonly: true });
    expect(copy.pragma("integrity_check", { simple: true })).toBe("ok");
    expect(copy.pragma("user_version", { simple: true })).toBe(OLD);
    expect(copy.prepare("SELECT email FROM account").pluck().all()).toEqual(["a@b"]);
    copy.close();
  }
  return names;
}

test.skipIf(!hasStrace)(
  "whenever a migration is killed, what has the name of a kept copy is whole, and the next one ends",
  async () => {
    for (const kind of ["pwrite64", "fsync,fdatasync", "link,linkat"]) {
      let kills = 0;
      let wasKilled = true;
      for (let call = 1; wasKilled; call *= 2) {
        if (call > MOST_CALLS) throw new Error(`${kind}: killed every time`);
        const machine = machineOfBefore();
        const kill = `inject=${kind}:signal=SIGKILL:when=${call}`;
        const code = await migrateWithin(machine, ["-o", "/dev/null", "-e", `trace=${kind}`, "-e", kill]);
        wasKilled = code !== 0;
        if (wasKilled) expect([null, 137]).toContain(code);
        kills += Number(wasKilled);
        const before = wholeCopies(machine).length;
        await machine.mustRun(["migrate", "up"]);
        expect(wholeCopies(machine).length, `${kind} ${call}`).toBeGreaterThanOrEqual(Math.max(before, 1));
        await machine.remove();
      }
      expect(kills, kind).toBeGreaterThan(0);
    }
  },
  120_000,
);

test.skipIf(!hasStrace)("a kept copy is on the disk before it gets its name", async () => {
  const machine = machineOfBefore();
  writeFileSync(machine.path("calls"), "");
  const seen = ["-y", "-o", machine.path("calls"), "-e", "trace=fsync,fdatasync,link,linkat"];
  expect(await migrateWithin(machine, seen)).toBe(0);
  const calls = readFileSync(machine.path("calls"), "utf8").split("\n");
  const synced = calls.findLastIndex((line) => /sync\(\d+<[^>]*\.schema-\d+\.unfinished-\d+>/.test(line));
  const named = calls.findIndex((line) => /link(?:at)?\(.*\.schema-\d+"/.test(line));
  expect(synced).toBeGreaterThan(-1);
  expect(named).toBeGreaterThan(synced);
});
