import { expect, test } from "vitest";
import { operatorMachine } from "../support/operator-machine.ts";

test("a server that finds no database says loudly that it made an empty one, once", async () => {
  const machine = operatorMachine();
  const created = (lines: readonly Record<string, unknown>[]) =>
    lines.filter(({ event }) => event === "database.created");
  const first = await machine.serve();
  expect(created(first.lines)).toMatchObject([{ level: "warn", database: machine.database }]);
  expect(String(created(first.lines)[0]?.["msg"])).toMatch(
    /database\.path .* command line and FORMSVC_DATABASE_PATH/,
  );
  await first.stop();
  const second = await machine.serve();
  expect(created(second.lines)).toEqual([]);
  await second.stop();
});
