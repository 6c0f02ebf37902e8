import type { ServerResponse } from "node:http";
import { describe, expect, test } from "vitest";
import { defaultConfig } from "../../src/config/config.ts";
import { query } from "../../src/database/database.ts";
import { first, run } from "../../src/database/steps.ts";
import type { AttemptResult } from "../../src/outbox/sending/transport.ts";
import { createKeyring } from "../../src/secrets/keyring.ts";
import { addressesNow } from "../../src/webhooks/webhook-secrets.ts";
import { defaultWebhookSettings } from "../../src/webhooks/webhook.ts";
import { getWebhook, insertWebhookRows, updateWebhookRows } from "../../src/webhooks/webhook-store.ts";
import { ended, PIGEON } from "../support/ended-attempt.ts";
import { ENGINES } from "../support/engines.ts";
import { NOON } from "../support/fake-clock.ts";
import { claimsOn, queueOn } from "../support/queue-on-engine.ts";
import { startReceiverWith } from "../support/receivers.ts";
import { until } from "../support/until.ts";
import { WebhookWorld } from "../support/webhook-world.ts";

const [OLD, NEW] = ["https://old.example/", "https://new.example/"];
const keyring = createKeyring(defaultConfig.secrets);
const transport = { ...PIGEON, kind: "webhook", sharedKind: "webhook", addressesNow };

const GONE = { outcome: "gone", blame: "recipient", status: 410, retryAfterMs: 86_400_000 } as const;
const REFUSED = { outcome: "refused", blame: "access", status: 401 } as const;
const FAILED = { outcome: "failed", blame: "recipient", status: 500 } as const;
const DELIVERED = { blame: "nobody" } as const;

describe.each(ENGINES)("on $name", ({ temporary }) => {
  async function world() {
    const queue = await queueOn(await temporary());
    const { db, endpointId } = queue;
    const settings = { ...defaultWebhookSettings, url: OLD };
    const { webhook } = await db.transaction(() => insertWebhookRows(keyring, endpointId, settings, NOON));
    const { id } = webhook;
    await queue.post(2);
    const wants = [{ recipientId: id, limit: 2 }];
    const claims = await db.relaxedTransaction(() => claimsOn(db).claimDue(wants, NOON));
    const situation = () =>
      db.read(() => first(query.selectFrom("recipient").selectAll().where("id", "=", id)));
    const setSituation = (values: object) =>
      db.transaction(() => run(query.updateTable("recipient").set(values).where("id", "=", id)));
    const change = (url: string) => db.transaction(() => updateWebhookRows(keyring, id, { url }));
    const finish = (results: readonly Partial<AttemptResult>[]) => {
      const attempts = results.map((result, index) => ({
        ...ended(claims.get(id)![index]!, result),
        transport,
        sentTo: OLD,
      }));
      return db.relaxedTransaction(() => claimsOn(db).finish(attempts, NOON + 100_000));
    };
    return { queue, situation, setSituation, change, finish };
  }

  test.each([{ results: [FAILED, FAILED] }, { results: [GONE, GONE] }, { results: [REFUSED, FAILED] }])(
    "attempts to an address that is replaced meanwhile say nothing about the new one: $results.0.outcome, $results.1.outcome",
    async ({ results }) => {
      const { queue, situation, setSituation, change, finish } = await world();
      await setSituation({ gone_at: NOON, failing_since: NOON });
      await change(NEW);
      const before = await situation();
      const records = await finish(results);
      expect(await situation()).toEqual(before);
      expect(records.map((record) => record?.after)).toMatchObject([
        { state: "pending", spent: 0, dueAt: NOON + 160_000 },
        { state: "pending", spent: 0, dueAt: NOON + 160_000 },
      ]);
      expect(await queue.states()).toEqual({ pending: 2 });
    },
  );

  test("an attempt that the old address took is delivered, and does not end what failed at the new one", async () => {
    const { queue, situation, setSituation, change, finish } = await world();
    await change(NEW);
    await setSituation({
      breaker: "open",
      breaker_count: 3,
      not_before: NOON + 900_000,
      failing_since: NOON,
    });
    const before = await situation();
    await finish([DELIVERED, FAILED]);
    expect(await situation()).toEqual(before);
    expect(await queue.states()).toEqual({ delivered: 1, pending: 1 });
  });

  test("attempts to the present address count, also if it was replaced and came back", async () => {
    const { situation, change, finish } = await world();
    await change(NEW);
    await change(OLD);
    await finish([FAILED, FAILED]);
    expect(await situation()).toMatchObject({ failing_since: NOON + 100_000, breaker: "open" });
  });
});

test("a receiver that answers late with 410 neither stops nor slows the address that took its place", async () => {
  await using world = new WebhookWorld();
  const waiting: ServerResponse[] = [];
  await using old = await startReceiverWith((response) => void waiting.push(response));
  await using other = await startReceiverWith((response) => response.end());
  const { webhook } = world.addWebhook(old.url);
  world.deliverer.start();
  world.post(3);
  world.deliverer.wake();
  await until(() => waiting.length > 0);
  await world.db.transaction(() => updateWebhookRows(world.keyring, webhook.id, { url: other.url }));
  world.deliverer.reload();
  const asked = new Set<ServerResponse>();
  const answer = setInterval(() => {
    for (const response of waiting)
      if (!asked.has(response)) response.writeHead(410, { "retry-after": "3600" }).end();
    for (const response of waiting) asked.add(response);
  }, 5);
  await world.settle();
  await world.runUntil(world.clock.now() + 60_000);
  clearInterval(answer);
  const { state, breaker, failingSince, goneAt } = world.db.now(() => getWebhook(webhook.id));
  expect([state, failingSince, goneAt, breaker.notBeforeMs]).toEqual(["enabled", null, null, 0]);
  expect(world.states()).toEqual({ delivered: 3 });
  expect(other.received.length).toBe(3);
});
