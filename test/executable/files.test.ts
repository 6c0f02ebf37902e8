import { spawn } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import SqliteDatabase from "better-sqlite3";
import { expect, test } from "vitest";
import { type OperatorMachine, emptyMachine } from "../support/operator-machine.ts";
import { examplePost, tryPost } from "../support/posts.ts";
import { collect, executable } from "../support/program.ts";

/** A database of a test's own, made and left by `change`. */
function damage(file: string, change: (connection: SqliteDatabase.Database) => void): void {
  const connection = new SqliteDatabase(file);
  change(connection);
  connection.close();
}

async function expectUnusable(machine: OperatorMachine, file: string, message: RegExp): Promise<void> {
  for (const args of [
    ["endpoint", "list"],
    ["serve", "--port", "0"],
  ]) {
    const ran = await machine.run([...args, "--db", file]);
    expect({ args, code: ran.code, stdout: ran.stdout }).toEqual({ args, code: 5, stdout: "" });
    expect(ran.stderr).toMatch(message);
    expect(ran.stderr).toContain(file);
    expect(ran.stderr).not.toMatch(/\n\s+at /);
  }
}

test("a database file that cannot be used ends every command with exit code 5 and the reason", async () => {
  const machine = emptyMachine();
  const text = machine.write("text.db", "this is not a database, but long enough to look at".repeat(100));
  await expectUnusable(machine, text, /not a formsvc database/);
  await expectUnusable(machine, `${text}/x.db`, /there is no database|a file, not a folder/);
  await expectUnusable(machine, machine.path("none/x.db"), /there is no database|folder does not exist/);
  mkdirSync(machine.path("folder.db"));
  await expectUnusable(machine, machine.path("folder.db"), /cannot be opened/);

  await machine.createEndpoint();
  const torn = machine.path("torn.db");
  copyFileSync(machine.database, torn);
  const bytes = readFileSync(torn);
  writeFileSync(torn, bytes.fill(0xa5, 4096));
  await expectUnusable(machine, torn, /damaged; restore a backup/);
  expect(readFileSync(text, "utf8")).toMatch(/^this is not a database/);
});

test("a database from a newer formsvc is refused and left as it was", async () => {
  const machine = emptyMachine();
  await machine.createEndpoint();
  damage(machine.database, (connection) => connection.pragma("user_version = 99"));
  await expectUnusable(machine, machine.database, /newer formsvc .*99.*install that version/);
  damage(machine.database, (connection) =>
    expect(connection.pragma("user_version", { simple: true })).toBe(99),
  );
});

