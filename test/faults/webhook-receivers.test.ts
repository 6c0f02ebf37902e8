import { spawnSync } from "node:child_process";
import { appendFileSync, mkdirSync, rmSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { expect, test } from "vitest";
import { type OperatorMachine, emptyMachine } from "../support/operator-machine.ts";
import { until } from "../support/until.ts";
import { startReceiverWith } from "../support/receivers.ts";
import { PATIENCE_MS, report, sayMissing } from "./extent.ts";
import { countUp, expectTaken, sendBurst } from "./poster.ts";
import { createNumberEndpoint, freePort, peakResidentMb, sleep, startServer } from "./server.ts";

const mayMount = spawnSync("unshare", ["-m", "mount", "-t", "tmpfs", "none", "/mnt"]).status === 0;
if (!mayMount) sayMissing("no disk is filled without the right to mount one", "run the tests as root");

const HUGE_BYTES = 512 * 1024 * 1024;
/** What one process may grow by over whatever receivers answer; the garbage of a second's work is some of it. */
const GROWTH_MB = 20;
/** At once, from one address: fewer than its share of the requests that are answered. */
const WARM_POSTS = 100;
const IN_FLIGHT = 4;

async function prepare(machine: OperatorMachine, url: string): Promise<string> {
  const { secret } = await createNumberEndpoint(machine);
  await machine.json(["webhook", "create", "--endpoint", "Numbers", "--url", url, "--allow-private"]);
  return secret;
}

/** Writes as long as anybody reads. */
function writeHuge(response: ServerResponse, status: number, headers: Record<string, string>): void {
  response.writeHead(status, { "content-length": String(HUGE_BYTES), ...headers });
  const block = Buffer.alloc(1024 * 1024, 97);
  let left = HUGE_BYTES;
  const pump = (): void => {
    while (left > 0 && !response.destroyed) {
      left -= block.length;
      if (!response.write(block)) return;
    }
  };
  response.on("error", () => undefined).on("drain", pump);
  pump();
}

test(
  "answers of 512 MB, packed ones too, cost no memory and change no verdict",
  { timeout: PATIENCE_MS },
  async () => {
    const machine = emptyMachine();
    let isHuge = false;
    await using receiver = await startReceiverWith((response, _, index) => {
      if (!isHuge) return void response.end();
      const packed = index % 2 === 0 ? { "content-encoding": "gzip" } : {};
      return writeHuge(response, index % 3 === 0 ? 404 : 200, packed);
    });
    const key = await prepare(machine, receiver.url);
    const server = await startServer(machine, await freePort());
    const target = { port: server.port, key };
    const numbers = countUp();
    expectTaken(await sendBurst(target, numbers, WARM_POSTS));
    await until(() => receiver.received.length === WARM_POSTS);
    const before = peakResidentMb(server.pid);
    isHuge = true;
    expectTaken(await sendBurst(target, numbers, 60));
    await until(() => receiver.received.length >= WARM_POSTS + 60);
    await until(async () => {
      const list = await machine.json<{ data: unknown[] }>(["webhook", "deliveries", "--state", "sending"]);
      return list.data.length === 0;
    });
    const grown = peakResidentMb(server.pid) - before;
    const { data } = await machine.json<{ data: { last_status: number }[] }>(["webhook", "deliveries"]);
    expect(new Set(data.slice(0, 40).map((row) => row.last_status))).toEqual(new Set([200, 404]));
    report("answers of 512 MB", { answers: receiver.received.length - WARM_POSTS, "MB more": grown });
    expect(grown).toBeLessThan(GROWTH_MB);
  },
);

test.skipIf(!mayMount)(
  "on a full disk nothing is sent that is not on record, and deliveries go on when there is room",
  { timeout: PATIENCE_MS },
  async () => {
    const machine = emptyMachine();
    const waiting: ServerResponse[] = [];
    let isSlow = true;
    await using receiver = await startReceiverWith((response) => {
      if (isSlow) waiting.push(response);
      else response.end();
    });
    const key = await prepare(machine, receiver.url);
    const disk = machine.path("disk");
    mkdirSync(disk);
    const mount = 'mount -t tmpfs -o size=16m none "$0" && cp formsvc.db "$0" && exec "$@"';
    const server = await startServer(machine, await freePort(), {
      within: ["unshare", "-m", "--propagation", "private", "sh", "-c", mount, disk],
      args: ["--db", `${disk}/formsvc.db`],
    });
    const posts = await sendBurst({ port: server.port, key }, countUp(), 30);
    expectTaken(posts);
    await until(() => waiting.length === IN_FLIGHT);
    const inside = `/proc/${server.pid}/root${disk}`;
    fill(`${inside}/room`);
    for (const response of waiting.splice(0)) response.end();
    await until(() => server.log().includes("delivery.waiting"));
    await sleep(1500);
    expect(receiver.received).toHaveLength(IN_FLIGHT);

    isSlow = false;
    rmSync(`${inside}/room`);
    await until(() => receiver.received.length === posts.length);
    await sleep(500);
    expect(await server.end("SIGTERM")).toBe(0);
    const ids = receiver.received.map(({ headers }) => headers["webhook-id"]);
    expect(new Set(ids).size).toBe(posts.length);
    expect(ids).toHaveLength(posts.length);
    report("disk full for the outbox", { delivered: ids.length, twice: 0 });
  },
);

/** Leaves no byte free. */
function fill(file: string): void {
  for (const size of [1 << 20, 1 << 12, 1]) {
    try {
      for (;;) appendFileSync(file, Buffer.alloc(size));
    } catch (error) {
      expect((error as NodeJS.ErrnoException).code).toBe("ENOSPC");
    }
  }
}
