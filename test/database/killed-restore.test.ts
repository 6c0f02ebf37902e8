import { spawnSync } from "node:child_process";
import { cpSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { makeMachine, type OperatorMachine, operatorMachine } from "../support/operator-machine.ts";
import { post, storedIds } from "../support/posts.ts";
import { whenEnded } from "../support/program.ts";

const hasStrace = spawnSync("strace", ["--version"]).status === 0;
if (!hasStrace) process.stderr.write("NOT TESTED: a restore that is killed (apt-get install strace)\n");
/** Whatever changes the name of a file. Between two of these calls, a kill leaves the same names. */
const NAMING = ["link,linkat", "unlink,unlinkat", "rename,renameat,renameat2"];
/** More than a restore makes of each kind. */
const MOST_CALLS = 20;

const arranged = makeMachine();
let first = "";
let second = "";
/** A server with one post that a backup has and one that is in the log alone, which was killed. */
beforeAll(async () => {
  arranged.configure({});
  const endpoint = await arranged.createEndpoint();
  const server = await arranged.serve();
  first = await post(server.url, endpoint.secret);
  await arranged.mustRun(["backup", "copy.db"]);
  second = await post(server.url, endpoint.secret);
  await server.stop("SIGKILL");
});
afterAll(() => arranged.remove());

function arrangedMachine(): OperatorMachine {
  const machine = operatorMachine();
  cpSync(arranged.folder, machine.folder, { recursive: true });
  return machine;
}

/** Runs a restore that is killed when it begins a call of a kind, by its number. @returns whether it came so far */
async function restoreKilledAt(machine: OperatorMachine, kind: string, call: number): Promise<boolean> {
  const kill = `inject=${kind}:signal=SIGKILL:when=${call}`;
  const within = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", `trace=${kind}`, "-e", kill];
  // Node would rename files of its cache.
  const env = { NODE_DISABLE_COMPILE_CACHE: "1" };
  const code = await whenEnded(machine.start(["restore", "copy.db", "--yes"], { within, env }));
  if (code !== 0) expect([null, 137]).toContain(code);
  return code !== 0;
}

/** Names under which a database is kept, each of which must be another file than the one in use. */
function secondNames(machine: OperatorMachine): string[] {
  const { folder, database } = machine;
  const kept = readdirSync(folder).filter((name) => /\.replaced-[^-]+-[^-]+-[^-]+-[^-]+-[^-]+$/.test(name));
  const { ino } = statSync(database);
  return kept.filter((name) => statSync(machine.path(name)).ino === ino);
}

/** Calls with a machine for each moment at which its restore was killed. Returns how often of each kind that was. */
async function afterEachKill(
  arrange: () => OperatorMachine,
  look: (machine: OperatorMachine) => Promise<void>,
): Promise<number[]> {
  const kills: number[] = [];
  for (const kind of NAMING) {
    let call = 1;
    for (let wasKilled = true; wasKilled; call += 1) {
      if (call > MOST_CALLS) throw new Error(`${kind}: killed every time`);
      const machine = arrange();
      wasKilled = await restoreKilledAt(machine, kind, call);
      if (wasKilled) await look(machine);
      await machine.remove();
    }
    kills.push(call - 2);
  }
  return kills;
}

test.skipIf(!hasStrace)(
  "whenever a restore is killed, the next server finds the whole database or the whole backup under one name",
  async () => {
    const found: number[] = [];
    const kills = await afterEachKill(arrangedMachine, async (machine) => {
      const server = await machine.serve();
      const ids = storedIds(machine.database);
      expect([new Set([first, second]), new Set([first])]).toContainEqual(ids);
      expect(secondNames(machine)).toEqual([]);
      await server.stop();
      expect(machine.open().pragma("integrity_check", { simple: true })).toBe("ok");
      found.push(ids.size);
    });
    expect(kills).toEqual([1, expect.any(Number), 1]);
    expect(new Set(found)).toEqual(new Set([1, 2]));
  },
);

const DAMAGED = "lightning struck ".repeat(1000);

test.skipIf(!hasStrace)(
  "whenever the restore of a damaged database is killed, the next one keeps the damaged file together with its log",
  async () => {
    const log = readFileSync(`${arranged.database}-wal`);
    const arrange = (): OperatorMachine => {
      const machine = arrangedMachine();
      writeFileSync(machine.database, DAMAGED);
      return machine;
    };
    const kills = await afterEachKill(arrange, async (machine) => {
      await machine.mustRun(["restore", "copy.db", "--yes"]);
      expect(storedIds(machine.database)).toEqual(new Set([first]));
      expect(secondNames(machine)).toEqual([]);
      const kept = readdirSync(machine.folder).filter((name) => name.includes(".replaced-"));
      const damaged = kept.filter((name) => readFileSync(machine.path(name), "latin1") === DAMAGED);
      expect(damaged).toHaveLength(1);
      const keptLog = machine.path(`${damaged[0]}-wal`);
      expect(existsSync(keptLog) && readFileSync(keptLog).equals(log)).toBe(true);
    });
    // The database and its log and shared memory get second names, and lose the first ones.
    expect(kills).toEqual([3, expect.any(Number), 1]);
  },
);
