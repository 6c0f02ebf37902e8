import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openPostgresql, type PostgresqlDatabase } from "../../src/database/postgresql/open-postgresql.ts";
import { startSession } from "../../src/sessions/session.ts";
import { insertAccountRows } from "../../src/workspaces/workspace-store.ts";
import { startLink } from "../support/faulty-link.ts";
import { type ManyServers, startManyServers } from "../support/many-servers.ts";
import { patiently, tryPost } from "../support/posts.ts";
import { addressForFile, hasPostgresql } from "../support/temporary-postgresql.ts";
import { until } from "../support/until.ts";

/** What is promised. */
const WITHIN_MS = 1000;
/** Between two posts of one sender. */
const PAUSE_MS = 25;
/** Each server must have been asked so often after that time, so that the test says something. */
const ASKED_LATE = 10;

interface Sent {
  readonly beganAt: number;
  readonly status: number;
}

/** Begins a post again and again, whether or not those before it have an answer. */
function keepPosting(url: string, key: string) {
  const sent: Sent[] = [];
  const begun: Promise<void>[] = [];
  const state = { isStopped: false };
  const begin = async (): Promise<void> => {
    const beganAt = performance.now();
    const { status } = await tryPost(url, key);
    sent.push({ beganAt, status });
  };
  const beginning = (async () => {
    while (!state.isStopped) {
      begun.push(begin());
      await sleep(PAUSE_MS);
    }
  })();
  return {
    sent,
    isRefused: (after: number): boolean =>
      sent.filter(({ beganAt, status }) => beganAt > after && status === 401).length >= ASKED_LATE,
    async stop(): Promise<void> {
      state.isStopped = true;
      await beginning;
      await Promise.all(begun);
    },
  };
}

type Sender = ReturnType<typeof keepPosting>;

/** Posts that began later than is promised and were answered as if the key was good. */
function takenLate(senders: readonly Sender[], revokedAt: number): Sent[] {
  const late = senders.flatMap(({ sent }) => sent.filter(({ beganAt }) => beganAt > revokedAt + WITHIN_MS));
  return late.filter(({ status }) => status !== 401 && status !== 503);
}

describe.skipIf(!hasPostgresql)("a key that was revoked", () => {
  let address: string;
  let db: PostgresqlDatabase;
  let many: ManyServers;
  let urls: readonly string[];
  let cookie: string;

  beforeAll(async () => {
    address = await addressForFile();
    db = await openPostgresql(address);
    many = await startManyServers(address, 2);
    urls = many.servers.map(({ url }) => url);
    // The first account is an operator, to whom every endpoint is shown.
    const { account } = await db.transaction(() => insertAccountRows("ada@example.org", Date.now()));
    const browser = { userAgent: "Test browser", ipAddress: null };
    const session = await db.transaction(() => startSession(account.id, browser, Date.now()));
    cookie = `formsvc-session=${session.cookie}`;
  });
  afterAll(async () => {
    await db.close();
    await many.stop();
  });

  async function keyOfEndpoint() {
    const { id: endpoint, secret } = await many.machine.createEndpoint();
    const list = await many.machine.json<{ data: { id: string; kind: string }[] }>(["key", "list", endpoint]);
    const key = list.data.find(({ kind }) => kind === "secret")?.id ?? "";
    return { endpoint, secret, key };
  }

  type Key = Awaited<ReturnType<typeof keyOfEndpoint>>;

  const WAYS: readonly [string, (key: Key) => Promise<void>][] = [
    ["by a command", async ({ key }) => void (await many.machine.mustRun(["key", "revoke", key]))],
    [
      "on a page of one of the servers",
      async ({ endpoint, key }) => {
        const revoke = {
          method: "POST",
          headers: { cookie, "sec-fetch-site": "same-origin" },
          redirect: "manual",
        } as const;
        const page = `${urls[0]}/dashboard/endpoints/${endpoint}/keys/${key}/revoke`;
        const answer = await patiently(() => fetch(page, revoke));
        expect(answer.status).toBe(303);
      },
    ],
  ];

  test.each(WAYS)("%s is refused by every server within a second", async (_, revoke) => {
    const key = await keyOfEndpoint();
    const senders = urls.map((url) => keepPosting(url, key.secret));
    await until(() => senders.every(({ sent }) => sent.some(({ status }) => status === 200)));
    await revoke(key);
    const revokedAt = performance.now();
    await until(() => senders.every(({ isRefused }) => isRefused(revokedAt + WITHIN_MS)));
    for (const sender of senders) await sender.stop();
    expect(takenLate(senders, revokedAt)).toEqual([]);
  });

  test("is refused within a second even by a server that cannot hear of it", async () => {
    const link = await startLink(address);
    const deaf = await many.machine.serve({ args: ["--db", link.address] });
    const { secret, key } = await keyOfEndpoint();
    const sender = keepPosting(deaf.url, secret);
    await until(() => sender.sent.some(({ status }) => status === 200));
    link.silence();
    await many.machine.mustRun(["key", "revoke", key]);
    const revokedAt = performance.now();
    const refusals = () =>
      sender.sent.filter(({ beganAt, status }) => beganAt > revokedAt + WITHIN_MS && status === 503);
    await until(() => refusals().length >= ASKED_LATE);
    link.resume();
    await until(() => sender.isRefused(revokedAt + WITHIN_MS));
    await sender.stop();
    expect(takenLate([sender], revokedAt)).toEqual([]);
    deaf.process.kill("SIGKILL");
    await deaf.ended;
  });
});
