import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { query } from "../../src/database/database.ts";
import { openDatabase } from "../../src/database/sqlite/open-database.ts";
import type { SqliteDatabase } from "../../src/database/sqlite/sqlite-database.ts";
import { startReceiverWith } from "../support/receivers.ts";
import { type OperatorMachine, operatorMachine } from "../support/operator-machine.ts";
import { tryPost } from "../support/posts.ts";
import { PATIENCE_MS, until } from "../support/until.ts";
import { verifyWithOfficial } from "../support/webhook-world.ts";
import { extent, report } from "./extent.ts";
import { all, first } from "../../src/database/steps.ts";

const KILL_ROUNDS = extent.killRounds;
const ROUND_MS = 400;
const EARLY_MS = 60;
const POSTERS = 4;

const CONFIG = {
  plans: { hobby: { monthlySubmissions: null, endpoints: null, customSpam: false } },
  rateLimit: { secret: { max: null, windowSeconds: 60 } },
  webhooks: {
    scheduleSeconds: Array.from({ length: 60 }, () => 0.2),
    timeoutMs: 2000,
    probeSeconds: [0.2],
    limits: { total: 64, perWebhook: 16, perHost: 32 },
  },
  server: { shutdownGraceMs: 1000 },
  log: { level: "info", format: "json" },
};

async function prepare(machine: OperatorMachine, url: string): Promise<{ key: string; secret: string }> {
  const made = await machine.createEndpoint({ schema: { number: { type: "number" } } });
  const create = ["webhook", "create", "--endpoint", "Contact", "--url", url, "--allow-private"];
  const { secret } = await machine.json<{ secret: string }>(create);
  return { key: made.secret, secret };
}

/** The submission's id if it was acknowledged; null if the server was not there, or ended before it answered. */
async function post(url: string, key: string, number: number): Promise<string | null> {
  try {
    const answer = await tryPost(url, key, { number });
    if (answer.status !== 200) return null;
    return ((await answer.json()) as { submission_id: string }).submission_id;
  } catch {
    return null;
  }
}

function waitForDeliveries(db: SqliteDatabase): Promise<void> {
  const queued = query.selectFrom("outbox").select("number").limit(1);
  const unfinished = query.selectFrom("delivery").select("id").where("state", "!=", "delivered").limit(1);
  const next = () => db.now(() => first(queued)) ?? db.now(() => first(unfinished));
  return expect.poll(next).toBeUndefined();
}

test(
  "however often the server is killed, what it acknowledged is stored and delivered, once or more with one id",
  { timeout: 60_000 + KILL_ROUNDS * 6000 },
  async () => {
    await using receiver = await startReceiverWith((response, _, index) => {
      if (index % 7 === 3) response.destroy();
      else setTimeout(() => response.end(), index % 5);
    });
    const machine = operatorMachine(CONFIG);
    const { key, secret } = await prepare(machine, receiver.url);
    const acknowledged: string[] = [];
    let number = 0;
    for (let round = 0; round < KILL_ROUNDS; round += 1) {
      const server = await machine.serve();
      const over = new AbortController();
      const before = acknowledged.length;
      const poster = async (): Promise<void> => {
        while (!over.signal.aborted) {
          const id = await post(server.url, key, (number += 1));
          if (id !== null) acknowledged.push(id);
          else await sleep(5);
        }
      };
      const posters = Array.from({ length: POSTERS }, poster);
      // Every other round dies early, while it still recovers what the one before left.
      if (round % 2 === 0) await until(() => acknowledged.length > before);
      await sleep((round % 2 === 0 ? ROUND_MS : EARLY_MS) * Math.random());
      await server.stop("SIGKILL");
      over.abort();
      await Promise.all(posters);
    }
    const last = await machine.serve();
    const db = openDatabase(machine.database, { busyTimeoutMs: 5000 });
    await waitForDeliveries(db);
    await last.stop();

    expect(acknowledged.length).toBeGreaterThanOrEqual(KILL_ROUNDS / 2);
    const bodies = new Map<string, string>();
    const submissionOf = new Map<string, string>();
    for (const message of receiver.received) {
      verifyWithOfficial(secret, message);
      const id = String(message.headers["webhook-id"]);
      const body = message.body.toString();
      expect(bodies.get(id) ?? body).toBe(body);
      bodies.set(id, body);
      const { submission } = JSON.parse(body) as { submission: { id: string } };
      expect(submissionOf.get(submission.id) ?? id).toBe(id);
      submissionOf.set(submission.id, id);
    }
    expect(acknowledged.filter((id) => !submissionOf.has(id))).toEqual([]);
    expect(db.pragma("integrity_check")).toBe("ok");
    const stored = db.now(() => all(query.selectFrom("submission").select("id"))).map(({ id }) => id);
    expect(stored.toSorted()).toEqual([...submissionOf.keys()].toSorted());
    const rows = db.now(() => all(query.selectFrom("delivery").select(["id", "attempts"])));
    for (const { id, attempts } of rows) {
      const made = db.now(() =>
        all(query.selectFrom("attempt").select("number").where("delivery_id", "=", id).orderBy("number")),
      );
      expect(made.map(({ number: made }) => made)).toEqual(
        Array.from({ length: attempts }, (_, index) => index + 1),
      );
    }
    db.close();
    report("kill -9 among deliveries", {
      rounds: KILL_ROUNDS,
      acknowledged: acknowledged.length,
      stored: stored.length,
      "messages sent": receiver.received.length,
      "sent again": receiver.received.length - bodies.size,
      lost: 0,
    });
  },
);

test("a server told to stop with deliveries in flight ends in time, and the next one delivers them", async () => {
  let hangs = true;
  await using receiver = await startReceiverWith((response) => {
    if (!hangs) response.end();
  });
  const machine = operatorMachine(CONFIG);
  const { key } = await prepare(machine, receiver.url);
  const server = await machine.serve();
  const ids = await Promise.all(Array.from({ length: 30 }, (_, index) => post(server.url, key, index)));
  expect(ids).not.toContain(null);
  await expect.poll(() => receiver.received.length).toBe(16);
  const stoppedAt = performance.now();
  await server.stop();
  // It waits ten seconds for them.
  expect(performance.now() - stoppedAt).toBeLessThan(PATIENCE_MS / 2);
  hangs = false;
  await machine.serve();
  const db = openDatabase(machine.database, { busyTimeoutMs: 5000 });
  await waitForDeliveries(db);
  db.close();
});

test("commands that change webhooks while a server runs take effect within two seconds", async () => {
  await using receiver = await startReceiverWith((response) => response.end());
  const machine = operatorMachine(CONFIG);
  const { key } = await prepare(machine, receiver.url);
  const { data } = await machine.json<{ data: { id: string }[] }>(["webhook", "list"]);
  const webhookId = data[0]!.id;
  const server = await machine.serve();
  await machine.json(["webhook", "disable", webhookId]);
  await sleep(1500);
  await post(server.url, key, 1);
  await sleep(500);
  expect(receiver.received).toHaveLength(0);
  await machine.json(["webhook", "enable", webhookId]);
  await expect.poll(() => receiver.received.length, { timeout: 5000 }).toBe(1);
  await machine.json(["webhook", "replay", "--since", "1h", "--as-new"]);
  await expect.poll(() => receiver.received.length, { timeout: 5000 }).toBe(2);
});
