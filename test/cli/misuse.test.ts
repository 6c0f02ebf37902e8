import { existsSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { emptyMachine, operatorMachine } from "../support/operator-machine.ts";

test("what names nothing is refused instead of answered with an empty result", async () => {
  const machine = operatorMachine();
  await machine.createEndpoint();
  const cases: [args: string[], code: number, message: RegExp][] = [
    [["webhook", "deliveries", "--webhook", "nope"], 3, /there is no webhook nope/],
    [["webhook", "deliveries", "--submission", "nope"], 3, /there is no submission nope/],
    [["webhook", "deliveries", "--cursor", "nope"], 2, /cursor/],
    [["spam", "set", "--endpoint", "Contact"], 2, /give something to set/],
    [["spam", "set", "--keyword", "casino=x"], 2, /casino=x: expected points from -100 to 100, or block/],
    [["spam", "set", "--keyword", "casino=101"], 2, /expected points from -100 to 100/],
    [["submission", "import", "-"], 2, /standard input cannot be imported/],
    [["systemd", "--db", "/srv/x.db"], 2, /\/var\/lib\/formsvc.*leave --db out/],
    [
      ["endpoint", "create", "--nmae", "X", "--schema", "f"],
      2,
      /unknown option '--nmae'\n\(Did you mean --name\?\)/,
    ],
    [["endpoint", "create", "--schema", "f"], 2, /required option '--name <name>' not specified/],
    [["key", "issue", "Contact"], 2, /required option '--kind <kind>' not specified/],
  ];
  for (const [args, code, message] of cases) {
    const ran = await machine.run(args);
    expect({ args, code: ran.code, stdout: ran.stdout }).toEqual({ args, code, stdout: "" });
    expect(ran.stderr).toMatch(message);
  }
  expect((await machine.mustRun(["spam", "show", "--endpoint", "Contact", "--json"])).stdout).not.toContain(
    "casino",
  );
});

test("help says which options are required", async () => {
  const help = (await operatorMachine().mustRun(["webhook", "create", "--help"])).stdout.replaceAll(
    /\s+/g,
    " ",
  );
  expect(help).toMatch(/--endpoint <endpoint> the endpoint whose submissions it gets \(required\)/);
  expect(help).not.toMatch(/--header <line>[^-]*\(required\)/);
});

test("a keyword may contain = if its effect follows it", async () => {
  const machine = operatorMachine();
  await machine.createEndpoint();
  await machine.mustRun(["spam", "set", "--keyword", "a=b=-5", "--keyword", "x=block", "--keyword", "seo"]);
  const { chosen } = (await machine.mustRun(["spam", "show", "--json"])).json() as { chosen: unknown };
  expect(chosen).toEqual({
    keywords: [
      { word: "a=b", effect: -5 },
      { word: "x", effect: "block" },
      { word: "seo", effect: 25 },
    ],
  });
});

test("every problem of a schema is told in a line of its own, with the file's name", async () => {
  const machine = operatorMachine();
  const ran = await machine.run(["schema", "check", "-"], { input: '{"a":{"type":"text"},"b":{},"c":5}' });
  expect(ran.code).toBe(2);
  expect(ran.stderr.trim().split("\n")).toEqual([
    expect.stringContaining("standard input: schema: a.type must be one of"),
    expect.stringContaining("standard input: schema: b has no type"),
    expect.stringContaining("standard input: schema: c must be a field definition"),
  ]);
  const anything = '{"cv":{"type":"file","accept":["*/*"]}}';
  const refused = await machine.run(["schema", "check", "-"], { input: anything });
  expect([refused.code, refused.stderr]).toEqual([
    2,
    expect.stringContaining("takes anything, programs too"),
  ]);
});

test("a rehearsal and a look at a database that is not there say so and make none", async () => {
  const machine = operatorMachine();
  for (const args of [
    ["migrate", "status"],
    ["migrate", "up", "--dry-run"],
  ]) {
    expect((await machine.mustRun(args)).stderr).toContain(`${machine.database}: no database yet`);
  }
  expect(existsSync(machine.database)).toBe(false);
});

test("a webhook whose address is refused says so in JSON too, and whatever is quiet", async () => {
  const machine = operatorMachine();
  await machine.createEndpoint();
  const args = [
    "webhook",
    "create",
    "--endpoint",
    "Contact",
    "--url",
    "http://127.0.0.1:9/",
    "--json",
    "--quiet",
  ];
  const refused = await machine.mustRun(args);
  expect(refused.json()).toMatchObject({
    refused: expect.stringContaining("nothing will be sent there") as unknown,
  });
  expect(refused.stderr).toContain("nothing will be sent there");
  const allowed = await machine.mustRun([...args, "--allow-private"]);
  expect(allowed.json()).toMatchObject({ refused: null });
  expect(allowed.stderr).toBe("");
});

test("an export to a file tells scripts how much it wrote, and to which file", async () => {
  const machine = operatorMachine();
  await machine.createEndpoint();
  const ran = await machine.mustRun(["submission", "export", "--output", "all.nd", "--json", "--quiet"]);
  expect(ran.json()).toEqual({ exported: 0, file: "all.nd" });
  expect(readFileSync(machine.path("all.nd"), "utf8")).toBe("");
});

test("a second endpoint or workspace of one name is made with a word about it", async () => {
  const machine = operatorMachine();
  await machine.createEndpoint();
  const ran = await machine.mustRun(["endpoint", "create", "--name", "Contact", "--schema", "-"], {
    input: "{}",
  });
  expect(ran.stderr).toContain(
    "another endpoint is named Contact too; commands take the id then, or WORKSPACE/NAME",
  );
  const workspace = await machine.mustRun(["workspace", "create", "--name", "owner"]);
  expect(workspace.stderr).toContain("another workspace is named owner too");
});

test("a setting of the wrong kind says what to write", async () => {
  const env = { FORMSVC_SERVER_TRUST_PROXY: "127.0.0.1", FORMSVC_METRICS_ENABLED: "yes" };
  const ran = await operatorMachine().run(["config", "check"], { env });
  expect(ran.code).toBe(2);
  expect(ran.stderr).toMatch(/FORMSVC_SERVER_TRUST_PROXY: .*write a list, like \["127\.0\.0\.1"\]/);
  expect(ran.stderr).toMatch(/FORMSVC_METRICS_ENABLED: .*write true or false/);
});

test("a unit names the configuration that it was printed with", async () => {
  const machine = operatorMachine();
  const ran = await machine.mustRun(["systemd", "--config", machine.path("formsvc.config.json")]);
  expect(ran.stdout).toContain(` serve --config ${machine.path("formsvc.config.json")}\n`);
});

test("an argument from a variable that a script forgot to set is refused by name", async () => {
  const machine = operatorMachine();
  await machine.createEndpoint();
  for (const [args, name] of [
    [["endpoint", "delete", "", "--yes"], "endpoint"],
    [["schema", "set", "Contact", ""], "file"],
    [["submission", "delete", "sub_01h455vb4pex5vsknk084sn02q", "", "--yes"], "submission"],
    [["backup", ""], "file"],
  ] as const) {
    const ran = await machine.run([...args]);
    expect([ran.code, ran.stderr]).toEqual([2, expect.stringContaining(`argument '${name}' is empty`)]);
  }
  const schema = await machine.run(["endpoint", "create", "--name", "X", "--schema", ""]);
  expect([schema.code, schema.stderr]).toEqual([2, expect.stringContaining("the name of a file is empty")]);
});

test("default restores the honeypots alone, and is no honeypot among others", async () => {
  const machine = operatorMachine();
  await machine.createEndpoint();
  const set = ["endpoint", "set", "Contact", "--honeypot", "default"];
  const refused = await machine.run([...set, "--honeypot", "website"]);
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining("give it alone")]);
  expect(await machine.json([...set])).toMatchObject({
    endpoint: { honeypots: expect.arrayContaining(["_gotcha"]) as string[] },
  });
});

