import { Agent } from "node:http";
import { expect, test } from "vitest";
import { emptyMachine } from "../support/operator-machine.ts";
import { extent, isShort, PATIENCE_MS, report } from "./extent.ts";
import { countUp, newPost, type Post, send, sendUntilAcknowledged, startPosting } from "./poster.ts";
import { createNumberEndpoint, freePort, sleep, startServer } from "./server.ts";
import { expectNothingLost, readStored } from "./stored.ts";
import { startReceiverWith } from "../support/receivers.ts";
import { until } from "../support/until.ts";
import { expectStableIds, waitForDeliveries } from "./deliveries.ts";

const CONNECTIONS = 32;
/** Posts that were acknowledged before the kill and are sent again after it, with their keys. */
const REPEATED = 50;
/** The longest time under load before a kill. */
const LATE_MS = isShort ? 300 : 800;
const EARLY_MS = 120;
/** The time to be ready again that docs/reliability.md promises, in the server's own work: others share the machine. */
const READY_MS = 2000;

test(
  "however often the server is killed, nothing acknowledged is lost and no key stores twice",
  { timeout: PATIENCE_MS },
  async () => {
    const machine = emptyMachine();
    const { secret } = await createNumberEndpoint(machine);
    await using receiver = await startReceiverWith((response) => response.end());
    await machine.json([
      "webhook",
      "create",
      "--endpoint",
      "Numbers",
      "--url",
      receiver.url,
      "--allow-private",
    ]);
    const target = { port: await freePort(), key: secret };
    const numbers = countUp();
    const all: Post[] = [];
    const readyMs: number[] = [];
    let cutOff = 0;
    for (let round = 0; round < extent.killRounds; round += 1) {
      const server = await startServer(machine, target.port);
      expect(server.readyCpuMs).toBeLessThan(READY_MS);
      readyMs.push(server.readyAfterMs);
      await retryAfterKill(target, all);
      const poster = startPosting(target, CONNECTIONS, numbers);
      // Every other round dies early, while it warms up or moves what the one before left.
      if (round % 2 === 0) await until(() => poster.posts.some(({ id }) => id !== null));
      await sleep(Math.random() * (round % 2 === 0 ? LATE_MS : EARLY_MS));
      await server.end("SIGKILL");
      await poster.stop();
      cutOff += poster.posts.filter(({ status }) => status === null).length;
      all.push(...poster.posts);
      expectNothingLost(all, readStored(machine.database));
    }
    const last = await startServer(machine, target.port);
    await retryAfterKill(target, all);
    const missing = await waitForDeliveries(all, receiver.received);
    expect(missing).toEqual([]);
    expect(await last.end("SIGTERM")).toBe(0);
    expectStableIds(receiver.received);

    const stored = readStored(machine.database);
    expectNothingLost(all, stored);
    const withKey = all.filter(({ idempotencyKey }) => idempotencyKey !== null);
    expect(withKey.filter(({ n }) => stored.idsByNumber.get(n)?.length !== 1)).toEqual([]);
    const acknowledged = all.filter(({ id }) => id !== null).length;
    expect(acknowledged).toBeGreaterThan(extent.killRounds);
    report("kill -9", {
      deliveries: receiver.received.length,
      rounds: extent.killRounds,
      acknowledged,
      "cut off": cutOff,
      lost: 0,
      "stored twice": 0,
      "slowest start ms": Math.round(Math.max(...readyMs)),
    });
  },
);

/** What a client does: every post with a key that has no answer is sent again, and one that has keeps its id. */
async function retryAfterKill(target: { port: number; key: string }, posts: readonly Post[]): Promise<void> {
  await sendUntilAcknowledged(
    target,
    posts.filter(({ idempotencyKey, id }) => idempotencyKey !== null && id === null),
  );
  const agent = new Agent({ keepAlive: true });
  const known = posts.filter(({ idempotencyKey, id }) => idempotencyKey !== null && id !== null);
  for (const post of known.slice(-REPEATED)) {
    const again = newPost(post.n, post.idempotencyKey);
    await send(target, again, agent);
    expect(again).toMatchObject({ status: 200, id: post.id });
  }
  agent.destroy();
}
