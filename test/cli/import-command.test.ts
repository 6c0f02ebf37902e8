import { writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { newId } from "../../src/foundation/id.ts";
import { submissionJson } from "../../src/submissions/stored/submission-json.ts";
import { asSubmission } from "../support/add-submission.ts";
import { NOON } from "../support/fake-clock.ts";
import { operatorMachine } from "../support/operator-machine.ts";
import { startProgram, whenEnded } from "../support/program.ts";
import { until } from "../support/until.ts";

const ROWS = 10_000;

/** Every tenth row is like the one before it. */
function table(rows: number): string {
  const lines = Array.from({ length: rows }, (_, index) => {
    const number = index % 10 === 9 ? index - 1 : index;
    return `2026-01-31T10:00:00Z,Visitor ${number},v${number}@example.org,"Text, of ${number}"`;
  });
  return `created_at,name,email,message\n${lines.join("\n")}\n`;
}

test("an import of 10,000 rows that is killed in the middle and run again gives no doubles and leaves no row out", async () => {
  const machine = operatorMachine();
  const { id } = await machine.createEndpoint();
  writeFileSync(machine.path("old.csv"), table(ROWS));
  const args = ["submission", "import", "old.csv", "--endpoint", id, "--format", "csv", "--json"];
  const database = machine.open();
  const count = database.prepare("SELECT count(*) FROM submission").pluck();
  const running = startProgram(machine.folder, args);
  await until(() => Number(count.get()) > 0 || running.exitCode !== null);
  running.kill("SIGKILL");
  await whenEnded(running);
  const before = Number(count.get());
  // Else it was not in the middle, and the rest shows nothing.
  expect(before).toBeGreaterThan(0);
  expect(before).toBeLessThan(ROWS);
  const done = (await machine.mustRun(args)).json();
  expect(done).toEqual({ rows: ROWS, imported: ROWS - before, known: before, refused: [], unmapped: [] });
  expect(count.get()).toBe(ROWS);
  const distinct = database.prepare("SELECT count(DISTINCT data) FROM submission").pluck().get();
  expect(distinct).toBe(ROWS - ROWS / 10);
  expect((await machine.mustRun(args)).json()).toMatchObject({ imported: 0, known: ROWS });
  database.close();
}, 120_000);

test("rows that were refused end the command with 1, after the others were imported and all was told", async () => {
  const machine = operatorMachine();
  const { id } = await machine.createEndpoint();
  writeFileSync(machine.path("old.csv"), `${table(3)}yesterday,Late,late@example.org,x\n`);
  const args = ["submission", "import", "old.csv", "--endpoint", id, "--format", "csv"];
  const dry = await machine.run([...args, "--dry-run"]);
  expect([dry.code, dry.stdout]).toEqual([1, expect.stringContaining("line 5, created_at: not a time")]);
  expect(dry.stderr).toContain("4 rows: 3 would be imported, 0 known, 1 refused");
  const ran = await machine.run([...args, "--json"]);
  expect([ran.code, ran.json()]).toEqual([1, expect.objectContaining({ rows: 4, imported: 3 })]);
  expect(ran.stderr).toContain("1 row does not fit the form");
});

test("flags that do not belong together, and what is no file, are refused with what to do", async () => {
  const machine = operatorMachine();
  await machine.createEndpoint();
  writeFileSync(machine.path("old.csv"), table(1));
  for (const [args, complaint] of [
    [["old.csv", "--format", "csv"], "say where they go: --endpoint"],
    [["old.csv", "--without-times"], "--without-times is for the export of another service"],
    [["old.csv", "--map", "a=b"], "--map is for the export of another service"],
    [["old.csv", "--dry-run", "--files", "."], "--dry-run says nothing about files"],
    [["old.csv", "--format", "typeform"], "allowed choices are"],
    [["-", "--format", "csv", "--endpoint", "Contact"], "standard input cannot be imported"],
    [[".", "--format", "csv", "--endpoint", "Contact"], "this is a folder"],
    [["none.csv", "--format", "csv", "--endpoint", "Contact"], "cannot be read"],
  ] as const) {
    const { code, stderr } = await machine.run(["submission", "import", ...args]);
    expect([args, code, stderr.includes(complaint), stderr]).toEqual([args, 2, true, stderr]);
  }
});

test("an import in NDJSON that is asked for by its name notes where submissions came from", async () => {
  const machine = operatorMachine();
  const { id } = await machine.createEndpoint();
  writeFileSync(machine.path("old.csv"), table(2));
  await machine.mustRun(["submission", "import", "old.csv", "--endpoint", id, "--format", "csv"]);
  writeFileSync(
    machine.path("all.ndjson"),
    (await machine.mustRun(["submission", "export", "--json"])).stdout,
  );
  const other = operatorMachine();
  const target = await other.createEndpoint();
  const args = ["submission", "import", machine.path("all.ndjson"), "--endpoint", target.id];
  expect((await other.mustRun([...args, "--dry-run"])).stderr).toContain(
    "2 submissions would be added, 0 were there",
  );
  expect((await other.mustRun(["submission", "export", "--json"])).stdout).toBe("");
  const done = (await other.mustRun([...args, "--format", "ndjson", "--json"])).json();
  expect(done).toEqual({ rows: 2, imported: 2, known: 0, refused: [], unmapped: [] });
  const { stdout } = await other.mustRun(["submission", "export", "--json"]);
  expect(stdout.match(/"imported_from":"csv"/g)).toHaveLength(2);
});

test("an export that is imported by the format's name does not bring back what was deleted; without it, it is restored", async () => {
  const machine = operatorMachine();
  const { id: endpointId } = await machine.createEndpoint();
  const line = submissionJson(asSubmission({ endpointId, data: { name: "Ana" }, createdAt: NOON }));
  const { id } = line;
  machine.write("all.ndjson", line);
  const restore = ["submission", "import", "all.ndjson"];
  const args = [...restore, "--format", "ndjson"];
  expect(await machine.json(args)).toMatchObject({ imported: 1, known: 0 });
  const { stdout } = await machine.mustRun(["submission", "export", "--json"]);
  expect(JSON.parse(stdout)).toMatchObject({ id, imported_from: "ndjson" });
  await machine.mustRun(["submission", "delete", id, "--now", "--yes"]);
  expect(await machine.json([...args, "--dry-run"])).toMatchObject({ imported: 0, known: 1 });
  expect(await machine.json(args)).toMatchObject({ rows: 1, imported: 0, known: 1 });
  expect((await machine.mustRun(["submission", "export", "--json"])).stdout).toBe("");
  expect(await machine.json(restore)).toEqual({ imported: { added: 1, known: 0 } });
}, 60_000);

test("an export that is imported into another form says that the posts are in the first one, and the way that it names makes copies", async () => {
  const machine = operatorMachine();
  const first = await machine.createEndpoint();
  const other = await machine.createEndpoint({ name: "Copy" });
  writeFileSync(machine.path("old.csv"), table(2));
  await machine.mustRun(["submission", "import", "old.csv", "--endpoint", first.id, "--format", "csv"]);
  const { stdout: exported } = await machine.mustRun(["submission", "export", "--json"]);
  machine.write("all.ndjson", exported);
  const args = ["submission", "import", "all.ndjson", "--endpoint", other.id];
  for (const dry of [[], ["--dry-run"]]) {
    const { stderr } = await machine.mustRun([...args, ...dry]);
    expect(stderr).toMatch(/^0 submissions (would be )?added, 2 were there$/m);
    expect(stderr).toContain("2 of these are in another form, which keeps them");
  }
  expect(await machine.json(args)).toEqual({ imported: { added: 0, known: 2, elsewhere: 2 } });
  expect(await machine.json(["submission", "import", "all.ndjson", "--endpoint", first.id])).toEqual({
    imported: { added: 0, known: 2 },
  });

  machine.write("all.csv", (await machine.mustRun(["submission", "export", "--format", "csv"])).stdout);
  const copy = ["submission", "import", "all.csv", "--format", "csv", "--endpoint"];
  expect(await machine.json([...copy, first.id])).toMatchObject({ imported: 0, known: 2 });
  expect(await machine.json([...copy, other.id])).toMatchObject({ imported: 2, known: 0 });
  expect(await machine.json([...copy, other.id])).toMatchObject({ imported: 0, known: 2 });
  expect(await machine.stored(other)).toEqual(await machine.stored(first));
}, 60_000);

test("an export that is imported into a second workspace says how many got a new id, and finds them again", async () => {
  const machine = operatorMachine();
  const first = await machine.createEndpoint();
  await machine.mustRun(["workspace", "create", "--name", "Second"]);
  const copy = await machine.createEndpoint({ workspace: "Second" });
  const line = submissionJson(asSubmission({ endpointId: copy.id, createdAt: NOON }));
  machine.write("all.ndjson", JSON.stringify(line));
  const into = (id: string) => ["submission", "import", "all.ndjson", "--endpoint", id];
  await machine.mustRun(into(first.id));
  const dry = await machine.mustRun([...into(copy.id), "--dry-run"]);
  expect(dry.stderr).toContain(
    "1 submission would be added, 0 were there\n1 of these gets a new id: another workspace has its id\n",
  );
  expect(await machine.json([...into(copy.id), "--dry-run", "--format", "ndjson"])).toMatchObject({
    imported: 1,
    new_ids: 1,
  });
  expect((await machine.mustRun(into(copy.id))).stderr).toContain(
    "1 of these got a new id: another workspace has its id\n",
  );
  expect(await machine.json(into(copy.id))).toEqual({ imported: { added: 0, known: 1 } });

  const held = { ...line, id: newId("held", Date.now()), created_at: new Date().toISOString(), why: "spam" };
  machine.write("held.ndjson", JSON.stringify(held));
  const hold = (id: string) => ["held", "import", "held.ndjson", "--endpoint", id];
  await machine.mustRun(hold(first.id));
  expect((await machine.mustRun(hold(copy.id))).stderr).toContain(
    "held: 1 (1 with a new id, because another workspace has theirs), known: 0, too old to be held: 0\n",
  );
}, 60_000);
