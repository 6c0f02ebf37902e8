import { spawnSync } from "node:child_process";
import { closeSync, existsSync, openSync, writeFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { expect, test } from "vitest";
import { emptyMachine } from "../support/operator-machine.ts";
import { until } from "../support/until.ts";
import { report, sayMissing } from "./extent.ts";
import { countUp, expectTaken, type Post, sendBurst } from "./poster.ts";
import { isReady } from "../support/is-ready.ts";
import { createNumberEndpoint, freePort, sleep, startServer } from "./server.ts";
import { expectNothingLost, readStored } from "./stored.ts";

const FAKE_TIME = `/usr/lib/${process.arch === "arm64" ? "aarch64" : "x86_64"}-linux-gnu/faketime/libfaketime.so.1`;
const hasFakeTime = existsSync(FAKE_TIME);
if (!hasFakeTime) sayMissing("no server's clock jumps without libfaketime", "apt-get install libfaketime");
const hasPrlimit = spawnSync("prlimit", ["--version"]).status === 0;
if (!hasPrlimit)
  sayMissing("no server runs out of descriptors without prlimit", "apt-get install util-linux");

test.skipIf(!hasFakeTime)(
  "a clock that jumps an hour forth and back loses nothing and forgets no key",
  async () => {
    const machine = emptyMachine();
    const { secret } = await createNumberEndpoint(machine);
    const clock = machine.path("clock");
    writeFileSync(clock, "+0");
    const server = await startServer(machine, await freePort(), {
      env: {
        LD_PRELOAD: FAKE_TIME,
        FAKETIME_TIMESTAMP_FILE: clock,
        FAKETIME_NO_CACHE: "1",
        FAKETIME_DONT_FAKE_MONOTONIC: "1",
        FORMSVC_RATE_LIMIT_SECRET_MAX: "1000",
      },
    });
    const target = { port: server.port, key: secret };
    const numbers = countUp();
    const all: Post[] = [];
    const hoursOff: number[] = [];
    for (const jump of ["+0", "+3600", "+0", "-3600", "+0"]) {
      writeFileSync(clock, jump);
      const posts = await sendBurst(target, numbers, 20);
      expectTaken(posts);
      hoursOff.push(Math.round((timeOf(posts[0]?.id) - Date.now()) / 3_600_000) + 0);
      // The same keys after every jump are the same submissions.
      let replayed = 0;
      const again = await sendBurst(target, () => (replayed += 1), 20);
      all.push(...posts);
      expect(again.map(({ id }) => id)).toEqual(all.slice(0, 20).map(({ id }) => id));
    }
    expect(hoursOff).toEqual([0, 1, 0, -1, 0]);
    expect(await server.end("SIGTERM")).toBe(0);
    const stored = readStored(machine.database);
    expectNothingLost(all, stored);
    expect(stored.ids).toHaveLength(all.length);
    report("clock jumps", { jumps: 4, acknowledged: all.length, lost: 0 });
  },
);

test.skipIf(!hasPrlimit)(
  "used up file descriptors refuse connections, and posts are taken again as soon as some are free",
  async () => {
    const machine = emptyMachine();
    const { secret } = await createNumberEndpoint(machine);
    const server = await startServer(machine, await freePort());
    const target = { port: server.port, key: secret };
    const numbers = countUp();
    const before = await sendBurst(target, numbers, 20);
    const limit = ["--pid", String(server.pid), "--nofile=64:64"];
    expect(spawnSync("prlimit", limit).status).toBe(0);

    const sockets = await Promise.all(Array.from({ length: 200 }, () => openSocket(server.port)));
    expect(await isReady(server.port)).toBe(false);
    const refused = await sendBurst(target, numbers, 20);
    // What got no socket got no answer; what did was answered in full.
    expect(refused.filter(({ status }) => status !== null && status !== 200 && status !== 503)).toEqual([]);
    for (const socket of sockets) socket.destroy();
    await until(() => isReady(server.port));
    const after = await sendBurst(target, numbers, 20);
    expectTaken(after);
    expect(await server.end("SIGTERM")).toBe(0);
    expectNothingLost([...before, ...refused, ...after], readStored(machine.database));
  },
);

test("a reader of the log that hangs holds up neither posts nor the end of the server", async () => {
  const machine = emptyMachine();
  const { secret } = await createNumberEndpoint(machine);
  const pipe = machine.path("pipe");
  expect(spawnSync("mkfifo", [pipe]).status).toBe(0);
  // Open at both ends, and never read.
  const stdout = openSync(pipe, "r+");
  const options = { stdout, env: { FORMSVC_LOG_LEVEL: "info" } };
  const server = await startServer(machine, await freePort(), options);
  const numbers = countUp();
  const posts: Post[] = [];
  // A pipe holds 64 KiB; this is three times as much.
  while (posts.length < 1500) {
    posts.push(...(await sendBurst({ port: server.port, key: secret }, numbers, 100)));
  }
  expectTaken(posts);
  const ended = server.end("SIGTERM");
  const grace = sleep(10_000, "still running", { ref: false });
  expect(await Promise.race([ended, grace])).toBe(0);
  closeSync(stdout);
  expectNothingLost(posts, readStored(machine.database));
});

/** When a server's clock said that an id was made. */
function timeOf(id: string | null | undefined): number {
  const digits = "0123456789abcdefghjkmnpqrstvwxyz";
  const text = id?.slice("sub_".length) ?? "";
  // The first 48 of 128 bits, which the 26 characters of five bits each carry after two of padding.
  const bits = text.replace(/./g, (digit) => digits.indexOf(digit).toString(2).padStart(5, "0"));
  return Number.parseInt(bits.slice(2, 50), 2);
}

/** A connection that sends nothing, whether the server keeps it or not. */
function openSocket(port: number): Promise<Socket> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: "127.0.0.1" });
    socket.once("connect", () => resolve(socket));
    socket.on("error", () => resolve(socket));
  });
}
