import { existsSync } from "node:fs";
import { expect, test } from "vitest";
import { operatorMachine } from "./operator-machine.ts";
import { runHosted } from "./run-hosted.ts";

const CREATE = ["endpoint", "create", "--name", "Contact", "--schema", "-"];

test("a hosted command has its own folder, variables and standard streams, and nothing of the command before", async () => {
  const machine = operatorMachine();
  const run = (args: readonly string[], env: Record<string, string> = {}, input = "") =>
    runHosted(machine.folder, args, { env, input });
  expect(await run(CREATE, { FORMSVC_DATABASE_PATH: "other.db" }, "{}")).toMatchObject({ code: 0 });
  expect(existsSync(machine.path("other.db"))).toBe(true);
  const missing = await run(["endpoint", "list"]);
  expect([missing?.code, missing?.stdout]).toEqual([5, ""]);
  expect(missing?.stderr).toContain(`${machine.database}: there is no database`);
  const withoutInput = await run(CREATE, { FORMSVC_DATABASE_PATH: "other.db" });
  expect([withoutInput?.code, withoutInput?.stdout]).toEqual([2, ""]);
  const listed = await run(["endpoint", "list", "--json"], { FORMSVC_DATABASE_PATH: "other.db" });
  expect(listed?.stderr).toBe("");
  expect(listed?.json()).toMatchObject({ data: [{ name: "Contact" }] });
});

test("of two commands at the same time one has a process of its own", async () => {
  const machine = operatorMachine();
  const [first, second] = await Promise.all([1, 2].map(() => runHosted(machine.folder, ["version"])));
  expect([first?.code, second]).toEqual([0, null]);
});

test.each([
  { args: ["serve"] },
  { args: ["mcp"] },
  { args: ["version"], env: { NODE_OPTIONS: "--no-warnings" } },
  { args: ["version"], within: ["nice"] },
  { args: ["version"], stdout: 1 },
])("what is about a process has its own: %j", async ({ args, ...options }) => {
  expect(await runHosted("/", args, options)).toBeNull();
});
