import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { expect, test } from "vitest";
import { query } from "../../src/database/database.ts";
import { claimDue } from "../support/claims.ts";
import { CRASH_POINTS } from "../support/crashing-deliverer.ts";
import { startReceiverWith } from "../support/receivers.ts";
import { verifyWithOfficial, WebhookWorld } from "../support/webhook-world.ts";
import { all } from "../../src/database/steps.ts";
import { HOUR_MS } from "../../src/foundation/time-units.ts";

const PROGRAM = new URL("../support/crashing-deliverer.ts", import.meta.url).pathname;
const POSTS = 60;
/** Points at which nothing was sent yet, or everything that was sent is recorded. */
const WITHOUT_DUPLICATES = new Set<string>([
  "post written, not committed",
  "post committed, not announced",
  "recovered, not committed",
  "recovery committed",
  "claimed, not committed",
  "claim committed, nothing sent",
]);

test.each(CRASH_POINTS)(
  "a process killed at this point loses nothing, and the next one goes on: %s",
  async (point) => {
    await using world = new WebhookWorld();
    let child: ChildProcess | null = null;
    await using receiver = await startReceiverWith((response) => {
      if (point === "sent, not answered") child?.kill("SIGKILL");
      response.end();
    });
    const { webhook, secret } = world.addWebhook(receiver.url);
    world.post(POSTS);
    // What an earlier process left claimed, for the recovery.
    await world.spread();
    claimDue(world.db, webhook.id, 3, world.clock.now());
    child = spawn(process.execPath, [PROGRAM, world.db.path, point, world.endpointId], { stdio: "inherit" });
    expect((await once(child, "exit"))[1]).toBe("SIGKILL");
    child = null;

    await world.restart();
    await world.runUntil(world.clock.now() + HOUR_MS);
    const stored = world.db.now(() => all(query.selectFrom("submission").select("id"))).map(({ id }) => id);
    expect(stored).toHaveLength(point === "post committed, not announced" ? POSTS + 1 : POSTS);
    expect(world.states()).toEqual({ delivered: stored.length });
    expect(world.inconsistencies()).toEqual([]);
    const bodies = new Map<string, string>();
    for (const message of receiver.received) {
      const id = String(message.headers["webhook-id"]);
      expect(bodies.get(id) ?? message.body.toString()).toBe(message.body.toString());
      bodies.set(id, message.body.toString());
    }
    verifyWithOfficial(secret, receiver.received[0]!);
    expect([...bodies.keys()].toSorted()).toEqual(world.deliveryIds());
    if (WITHOUT_DUPLICATES.has(point)) expect(receiver.received).toHaveLength(stored.length);
  },
);
