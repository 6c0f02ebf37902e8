import { chownSync, copyFileSync, existsSync, mkdirSync, symlinkSync } from "node:fs";
import { expect, test } from "vitest";
import { operatorMachine } from "../support/operator-machine.ts";

const isRoot = process.getuid?.() === 0;
if (!isRoot) process.stderr.write("NOT TESTED: what root refuses (run the tests as root)\n");
const STRANGER = 12_345;

test.skipIf(!isRoot)("root uses a configuration of another user only if it is named", async () => {
  const machine = operatorMachine();
  const file = machine.path("formsvc.config.json");
  chownSync(file, STRANGER, STRANGER);
  for (const args of [["config", "show"], ["endpoint", "list"], ["serve", "--port", "0"], ["init"]]) {
    const ran = await machine.run(args);
    expect([args[0], ran.code]).toEqual([args[0], 2]);
    expect(ran.stderr).toContain(`${file}: root does not use it unnamed`);
    expect(ran.stderr).toContain(`user ${STRANGER}`);
  }
  expect(existsSync(machine.database)).toBe(false);
  await machine.mustRun(["init", "--config", file]);
  const env = { FORMSVC_CONFIG: file };
  expect((await machine.run(["endpoint", "list"], { env })).code).toBe(0);
});

test.skipIf(!isRoot)("root uses a database in another user's folder only if it is named", async () => {
  const machine = operatorMachine();
  await machine.createEndpoint();
  chownSync(machine.folder, STRANGER, STRANGER);
  const config = ["--config", machine.path("formsvc.config.json")];
  const refused = await machine.run(["endpoint", "list", ...config]);
  expect([refused.code, refused.stderr]).toEqual([
    2,
    expect.stringContaining(`if it is the right one: --db ${machine.database}`),
  ]);
  await machine.mustRun(["endpoint", "list", ...config, "--db", "formsvc.db"]);
  const env = { FORMSVC_DATABASE_PATH: "formsvc.db" };
  expect((await machine.run(["endpoint", "list", ...config], { env })).code).toBe(0);
  machine.configure({ database: { path: machine.database } });
  await machine.mustRun(["endpoint", "list", ...config]);
});

test.skipIf(!isRoot)(
  "another user's link in a folder of root is not followed to a database of root",
  async () => {
    const machine = operatorMachine();
    await machine.createEndpoint();
    mkdirSync(machine.path("elsewhere"));
    copyFileSync(machine.database, machine.path("elsewhere/real.db"));
    const other = operatorMachine();
    symlinkSync(machine.path("elsewhere/real.db"), other.database);
    await other.mustRun(["endpoint", "list"]);
    chownSync(machine.path("elsewhere/real.db"), STRANGER, STRANGER);
    expect((await other.run(["endpoint", "list"])).code).toBe(2);
  },
);
