import { expect, test } from "vitest";
import { exampleSchema } from "../support/example-schema.ts";
import { emptyMachine } from "../support/operator-machine.ts";
import type { Ran } from "../support/program.ts";

test("every exit code is given as documented, with a message that says what to do", async () => {
  const machine = emptyMachine();
  await machine.createEndpoint();
  const file = machine.write("schema.json", exampleSchema);
  const bad = machine.write("bad.json", { name: { type: "strin" } });
  const cases: [readonly string[], number, RegExp][] = [
    [["version"], 0, /^$/],
    [["account", "create", "owner@localhost"], 1, /already/],
    [["schema", "check", bad], 2, /string/],
    [["schema", "check", machine.write("no.json", "{")], 2, /not JSON/],
    [["schema", "check", machine.path("missing.json")], 2, /cannot be read/],
    [["workspace", "set-plan", "owner", "gold"], 2, /hobby, pro, business/],
    [["submission", "list", "--cursor", "x"], 2, /cursor/],
    [["endpoint", "show", "Nobody"], 3, /endpoint list/],
    [["workspace", "show", "Nobody"], 3, /workspace list/],
    [["key", "revoke", "Nobody"], 3, /key list/],
    [["submission", "show", "sub_x"], 3, /no submission/],
    [["account", "list", "--db", machine.path("none/x.db")], 5, /there is no database/],
    [["init", "--db", machine.path("none/x.db")], 5, /folder does not exist/],
  ];
  for (const [args, code, message] of cases) {
    const ran = await machine.run(args);
    expect({ args, code: ran.code }).toEqual({ args, code });
    expect(ran.stderr).toMatch(message);
    expect(ran.stderr).not.toMatch(/\n\s+at /);
  }
  await machine.createEndpoint({ name: "B" });
  await machine.createEndpoint({ name: "C" });
  const over = await machine.run(["endpoint", "create", "--name", "D", "--schema", file]);
  expect(over.code).toBe(4);
  expect(over.stderr).toContain("formsvc workspace set-plan");
});

test("what is not understood is refused with exit code 2 and the nearest thing there is", async () => {
  const machine = emptyMachine();
  const cases: [readonly string[], RegExp][] = [
    [["endpont", "list"], /Did you mean endpoint/],
    [["endpoint", "lst"], /Did you mean list/],
    [["endpoint", "list", "--jsn"], /Did you mean --json/],
    [["endpoint", "list", "extra"], /too many arguments/],
    [["endpoint", "show"], /missing required argument 'endpoint'/],
    [["endpoint", "create", "--name", "A"], /--schema/],
    [["key", "issue", "A", "--kind", "open"], /secret, publishable/],
    [["submission", "list", "--limit", "0"], /whole number/],
    [["submission", "list", "--since", "yesterday"], /2026-01-31/],
    [["workspace", "usage", "--month", "2026-13"], /month/],
    [["key", "rotate", "key_x", "--grace", "soon"], /duration/],
    [["serve", "--port", "99999"], /65535/],
    [["serve", "--host", ""], /address/],
    [["completion", "tcsh"], /bash, zsh, fish/],
    [["endpoint"], /Usage: formsvc endpoint/],
    [[], /Usage: formsvc/],
  ];
  for (const [args, message] of cases) {
    const ran = await machine.run(args, { isRefused: true });
    expect({ args, code: ran.code, stdout: ran.stdout }).toEqual({ args, code: 2, stdout: "" });
    expect(ran.stderr).toMatch(message);
  }
});

test("with --json every complaint is one JSON object on standard error, also about the command line itself", async () => {
  const machine = emptyMachine();
  await machine.createEndpoint();
  for (const [args, error] of [
    [["endpoint", "show", "Nobody", "--json"], "not_found"],
    [["endpoint", "list", "--jsn", "--json"], "usage"],
    [["endpoint", "lst", "--json"], "usage"],
    [["config", "show", "--json", "--config", "/nowhere"], "config_invalid"],
  ] as const) {
    const ran = await machine.run(args);
    expect(ran.stdout).toBe("");
    expect(JSON.parse(ran.stderr)).toEqual({ error, message: expect.any(String) as unknown });
  }
});

test("a name that fits several asks for the id, which always works", async () => {
  const machine = emptyMachine();
  const first = await machine.createEndpoint({ name: "Twin" });
  await machine.createEndpoint({ name: "Twin" });
  for (const args of [
    ["endpoint", "show", "Twin"],
    ["schema", "show", "Twin"],
    ["key", "list", "Twin"],
    ["submission", "list", "--endpoint", "Twin"],
    ["endpoint", "delete", "Twin", "--yes"],
  ]) {
    expect(await machine.run(args)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("use the id") as unknown,
    });
  }
  expect((await machine.run(["endpoint", "show", first.id])).code).toBe(0);
  await machine.json(["account", "create", "second@example.com"]);
  const file = machine.write("schema.json", exampleSchema);
  const unclear = await machine.run(["endpoint", "create", "--name", "X", "--schema", file]);
  expect(unclear).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("several workspaces") as unknown,
  });
  expect((await machine.run(["workspace", "set-plan", "pro"])).stderr).toContain("workspace list");
  expect((await machine.run(["workspace", "create", "--name", "Y"])).stderr).toContain("--account");
});

test("help is printed on standard output for every way of asking", async () => {
  const machine = emptyMachine();
  const asked = [
    ["endpoint", "create", "--help"],
    ["endpoint", "create", "-h"],
    ["help", "endpoint", "create"],
    ["endpoint", "help", "create"],
  ];
  const answers: Ran[] = [];
  for (const args of asked) answers.push(await machine.run(args));
  for (const answer of answers) expect(answer).toEqual(answers[0]);
  expect(answers[0]).toMatchObject({ code: 0, stderr: "" });
  expect(answers[0]!.stdout).toContain("Usage: formsvc endpoint create");
  expect(answers[0]!.stdout).toContain("Examples:");
  for (const args of [["--help"], ["help"], ["help", "--json"]]) {
    const general = await machine.run(args);
    expect([general.code, general.stderr], args.join(" ")).toEqual([0, ""]);
    expect(general.stdout).toContain("Exit codes: 0 done");
  }
  const ofNoun = await machine.run(["help", "endpoint"]);
  expect(ofNoun).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("Usage: formsvc endpoint") as string,
  });
  expect(await machine.run(["help", "endpiont"])).toMatchObject({
    code: 2,
    stdout: "",
    stderr: "formsvc: there is no command or topic endpiont; formsvc --help lists them\n",
  });
});
