import { existsSync } from "node:fs";
import { expect, test } from "vitest";
import { operatorMachine } from "./operator-machine.ts";
import { collect, snapshot } from "./program.ts";

test("a command starts from a snapshot of the program, with the arguments, variables and folder of its own process", async () => {
  expect(existsSync(snapshot), "the run of the tests says at its beginning why there is none").toBe(true);
  const machine = operatorMachine();
  const start = (args: readonly string[], env = {}) => collect(machine.start(args, { env }));
  const shown = await start(["config", "show", "--json"], { FORMSVC_SERVER_PORT: "4711" });
  expect(JSON.stringify(shown.json())).toContain("4711");
  expect((await start(["init", "--json"])).code).toBe(0);
  expect(existsSync(machine.path("formsvc.db"))).toBe(true);
});
