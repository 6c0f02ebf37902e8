import { existsSync } from "node:fs";
import { expect, test } from "vitest";
import { operatorMachine } from "./operator-machine.ts";
import { snapshot } from "./program.ts";

test("a command starts from a snapshot of the program, with the arguments, variables and folder of its own process", async () => {
  expect(existsSync(snapshot), "the run of the tests says at its beginning why there is none").toBe(true);
  const machine = operatorMachine();
  const settings = await machine.json(["config", "show"], { env: { FORMSVC_SERVER_PORT: "4711" } });
  expect(JSON.stringify(settings)).toContain("4711");
  await machine.mustRun(["init", "--json"]);
  expect(existsSync(machine.path("formsvc.db"))).toBe(true);
});
