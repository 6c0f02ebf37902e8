import {
  chmodSync,
  closeSync,
  ftruncateSync,
  openSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { expect, test } from "vitest";
import { operatorMachine, post, type OperatorMachine } from "../support/operator-machine.ts";

interface Report {
  healthy: boolean;
  checks: { name: string; ok: boolean; message: string; advice: string | null }[];
}

async function examine(machine: OperatorMachine) {
  const ran = await machine.run(["doctor", "--json"]);
  const { healthy, checks } = JSON.parse(ran.stdout) as Report;
  return { code: ran.code, healthy, problems: checks.filter(({ ok }) => !ok) };
}

test("a sound installation has a line for each check and exit code 0", async () => {
  const machine = operatorMachine();
  const endpoint = await machine.createEndpoint();
  const server = await machine.serve();
  await post(server.url, endpoint.secret);
  const ran = await machine.run(["doctor"]);
  expect(ran.stdout).toBe("");
  expect(ran.stderr.trim().split("\n")).toHaveLength(12);
  expect(ran.code).toBe(0);
  expect((await machine.run(["doctor", "--quiet"])).stderr).toBe("");
});

test("each thing that is wrong has a line with what to do, on standard output for cron, and exit code 1", async () => {
  const machine = operatorMachine();
  machine.configure({
    plans: { hobby: { monthlySubmissions: 10, endpoints: null, customSpam: true } },
    backup: { everyHours: 1, keep: 1, directory: "./copies" },
  });
  const endpoint = await machine.createEndpoint();
  const connection = machine.open();
  connection.exec(`
    UPDATE api_key SET seen_in_browser_at = 1 WHERE kind = 'secret';
    INSERT INTO usage SELECT id, strftime('%Y-%m', 'now'), 9 FROM workspace;
    INSERT INTO submission VALUES (NULL, 'sub_7zzzzzzzzzzzzzzzzzzzzzzzzz', '${endpoint.id}', 1, '{}', 0, '[]', '', '', 4000000000000);
  `);
  chmodSync(machine.database, 0o644);
  const { code, healthy, problems } = await examine(machine);
  expect(code).toBe(1);
  expect(healthy).toBe(false);
  expect(problems.map(({ name }) => name)).toEqual([
    "machine.clock",
    "files.modes",
    "backups.age",
    "keys.leaked",
    "limits.monthly",
  ]);
  expect(problems.every(({ advice }) => advice !== null)).toBe(true);
  const ran = await machine.run(["doctor", "--quiet"]);
  expect(ran.stdout.split("\n").filter((line) => line.startsWith("PROBLEM"))).toHaveLength(5);
  expect(ran.stderr).toBe("formsvc: 5 problems\n");
});

test("a backup that is older than two intervals is a problem", async () => {
  const machine = operatorMachine();
  machine.configure({ backup: { everyHours: 24, keep: 1, directory: "." } });
  await machine.createEndpoint();
  const name = (hoursAgo: number): string =>
    machine.path(
      `formsvc-${new Date(Date.now() - hoursAgo * 3_600_000).toISOString().slice(0, 19).replaceAll(":", "-")}.db`,
    );
  writeFileSync(name(50), "", { mode: 0o600 });
  expect((await examine(machine)).problems.map((each) => each.name)).toEqual(["backups.age"]);
  writeFileSync(name(40), "", { mode: 0o600 });
  expect((await examine(machine)).problems).toEqual([]);
});

test("a damaged page and an oversized log are found", async () => {
  const machine = operatorMachine();
  await machine.createEndpoint();
  const size = statSync(machine.database).size;
  const log = openSync(`${machine.database}-wal`, "w", 0o600);
  ftruncateSync(log, 300_000_000);
  closeSync(log);
  const reader = machine.open();
  reader.prepare("SELECT count(*) FROM account").get();
  expect((await examine(machine)).problems.map(({ name }) => name)).toContain("database.log");
  reader.close();
  truncateSync(machine.database, size - 4096);
  const { code, problems } = await examine(machine);
  expect(code).toBe(1);
  expect(problems.length).toBeGreaterThan(0);
});

test("a machine without a database, or with another program's, is told so and left as it is", async () => {
  const machine = operatorMachine();
  const { problems } = await examine(machine);
  expect(problems.map(({ name }) => name)).toEqual(["database.file"]);
  writeFileSync(machine.database, "something else entirely ".repeat(50));
  expect((await examine(machine)).problems[0]?.message).toContain("not a formsvc database");
});