test("a copy is refused a name that the system does not take, as wrong usage", async () => {
  const machine = operatorMachine();
  await machine.createEndpoint();
  for (const command of [["backup"], ["copy", "--to"]]) {
    const ran = await machine.run([...command, "x".repeat(300)]);
    expect([ran.code, ran.stderr]).toEqual([2, expect.stringContaining("cannot be made (ENAMETOOLONG")]);
  }
});

test("a command line that is wrong is refused in the form of all other messages, on a terminal and as JSON", async () => {
  const machine = emptyMachine();
  const count = "option '--limit <count>' argument '0' is invalid: expected a whole number from 1 to 1000";
  for (const [args, message] of [
    [["submission", "list", "--limit", "0"], count],
    [
      ["submission", "list", "--class", "none"],
      "option '--class <class>' argument 'none' is invalid: allowed choices are low, medium, high",
    ],
    [
      ["account", "list", "one", "two."],
      "too many arguments for 'list': expected 0 arguments but got 2: one, two.",
    ],
    [["endpoint", "show"], "missing required argument 'endpoint'"],
    [["workspace", "create"], "required option '--name <name>' not specified"],
    [["submission", "list", "--lmit", "1"], "unknown option '--lmit'\n(Did you mean --limit?)"],
  ] as const) {
    const ran = await machine.run([...args]);
    expect([ran.code, ran.stderr]).toEqual([2, `formsvc: ${message}\n(add --help for what there is)\n`]);
    const asJson = await machine.run([...args, "--json"]);
    expect(JSON.parse(asJson.stderr)).toEqual({ error: "usage", message });
  }
});
