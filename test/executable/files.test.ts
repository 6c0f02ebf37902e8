import { spawn } from "node:child_process";
import { chmodSync, copyFileSync, mkdirSync, readdirSync, statSync } from "node:fs";
import { expect, test } from "vitest";
import { emptyMachine } from "../support/operator-machine.ts";
import { examplePost, tryPost } from "../support/posts.ts";
import { collect, executable } from "../support/program.ts";

test("a folder or file that may not be written gives exit code 5 and says so", async () => {
  const machine = emptyMachine();
  mkdirSync(machine.path("locked"), { mode: 0o555 });
  const inside = ["--db", machine.path("locked/x.db")];
  for (const args of [
    ["account", "create", "ada@example.com", ...inside],
    ["serve", "--port", "0", ...inside],
  ]) {
    const ran = await machine.run(args, { asNobody: true });
    expect(ran).toMatchObject({ code: 5, stdout: "" });
    expect(ran.stderr).toMatch(/may not write in its folder/);
  }
  const init = await machine.run(["init", "--config", machine.path("locked/c.json")], { asNobody: true });
  expect(init.code).toBe(1);
  expect(init.stderr).toMatch(/cannot be written/);
});

test("a database that may only be read refuses changes and refuses to be served, with exit code 5", async () => {
  const machine = emptyMachine();
  await machine.run(["account", "create", "b@example.com"], { asNobody: true });
  const { mode } = statSync(machine.database);
  expect((mode & 0o777).toString(8)).toBe("600");
  chmodSync(machine.database, 0o400);
  for (const args of [
    ["account", "create", "a@example.com"],
    ["serve", "--port", "0"],
  ]) {
    const ran = await machine.run(args, { asNobody: true });
    expect({ args, code: ran.code }).toEqual({ args, code: 5 });
    expect(ran.stderr).toMatch(/read-only/);
  }
});

test("the executable alone in an empty folder does its whole work: no Node, no packages, no home, no PATH", async () => {
  const machine = emptyMachine();
  mkdirSync(machine.path("alone"));
  mkdirSync(machine.path("temporary"));
  const alone = machine.path("alone/formsvc");
  copyFileSync(executable, alone);
  const run = (args: string[], input = "") => {
    const child = spawn(alone, args, {
      cwd: machine.path("alone"),
      env: { TMPDIR: machine.path("temporary") },
    });
    child.stdin.end(input);
    return collect(child);
  };
  const made = await run(
    ["endpoint", "create", "--name", "A", "--schema", "-", "--json"],
    JSON.stringify({ name: { type: "string" } }),
  );
  expect(made).toMatchObject({ code: 0 });
  expect((await run(["version"])).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  expect(readdirSync(machine.path("temporary"))).toEqual([]);
  expect(readdirSync(machine.path("alone")).sort()).toEqual(["formsvc", "formsvc.db"]);
});

test("the native parts load even if the temporary folder is missing or read-only, and leave nothing behind", async () => {
  const machine = emptyMachine();
  const keys = await machine.createEndpoint();
  mkdirSync(machine.path("read-only"), { mode: 0o555 });
  const sharedBefore = new Set(readdirSync("/dev/shm"));
  for (const TMPDIR of [machine.path("missing"), machine.path("read-only")]) {
    const database = machine.path(`${TMPDIR.endsWith("missing") ? "a" : "b"}.db`);
    const made = await machine.run(["endpoint", "create", "--name", "A", "--schema", "-", "--db", database], {
      env: { TMPDIR },
      asNobody: true,
      input: "{}",
    });
    expect(made).toMatchObject({ code: 0 });
    const ran = await machine.run(["key", "list", keys.id, "--db", database], {
      env: { TMPDIR },
      asNobody: true,
    });
    expect(ran).toMatchObject({ code: 3, stderr: expect.stringContaining("no endpoint") as unknown });
  }
  expect(readdirSync(machine.path("read-only"))).toEqual([]);
  expect(
    readdirSync("/dev/shm").filter((name) => !sharedBefore.has(name) && name.startsWith("formsvc-addon-")),
  ).toEqual([]);
  expect(readdirSync(machine.folder).filter((name) => name.startsWith("formsvc-"))).toEqual([]);
});

test("a serving process leaves nothing in the temporary folder while it runs", async () => {
  const machine = emptyMachine();
  mkdirSync(machine.path("temporary"));
  const keys = await machine.createEndpoint();
  const server = await machine.serve({ env: { TMPDIR: machine.path("temporary") } });
  expect((await tryPost(server.url, keys.secret, examplePost)).status).toBe(200);
  expect(readdirSync(machine.path("temporary"))).toEqual([]);
});
