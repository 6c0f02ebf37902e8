import { expect, test } from "vitest";
import { commonFlagsLast } from "../../src/cli/flags/leading-flags.ts";
import { operatorMachine } from "../support/operator-machine.ts";

test.each([
  ["--db x endpoint list", "endpoint list --db x"],
  ["--db=x --json endpoint list --class low", "endpoint list --db=x --json --class low"],
  ["endpoint --quiet list", "endpoint list --quiet"],
  ["--config c backup FILE --json", "backup FILE --config c --json"],
  ["--json serve --port 80", "serve --json --port 80"],
  ["endpoint create --name --db x", "endpoint create --name --db x"],
  ["endpoint show -- --db", "endpoint show -- --db"],
  ["--json", "--json"],
  ["--db", "--db"],
  ["--json=1 serve", "--json=1 serve"],
  ["--port 80 serve", "--port 80 serve"],
  ["", ""],
])("%j means %j", (given, meant) => {
  const words = (text: string): string[] => (text === "" ? [] : text.split(" "));
  expect(commonFlagsLast(words(given))).toEqual(words(meant));
});

test("a flag that every command has may stand before the noun, between noun and verb, and behind", async () => {
  const machine = operatorMachine();
  const made = await machine.run(["--db", "other.db", "--json", "account", "create", "ada@example.org"]);
  expect(made.code).toBe(0);
  expect(made.stderr).toMatch(/^made a new database: .*other\.db\n$/);
  for (const args of [
    ["--db=other.db", "account", "list", "--json"],
    ["account", "--db", "other.db", "--json", "list"],
    ["account", "list", "--db", "other.db", "--json"],
  ]) {
    expect((await machine.mustRun(args)).stdout).toContain("ada@example.org");
  }
  expect((await machine.run(["account", "list", "--json"])).stdout).not.toContain("ada@example.org");
});

test("a command's own flag before its noun is refused, and the message says where it belongs", async () => {
  const ran = await operatorMachine().run(["--port", "80", "serve"], { isRefused: true });
  expect(ran.code).toBe(2);
  expect(ran.stderr).toContain("unknown option '--port'");
  expect(ran.stderr).toContain("flags stand behind the command");
});

test("--version --json is the JSON of version --json, wherever the flags stand", async () => {
  const machine = operatorMachine();
  const wanted = (await machine.mustRun(["version", "--json"])).stdout;
  for (const args of [
    ["--version", "--json"],
    ["--json", "--version"],
    ["-V", "--json"],
  ])
    expect((await machine.mustRun(args)).stdout).toBe(wanted);
  const plain = (await machine.mustRun(["--version"])).stdout;
  expect(plain).toBe((await machine.mustRun(["version"])).stdout);
});
