import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { expect, test } from "vitest";
import { emptyMachine } from "../support/operator-machine.ts";
import { tryPost } from "../support/posts.ts";

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
  expect(first.stderr).toMatch(
    /^next: formsvc endpoint create.*: formsvc account sign-in-link ada@example\.com$/m,
  );
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
  const nowhere = await machine.run(["init", "--config", "none/formsvc.config.json"]);
  expect([nowhere.code, nowhere.stderr]).toEqual([2, expect.stringContaining("its folder does not exist")]);
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
    const ran = await machine.run(args, { isRefused: true });
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
  const ran = await machine.run(["serve", "--port", "0"], { isRefused: true });
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
