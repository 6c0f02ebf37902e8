import { fork } from "node:child_process";
import { once } from "node:events";
import { existsSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { isServed, lockServer } from "../../src/database/sqlite/server-lock.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const STARTED = "2026-06-15T12:00:00.000Z";

test("a second server on the same file is refused, and told which process serves it since when", () => {
  const path = join(temporaryFolder(), "formsvc.db");
  const lock = lockServer(path, 4711, STARTED);
  expect(() => lockServer(path, 4712, STARTED)).toThrow(
    expect.objectContaining({
      code: "server_running",
      message: expect.stringContaining(`process 4711, running since ${STARTED}`) as string,
    }) as Error,
  );
  lock.release();
  lockServer(path, 4712, STARTED).release();
});

test("whether a file is served is seen without taking it: before, during and after, and beside a server that starts", () => {
  const path = join(temporaryFolder(), "formsvc.db");
  expect([isServed(path), existsSync(`${path}-serve`)]).toEqual([false, false]);
  const lock = lockServer(path, 1, STARTED);
  expect(isServed(path)).toBe(true);
  lock.release();
  expect(isServed(path)).toBe(false);
  lockServer(path, 2, STARTED).release();
  writeFileSync(`${path}-serve`, "no database at all, and longer than the header of one would be".repeat(3));
  expect(isServed(path)).toBe(true);
});

test("servers on different files do not meet", () => {
  const folder = temporaryFolder();
  const first = lockServer(join(folder, "a.db"), 1, STARTED);
  const second = lockServer(join(folder, "b.db"), 1, STARTED);
  expect(second).not.toBe(first);
  for (const lock of [first, second]) lock.release();
});

test("the lock's file is readable by its owner alone", () => {
  const path = join(temporaryFolder(), "formsvc.db");
  const lock = lockServer(path, 1, STARTED);
  expect((statSync(`${path}-serve`).mode & 0o777).toString(8)).toBe("600");
  lock.release();
});

test("no lock is made through a link, which could lead root anywhere", () => {
  const folder = temporaryFolder();
  const path = join(folder, "formsvc.db");
  const victim = join(folder, "victim");
  symlinkSync(victim, `${path}-serve`);
  expect(() => lockServer(path, 1, STARTED)).toThrow("a link that leads nowhere");
  expect(existsSync(victim)).toBe(false);
  writeFileSync(victim, "");
  expect(() => lockServer(path, 1, STARTED)).toThrow("must not be a link");
  expect(statSync(victim).size).toBe(0);
});

test("a process that is killed leaves no lock behind", async () => {
  const path = join(temporaryFolder(), "formsvc.db");
  const worker = fileURLToPath(new URL("../support/hold-server-lock.ts", import.meta.url));
  const holder = fork(worker, [path], { stdio: ["ignore", "ignore", "inherit", "ipc"] });
  await once(holder, "message");
  expect(() => lockServer(path, 1, STARTED)).toThrow(`process ${holder.pid}`);
  holder.kill("SIGKILL");
  await once(holder, "exit");
  lockServer(path, 1, STARTED).release();
}, 60_000);
