import { spawnSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import SqliteDatabase from "better-sqlite3";
import { expect, test } from "vitest";
import { type OperatorMachine, emptyMachine } from "../support/operator-machine.ts";
import { whenEnded } from "../support/program.ts";
import { until } from "../support/until.ts";
import { PATIENCE_MS, report, sayMissing } from "./extent.ts";
import {
  countUp,
  expectTaken,
  type Post,
  type PosterTarget,
  sendBurst,
  sendUntilAcknowledged,
  startPosting,
} from "./poster.ts";
import {
  createNumberEndpoint,
  type FaultServer,
  freePort,
  sleep,
  startServer,
  type StartOptions,
} from "./server.ts";
import { expectNothingLost, readStored } from "./stored.ts";
import { attachStrace, hasStrace } from "./system-calls.ts";

const mayMount = spawnSync("unshare", ["-m", "mount", "-t", "tmpfs", "none", "/mnt"]).status === 0;
if (!mayMount) sayMissing("no disk is filled without the right to mount one", "run the tests as root");
if (!hasStrace) sayMissing("no disk reports errors without strace", "apt-get install strace");

/** Posts sent at once if a test looks at each answer. */
const BURST = 40;

interface Site {
  readonly server: FaultServer;
  readonly target: PosterTarget;
  readonly numbers: () => number;
}

async function openSite(machine: OperatorMachine, options: StartOptions = {}): Promise<Site> {
  const { secret } = await createNumberEndpoint(machine);
  const server = await startServer(machine, await freePort(), options);
  return { server, target: { port: server.port, key: secret }, numbers: countUp() };
}

/** Refused as docs/reliability.md promises: 503 with Retry-After, and nothing else. */
function expectRefused(posts: readonly Post[]): void {
  const answers = posts.map(
    ({ status, retryAfter }) => `${status}, Retry-After ${retryAfter === null ? "missing" : "given"}`,
  );
  expect([...new Set(answers)]).toEqual(["503, Retry-After given"]);
}

/** Everything is taken again without anybody's help; what was refused is sent again and stored once. */
async function expectRecovery({ target, numbers }: Site, earlier: readonly Post[]): Promise<Post[]> {
  await until(async () => {
    const posts = await sendBurst(target, numbers, 1);
    return posts[0]?.status === 200;
  });
  await sendUntilAcknowledged(target, earlier);
  const after = await sendBurst(target, numbers, BURST);
  expectTaken(after);
  return after;
}

test.skipIf(!mayMount)(
  "a full disk, the log's too, is answered 503 until there is room again, and loses nothing",
  { timeout: PATIENCE_MS },
  async () => {
    const machine = emptyMachine();
    const disk = machine.path("disk");
    mkdirSync(disk);
    const mount = 'mount -t tmpfs -o size=16m none "$0" && cp formsvc.db "$0" && exec "$@" > "$0/log"';
    const site = await openSite(machine, {
      within: ["unshare", "-m", "--propagation", "private", "sh", "-c", mount, disk],
      args: ["--db", `${disk}/formsvc.db`],
      env: { FORMSVC_LOG_LEVEL: "info" },
    });
    const { server, target, numbers } = site;
    const inside = `/proc/${server.pid}/root${disk}`;
    const room = `${inside}/room`;
    writeFileSync(room, Buffer.alloc(14_500_000));

    const poster = startPosting(target, 16, numbers);
    const isFull = (): boolean => poster.posts.filter(({ status }) => status === 503).length > 200;
    await until(isFull);
    await poster.stop();
    expect(new Set(poster.posts.map(({ status }) => status))).toEqual(new Set([200, 503]));
    const refused = await sendBurst(target, numbers, BURST);
    expectRefused(refused);
    expectNothingLost(poster.posts, readStored(`${inside}/formsvc.db`));

    rmSync(room);
    const posts = [...poster.posts, ...refused.filter(({ idempotencyKey }) => idempotencyKey !== null)];
    const keyed = posts.filter(({ idempotencyKey }) => idempotencyKey !== null);
    const after = await expectRecovery(site, keyed);
    expectNothingLost([...posts, ...after], readStored(`${inside}/formsvc.db`));
    report("disk full", { acknowledged: poster.posts.filter(({ id }) => id !== null).length, lost: 0 });
  },
);

const FAILURES = [
  { what: "a disk that fails to write", call: "pwrite64", error: "EIO" },
  { what: "a disk that became read-only", call: "pwrite64", error: "EROFS" },
  { what: "a disk that fails to read", call: "pread64", error: "EIO" },
];

test.skipIf(!hasStrace).each(FAILURES)(
  "$what is answered 503 until it works again, and loses nothing",
  { timeout: PATIENCE_MS },
  async ({ what, call, error }) => {
    const machine = emptyMachine();
    const site = await openSite(machine);
    const { server, target, numbers } = site;
    const before = await sendBurst(target, numbers, BURST);
    expectTaken(before);

    const failing = await attachStrace(server.pid, [
      "-o",
      "/dev/null",
      "-e",
      `trace=${call}`,
      "-e",
      `inject=${call}:error=${error}`,
    ]);
    // Another process's commit makes the server read the file anew instead of remembering it.
    const other = new SqliteDatabase(machine.database);
    other.exec("UPDATE settings_version SET version = version + 1");
    other.close();
    await sleep(300);
    const refused = await sendBurst(target, numbers, BURST);
    await failing.stop();
    expectRefused(refused);

    const after = await expectRecovery(site, refused);
    expect(await server.end("SIGTERM")).toBe(0);
    expectNothingLost([...before, ...refused, ...after], readStored(machine.database));
    report(what, { refused: refused.length, lost: 0 });
  },
);

test.skipIf(!hasStrace)(
  "a disk that fails to make something durable once ends the server with 5, and what was acknowledged is there after its restart",
  { timeout: PATIENCE_MS },
  async () => {
    const machine = emptyMachine();
    const site = await openSite(machine);
    const { server, target, numbers } = site;
    const before = await sendBurst(target, numbers, BURST);
    expectTaken(before);
    const ended = whenEnded(server.process);
    const sync = "fsync,fdatasync";
    const failing = await attachStrace(server.pid, [
      "-o",
      "/dev/null",
      "-e",
      `trace=${sync}`,
      "-e",
      `inject=${sync}:error=EIO:when=1`,
    ]);
    const refused = [
      ...(await sendBurst(target, numbers, BURST)),
      ...(await sendBurst(target, numbers, BURST)),
    ];
    expect(await ended).toBe(5);
    await failing.stop();
    expect(server.log()).toContain('"event":"database.lost"');
    // Some are cut off by the end of the process.
    expect(refused.map(({ status }) => status).filter((status) => status !== null && status !== 503)).toEqual(
      [],
    );
    expect(refused.some(({ status }) => status === 503)).toBe(true);

    const again = await startServer(machine, server.port);
    await sendUntilAcknowledged(target, refused);
    const after = await sendBurst(target, numbers, BURST);
    expectTaken(after);
    expect(await again.end("SIGTERM")).toBe(0);
    expectNothingLost([...before, ...refused, ...after], readStored(machine.database));
    report("a disk that fails to make something durable", { refused: refused.length, lost: 0 });
  },
);

test("a database that another process holds for two seconds makes posts wait, and loses none", async () => {
  const machine = emptyMachine();
  const site = await openSite(machine);
  const { server, target, numbers } = site;
  const other = new SqliteDatabase(machine.database, { timeout: 10_000 });
  const poster = startPosting(target, 16, numbers);
  await until(() => poster.posts.some(({ status }) => status === 200));
  other.exec("BEGIN IMMEDIATE");
  await sleep(2000);
  const known = await fetch(`http://127.0.0.1:${server.port}/healthz`);
  expect(known.status).toBe(200);
  other.exec("COMMIT");
  other.close();
  const held = poster.posts.length;
  await until(() => poster.posts.length > held + 100);
  await poster.stop();
  expect(new Set(poster.posts.map(({ status }) => status))).toEqual(new Set([200]));
  expect(await server.end("SIGTERM")).toBe(0);
  expectNothingLost(poster.posts, readStored(machine.database));
});

test(
  "a database that another process holds longer than posts wait is answered 503, and taken up again",
  { timeout: PATIENCE_MS },
  async () => {
    const machine = emptyMachine();
    const site = await openSite(machine);
    const { server, target, numbers } = site;
    // Verifies the key, so that nothing but the lock can make posts wait.
    await sendBurst(target, numbers, 1);
    const other = new SqliteDatabase(machine.database);
    other.exec("BEGIN IMMEDIATE");
    const refused = await sendBurst(target, numbers, BURST);
    other.exec("ROLLBACK");
    other.close();
    expectRefused(refused);
    const after = await expectRecovery(site, refused);
    expect(await server.end("SIGTERM")).toBe(0);
    expectNothingLost([...refused, ...after], readStored(machine.database));
  },
);
