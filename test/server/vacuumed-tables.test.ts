import type { Client } from "pg";
import { expect, test } from "vitest";
import { operatorMachine } from "../support/operator-machine.ts";
import { administrator, ownCluster } from "../support/own-cluster.ts";
import { postPatiently } from "../support/posts.ts";
import { startReceiverWith } from "../support/receivers.ts";
import { hasPostgresql } from "../support/temporary-postgresql.ts";
import { until } from "../support/until.ts";

const WEBHOOKS = 3;
const SENDERS = 8;
const POSTS_A_ROUND = 200;
const ROUNDS = 3;
/** As PostgreSQL does it by itself, but each second and not each minute. */
const OFTEN = ["autovacuum_naptime=1s"];
/** More than the rows of one round take, with their indices. */
const MOST_BYTES = POSTS_A_ROUND * WEBHOOKS * 512;

async function deadRows(admin: Client, table: string): Promise<number> {
  const { rows } = await admin.query<{ dead: string }>(
    "SELECT n_dead_tup AS dead FROM pg_stat_user_tables WHERE relname = $1",
    [table],
  );
  return Number(rows[0]?.dead);
}

/** With its indices. */
async function bytesOf(admin: Client, table: string): Promise<number> {
  const { rows } = await admin.query<{ bytes: string }>("SELECT pg_total_relation_size($1) AS bytes", [
    table,
  ]);
  return Number(rows[0]?.bytes);
}

async function count(admin: Client, sql: string): Promise<number> {
  const { rows } = await admin.query<{ count: string }>(`SELECT count(*) AS count FROM ${sql}`);
  return Number(rows[0]?.count);
}

test.skipIf(!hasPostgresql)(
  "a server lets PostgreSQL clean up behind it: however many messages it sends, the queue takes no more room",
  async () => {
    await using receiver = await startReceiverWith((response) => response.end());
    const cluster = await ownCluster({ settings: OFTEN });
    const machine = operatorMachine();
    machine.configure({
      database: { url: cluster.address("postgres") },
      webhooks: { allowNetworks: ["127.0.0.0/8"] },
    });
    const server = await machine.serveHere();
    const { id, secret } = await machine.createEndpoint();
    for (let index = 0; index < WEBHOOKS; index += 1) {
      const hook = ["--url", `${receiver.url}/${index}`, "--endpoint", id, "--allow-private"];
      await machine.mustRun(["webhook", "create", ...hook]);
    }
    const admin = await administrator(cluster);
    const send = async (): Promise<void> => {
      for (let sent = 0; sent < POSTS_A_ROUND / SENDERS; sent += 1) await postPatiently(server.url, secret);
    };
    const sizes: number[] = [];
    for (let round = 1; round <= ROUNDS; round += 1) {
      await Promise.all(Array.from({ length: SENDERS }, send));
      const all = round * POSTS_A_ROUND * WEBHOOKS;
      await until(async () => (await count(admin, "delivery WHERE state = 'delivered'")) === all);
      // What is left is less than what PostgreSQL begins for, 50 rows and a fifth of what it takes for the size of the table.
      await until(async () => (await deadRows(admin, "outbox")) <= 100);
      await until(async () => (await deadRows(admin, "delivery")) <= 100 + all / 5);
      sizes.push(await bytesOf(admin, "outbox"));
    }
    expect(await count(admin, "outbox")).toBe(0);
    expect(sizes.filter((bytes) => bytes > MOST_BYTES)).toEqual([]);
  },
);
