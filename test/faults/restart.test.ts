import { expect, test } from "vitest";
import { emptyMachine } from "../support/operator-machine.ts";
import { extent, isShort, PATIENCE_MS, report, sayMissing } from "./extent.ts";
import { hasPython, startBehindSocket } from "../support/passed-socket.ts";
import { until } from "../support/until.ts";
import { countUp, sendUntilAcknowledged, startPosting } from "./poster.ts";
import { createNumberEndpoint, ENVIRONMENT, freePort, sleep, startServer } from "./server.ts";
import { expectNothingLost, readStored } from "./stored.ts";

const CONNECTIONS = 32;
/** The time under load before each restart: some hundreds of posts. */
const loadMs = (): number => (isShort ? 50 + Math.random() * 150 : 200 + Math.random() * 300);

if (!hasPython) sayMissing("no socket is passed on without python3", "apt-get install python3");

test(
  "a server that is stopped and started again and again under load answers all it took and loses nothing",
  { timeout: PATIENCE_MS },
  async () => {
    const machine = emptyMachine();
    const { secret } = await createNumberEndpoint(machine);
    const target = { port: await freePort(), key: secret };
    let server = await startServer(machine, target.port);
    const poster = startPosting(target, CONNECTIONS, countUp());
    for (let round = 0; round < extent.restarts; round += 1) {
      const before = answered().length;
      await until(() => answered().length > before);
      await sleep(loadMs());
      expect(await server.end("SIGTERM")).toBe(0);
      expectNothingLost(answered(), readStored(machine.database));
      server = await startServer(machine, target.port);
    }
    await poster.stop();
    const refusals = new Set(poster.posts.map(({ status }) => status));
    for (const status of refusals) expect([200, 503, null]).toContain(status);
    const withKey = poster.posts.filter(({ idempotencyKey }) => idempotencyKey !== null);
    await sendUntilAcknowledged(target, withKey);
    expect(await server.end("SIGTERM")).toBe(0);
    const stored = readStored(machine.database);
    expectNothingLost(poster.posts, stored);
    // What had no answer was not taken: all that was stored was acknowledged, but for those that were sent again.
    const acknowledged = new Set(poster.posts.flatMap(({ id }) => (id === null ? [] : [id])));
    expect(stored.ids.filter((id) => !acknowledged.has(id))).toEqual([]);
    report("graceful restarts", { restarts: extent.restarts, acknowledged: acknowledged.size, lost: 0 });

    function answered() {
      return poster.posts.filter(({ id }) => id !== null);
    }
  },
);

test.skipIf(!hasPython)(
  "a server restarted again and again under load behind a socket that stays refuses and resets nobody, and stores each post once",
  { timeout: PATIENCE_MS },
  async () => {
    const machine = emptyMachine();
    const { secret } = await createNumberEndpoint(machine);
    const holder = await startBehindSocket(machine, ENVIRONMENT);
    const target = { port: holder.port, key: secret };
    const numbers = countUp();
    const posters = [
      startPosting(target, CONNECTIONS, numbers),
      startPosting(target, CONNECTIONS, numbers, false),
    ];
    for (let round = 0; round < extent.restarts; round += 1) {
      const before = posters.map(({ posts }) => posts.length);
      await until(() => posters.every(({ posts }, index) => posts.length > before[index]! + CONNECTIONS));
      await sleep(loadMs());
      expect(await holder.restart()).toBe(0);
    }
    await Promise.all(posters.map((poster) => poster.stop()));
    expect(await holder.end()).toBe(0);
    const posts = posters.flatMap((poster) => poster.posts);
    expect(posts.filter(({ status }) => status !== 200)).toEqual([]);
    const stored = readStored(machine.database);
    expectNothingLost(posts, stored);
    expect(stored.ids).toHaveLength(posts.length);
    report("restarts behind a socket", {
      restarts: extent.restarts,
      acknowledged: posts.length,
      "refused or reset": 0,
      lost: 0,
      "stored twice": 0,
      "longest wait ms": Math.round(posts.reduce((most, { ms }) => Math.max(most, ms), 0)),
    });
  },
);
