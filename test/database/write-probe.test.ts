import { spawnSync } from "node:child_process";
import { closeSync, ftruncateSync, openSync, statSync } from "node:fs";
import { expect, onTestFinished, test, vi } from "vitest";
import { createWritability, proveWritable } from "../../src/database/sqlite/write-probe.ts";
import { operatorMachine } from "../support/operator-machine.ts";
import { until } from "../support/until.ts";
import { temporaryDatabase } from "../support/temporary-database.ts";
import { goodPost, startServer } from "../support/test-server.ts";

const mayLimit = spawnSync("prlimit", ["--version"]).status === 0;
if (!mayLimit)
  process.stderr.write("NOT TESTED: readiness with files that cannot grow (install util-linux)\n");

test.skipIf(!mayLimit)(
  "a server whose files cannot be written is not ready, although nobody posts, and ready again when they can",
  async () => {
    const server = await operatorMachine().serve();
    const ready = async (): Promise<number> => (await fetch(`${server.url}/readyz`)).status;
    const limitFileSize = (limit: string): void => {
      spawnSync("prlimit", [`--pid=${server.process.pid}`, `--fsize=${limit}:`]);
    };
    expect(await ready()).toBe(200);
    limitFileSize("1");
    await until(async () => (await ready()) === 503);
    limitFileSize("unlimited");
    await until(async () => (await ready()) === 200);
  },
);

test("a post that cannot be stored makes the server not ready at once, and the next one that is stored ready", async () => {
  const server = await startServer();
  const { secret } = await server.addEndpoint();
  const ready = async (): Promise<number> =>
    (await server.request({ method: "GET", path: "/readyz" })).status;
  expect((await server.post(secret, goodPost)).status).toBe(200);
  expect(await ready()).toBe(200);
  const disk = server.serverDatabase;
  disk.execute("VACUUM");
  disk.pragma(`max_page_count = ${Number(disk.pragma("page_count"))}`);
  const large = { ...goodPost, message: "One word after the other. ".repeat(900) };
  expect((await server.post(secret, large)).status).toBe(503);
  expect(await ready()).toBe(503);
  disk.pragma("max_page_count = 1000000");
  expect((await server.post(secret, large)).status).toBe(200);
  expect(await ready()).toBe(200);
});

/** A writability whose time stands still, and how much its probes wrote. */
function stillProbe() {
  vi.useFakeTimers({ toFake: ["performance"], now: 0 });
  onTestFinished(() => void vi.useRealTimers());
  const db = temporaryDatabase();
  // The log begins with a header.
  proveWritable(db);
  const log = `${db.path}-wal`;
  const writability = createWritability(db);
  return {
    log,
    writability,
    pass: (ms: number) => vi.advanceTimersByTime(ms),
    written: () => statSync(log).size,
  };
}

test("the probe writes one page, at most once a second, and not while commits tell", () => {
  const { writability, pass, written } = stillProbe();
  const before = written();
  for (let asked = 0; asked < 10; asked += 1) expect(writability.isWritable()).toBe(true);
  const page = written() - before;
  expect(page).toBe(4096 + 24);
  pass(1000);
  writability.isWritable();
  expect(written()).toBe(before + 2 * page);
  pass(999);
  writability.report(true);
  pass(999);
  expect(writability.isWritable()).toBe(true);
  writability.report(false);
  pass(999);
  expect(writability.isWritable()).toBe(false);
  expect(written()).toBe(before + 2 * page);
  pass(1);
  expect(writability.isWritable()).toBe(true);
  expect(written()).toBe(before + 3 * page);
});

test("a log that a reader keeps from beginning anew is not made longer by probes", () => {
  const { log, writability, pass, written } = stillProbe();
  const fd = openSync(log, "r+");
  ftruncateSync(fd, 67_108_864);
  closeSync(fd);
  const before = written();
  for (let seconds = 0; seconds < 10; seconds += 1) {
    expect(writability.isWritable()).toBe(true);
    pass(1000);
  }
  expect(written()).toBe(before);
});
