import { Agent } from "node:http";
import { expect, test } from "vitest";
import { makeWorkplace } from "../executable/workplace.ts";
import { extent, PATIENCE_MS, report } from "./extent.ts";
import { countUp, newPost, type Post, send, sendUntilAcknowledged, startPosting } from "./poster.ts";
import { createNumberEndpoint, freePort, sleep, startServer } from "./server.ts";
import { expectNothingLost, readStored } from "./stored.ts";

const CONNECTIONS = 32;
/** Posts that were acknowledged before the kill and are sent again after it, with their keys. */
const REPEATED = 50;
/** The contract's time to be ready again, counted in the server's own work: others share the machine. */
const READY_MS = 2000;

test(
  "however often the server is killed, nothing acknowledged is lost and no key stores twice",
  { timeout: PATIENCE_MS },
  async () => {
    const place = makeWorkplace();
    const { secret } = await createNumberEndpoint(place);
    const target = { port: await freePort(), key: secret };
    const numbers = countUp();
    const all: Post[] = [];
    const readyMs: number[] = [];
    let cutOff = 0;
    for (let round = 0; round < extent.killRounds; round += 1) {
      const server = await startServer(place, target.port);
      expect(server.readyCpuMs).toBeLessThan(READY_MS);
      readyMs.push(server.readyAfterMs);
      await retryAfterKill(target, all);
      const poster = startPosting(target, CONNECTIONS, numbers);
      // Every other round dies early, while it warms up or moves what the one before left.
      await sleep(Math.random() * (round % 2 === 0 ? 800 : 120));
      await server.end("SIGKILL");
      await poster.stop();
      cutOff += poster.posts.filter(({ status }) => status === null).length;
      all.push(...poster.posts);
      expectNothingLost(all, readStored(place.database));
    }
    const last = await startServer(place, target.port);
    await retryAfterKill(target, all);
    expect(await last.end("SIGTERM")).toBe(0);

    const stored = readStored(place.database);
    expectNothingLost(all, stored);
    const withKey = all.filter(({ idempotencyKey }) => idempotencyKey !== null);
    expect(withKey.filter(({ n }) => stored.idsByNumber.get(n)?.length !== 1)).toEqual([]);
    const acknowledged = all.filter(({ id }) => id !== null).length;
    expect(acknowledged).toBeGreaterThan(extent.killRounds);
    report("kill -9", {
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