test("another program's database is refused and left as it was, to the byte", async () => {
  const machine = emptyMachine();
  const file = machine.path("other.db");
  damage(file, (connection) => connection.exec("CREATE TABLE note (text)"));
  const before = readFileSync(file);
  await expectUnusable(machine, file, /another program's database/);
  expect((await machine.run(["migrate", "status", "--db", file])).code).toBe(5);
  expect(readFileSync(file).equals(before)).toBe(true);
});

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

test("a database that another program holds for writing gives exit code 5 after the wait", async () => {
  const machine = emptyMachine();
  await machine.createEndpoint();
  const holder = new SqliteDatabase(machine.database);
  holder.exec("BEGIN IMMEDIATE");
  const ran = await machine.run(["account", "create", "a@example.com"]);
  holder.close();
  expect(ran.code).toBe(5);
  expect(ran.stderr).toMatch(/another process holds the database; try again/);
  expect((await machine.run(["account", "create", "a@example.com"])).code).toBe(0);
});

test("everything that is written but the configuration holds secrets or people's data and has mode 0600", async () => {
  const machine = emptyMachine();
  await machine.run(["init"]);
  const keys = await machine.createEndpoint();
  const server = await machine.serve();
  expect((await tryPost(server.url, keys.secret)).status).toBe(200);
  const modes = readdirSync(machine.folder).map((name) => [
    name,
    (statSync(machine.path(name)).mode & 0o777).toString(8),
  ]);
  expect(modes.length).toBeGreaterThanOrEqual(4);
  const config = "formsvc.config.json";
  for (const [name, mode] of modes) expect([name, mode]).toEqual([name, name === config ? "644" : "600"]);
});

test("init makes what is missing, and a second time finds it and changes nothing", async () => {
  const machine = emptyMachine();
  const first = await machine.run(["init", "--email", "ada@example.com"]);
  expect(first).toMatchObject({ code: 0, stdout: "" });
  expect(first.stderr).toContain("next: formsvc endpoint create");
  const config = readFileSync(machine.path("formsvc.config.json"), "utf8");
  expect(JSON.parse(config)).toEqual(await machine.json(["config", "show"]));
  const second = await machine.run(["init", "--email", "other@example.com"]);
  expect(second.code).toBe(0);
  expect(second.stderr.match(/\(was there\)/g)).toHaveLength(2);
  expect(second.stderr).toContain("other@example.com was not made");
  expect((await machine.run(["init", "--email", "ada@example.com"])).stderr).not.toContain("not made");
  expect(await machine.run(["init", "--email", "bad"])).toMatchObject({
    code: 2,
    stdout: "",
    stderr: 'formsvc: not an e-mail address: "bad"\n',
  });
  expect(readFileSync(machine.path("formsvc.config.json"), "utf8")).toBe(config);
  expect(await machine.json(["account", "list"])).toMatchObject({ data: [{ email: "ada@example.com" }] });
});

test("init leaves no configuration behind if the database cannot be created", async () => {
  const machine = emptyMachine();
  expect((await machine.run(["init", "--db", "./none/x.db"])).code).toBe(5);
  expect(readdirSync(machine.folder)).toEqual([]);
});

test("init writes the file and names the database that the command line or the environment names", async () => {
  const machine = emptyMachine();
  await machine.json(["init", "--db", "./chosen.db"], { env: { FORMSVC_CONFIG: "named.json" } });
  expect(existsSync(machine.path("formsvc.config.json"))).toBe(false);
  expect(JSON.parse(readFileSync(machine.path("named.json"), "utf8"))).toMatchObject({
    database: { path: "./chosen.db" },
  });
  expect(existsSync(machine.path("chosen.db"))).toBe(true);
});

test("flags stand above the environment, that above the file, and the file above the defaults", async () => {
  const machine = emptyMachine();
  const show = (args: string[], env: Record<string, string> = {}) =>
    machine.json<{ server: { port: number; host: string }; database: { path: string }; rateLimit: unknown }>(
      ["config", "show", ...args],
      { env },
    );
  expect((await show([])).server.port).toBe(8787);
  machine.write("formsvc.config.json", { server: { port: 1111 }, database: { path: "./file.db" } });
  const named = machine.write("named.json", { server: { port: 2222 } });
  const flagged = machine.write("flagged.json", { server: { port: 3333 } });
  expect(await show([])).toMatchObject({
    server: { port: 1111, host: "127.0.0.1" },
    database: { path: "./file.db" },
  });
  expect((await show([], { FORMSVC_CONFIG: named })).server.port).toBe(2222);
  expect((await show(["--config", flagged], { FORMSVC_CONFIG: named })).server.port).toBe(3333);
  const env = {
    FORMSVC_SERVER_PORT: "4444",
    FORMSVC_DATABASE_PATH: "./env.db",
    FORMSVC_RATE_LIMIT_PUBLISHABLE_MAX: "null",
    FORMSVC_RATE_LIMIT_EXEMPT: '["10.0.0.0/8"]',
    FORMSVC_SECRET_KEY: "is not a setting",
  };
  expect(await show([], env)).toMatchObject({
    server: { port: 4444 },
    database: { path: "./env.db" },
    rateLimit: { publishable: { max: null }, exempt: ["10.0.0.0/8"] },
  });
  expect((await show(["--db", "./flag.db"], env)).database.path).toBe("./flag.db");
  const server = await machine.serve({ args: ["--db", machine.path("flag.db"), "--host", "127.0.0.2"], env });
  expect(server.url).toMatch(/^http:\/\/127\.0\.0\.2:/);
  expect(server.url).not.toContain(":4444");
  expect(existsSync(machine.path("flag.db"))).toBe(true);
});

test("a wrong configuration stops every command with exit code 2 and the path of each wrong value", async () => {
  const machine = emptyMachine();
  machine.write("formsvc.config.json", { server: { prot: 1, port: "x" }, plans: { pro: { endpoints: -1 } } });
  for (const args of [
    ["config", "check"],
    ["endpoint", "list"],
    ["serve", "--port", "0"],
  ]) {
    const ran = await machine.run(args);
    expect(ran.code).toBe(2);
    for (const path of ["server.prot", "server.port", "plans.pro.endpoints"])
      expect(ran.stderr).toContain(path);
  }
  const env = { FORMSVC_CONFIG: machine.write("good.json", {}), FORMSVC_LOG_LEVEL: "loud" };
  const ran = await machine.run(["config", "check"], { env });
  expect(ran.code).toBe(2);
  expect(ran.stderr).toContain("FORMSVC_LOG_LEVEL");
});

test("a misspelt variable stops nothing, and config check and the server's log name it", async () => {
  const machine = emptyMachine();
  const env = { FORMSVC_LOG_LEVL: "debug", FORMSVC_SERVER_HOST: "127.0.0.1" };
  const ran = await machine.run(["config", "check"], { env });
  expect(ran).toMatchObject({ code: 0, stdout: "" });
  expect(ran.stderr).toContain("FORMSVC_LOG_LEVL names no setting");
  expect(ran.stderr).toContain("no file was found, FORMSVC_SERVER_HOST)");
  const told = await machine.run(["config", "check", "--json"], { env });
  expect(JSON.parse(told.stdout)).toMatchObject({
    variables: ["FORMSVC_SERVER_HOST"],
    unknown_variables: ["FORMSVC_LOG_LEVL"],
  });
  const server = await machine.serve({ env });
  expect(server.log()).toContain('"event":"config.variable-unknown","variable":"FORMSVC_LOG_LEVL"');
});

test("a server does not start while a workspace is on a plan that is not configured", async () => {
  const machine = emptyMachine();
  machine.write("formsvc.config.json", {
    plans: { team: { monthlySubmissions: 5, endpoints: 5, customSpam: false } },
  });
  await machine.createEndpoint();
  const [workspace] = (await machine.json<{ data: { id: string }[] }>(["workspace", "list"])).data;
  await machine.json(["workspace", "set-plan", workspace!.id, "team"]);
  machine.write("formsvc.config.json", {});
  const ran = await machine.run(["serve", "--port", "0"]);
  expect(ran.code).toBe(2);
  expect(ran.stderr).toContain("team");
});

test("migrate status makes no file, and migrate up brings a new one to the newest version", async () => {
  const machine = emptyMachine();
  expect(await machine.json(["migrate", "status"])).toMatchObject({ version: 0 });
  expect(readdirSync(machine.folder)).toEqual([]);
  const up = await machine.json<{ version: number; applied: string[] }>(["migrate", "up"]);
  expect(up).toMatchObject({ kept_copy: null });
  expect(up.applied).toHaveLength(up.version);
  expect(await machine.json(["migrate", "status"])).toEqual({
    version: up.version,
    latest: up.version,
    pending: [],
  });
  expect(await machine.json(["migrate", "up"])).toMatchObject({ applied: [] });
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

test("two names of one database file, by a symbolic link, are served once", async () => {
  const machine = emptyMachine();
  await machine.createEndpoint();
  symlinkSync(machine.database, machine.path("link.db"));
  await machine.serve();
  const ran = await machine.run(["serve", "--port", "0", "--db", machine.path("link.db")]);
  expect(ran).toMatchObject({ code: 5, stderr: expect.stringContaining("already served") as unknown });
});
