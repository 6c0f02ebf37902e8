import { expect, onTestFinished, test } from "vitest";
import { rowsOf } from "../support/engines.ts";
import { startPair } from "../support/cluster-pair.ts";
import { type ManyServers, startManyServers } from "../support/many-servers.ts";
import { collect } from "../support/program.ts";
import { examplePost, postPatiently, tryPost } from "../support/posts.ts";
import { startReceiverWith } from "../support/receivers.ts";
import { hasPostgresql, openForTest } from "../support/temporary-postgresql.ts";
import { LOST_MS } from "../../src/database/live-servers.ts";
import { migratePostgresql } from "../../src/database/postgresql/migrate-postgresql.ts";
import { createRateExchange } from "../../src/database/postgresql/rate-exchange.ts";
import { serveAddress } from "../../src/database/postgresql/served-postgresql.ts";
import { createServerNotifier } from "../../src/database/postgresql/notify-servers.ts";
import { createJointRateLimiter } from "../../src/foundation/joint-rate-limit.ts";
import { createLog } from "../../src/foundation/log.ts";
import { connectPlainly } from "../support/postgresql-cluster.ts";
import { operatorMachine } from "../support/operator-machine.ts";
import { administrator, ownCluster } from "../support/own-cluster.ts";
import { until } from "../support/until.ts";

const METRICS_TOKEN = "0123456789abcdef";

async function metricsOf(url: string): Promise<ReadonlyMap<string, number>> {
  const answer = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${METRICS_TOKEN}` } });
  const values = [...(await answer.text()).matchAll(/^(\w+) (\S+)$/gm)];
  return new Map(values.map(([, name = "", value]) => [name, Number(value)]));
}

const readiness = async (url: string) => {
  const answer = await fetch(`${url}/readyz`);
  return { status: answer.status, text: await answer.text() };
};

/** Sends a post with a key again and again until it is taken; its id, and the other answers. */
async function postUntilTaken(url: string, key: string) {
  const refusals: number[] = [];
  const id = await until(async () => {
    const answer = await tryPost(url, key, examplePost, { "idempotency-key": "waiting" });
    const { submission_id: taken } = (await answer.json()) as { submission_id?: string };
    if (taken === undefined) refusals.push(answer.status);
    return taken;
  });
  return { id, refusals };
}

const loggedBy = (many: ManyServers) =>
  many.servers.map(({ lines }) => lines.map(({ event }) => String(event)));

test.skipIf(!hasPostgresql)(
  "servers whose synchronous standby is lost stay live and deliver, say what is wrong, and take posts when it is back",
  { timeout: 180_000 },
  async () => {
    const pair = await startPair();
    onTestFinished(() => pair.stop());
    let isUp = false;
    await using receiver = await startReceiverWith((response) => {
      response.statusCode = isUp ? 200 : 503;
      response.end();
    });
    const many = await startManyServers(pair.address(), 2, {
      metrics: { enabled: true, token: METRICS_TOKEN },
      webhooks: { allowNetworks: ["127.0.0.0/8"] },
    });
    onTestFinished(() => many.stop());
    const urls = many.servers.map(({ url }) => url);
    const endpoint = await many.machine.createEndpoint();
    const hook = ["webhook", "create", "--endpoint", endpoint.id, "--url", receiver.url, "--allow-private"];
    await many.machine.mustRun(hook);
    const first = await postPatiently(urls[0]!, endpoint.secret);
    await until(() => receiver.received.length > 0);

    await pair.standby.kill();
    isUp = true;
    // Long enough for each to take the other for lost.
    const waited = async (url: string) =>
      ((await metricsOf(url)).get("formsvc_standby_wait_seconds") ?? 0) * 1000 > LOST_MS + 2000;
    for (const url of urls) await until(() => waited(url));
    for (const url of urls) {
      expect(await readiness(url)).toEqual({
        status: 503,
        text: expect.stringContaining("waits for a synchronous standby that is not there") as string,
      });
      await until(async () => (await metricsOf(url)).get("formsvc_live_servers") === 2);
    }
    const doctor = await many.machine.run(["doctor"]);
    expect([doctor.code, doctor.stdout]).toEqual([
      1,
      expect.stringMatching(
        /database\.standby +a commit has waited \d+ s for a synchronous standby/,
      ) as string,
    ]);
    for (const events of loggedBy(many)) expect(events).toContain("database.standby-missing");
    const db = await openForTest(pair.address());
    const stateOf = (id: string) =>
      rowsOf(db, `SELECT state FROM delivery WHERE submission_id = '${id}' AND state = 'delivered'`);
    await until(async () => (await stateOf(first)).length === 1);

    const waiting = postUntilTaken(urls[1]!, endpoint.secret);
    await pair.standby.restart();
    const { id, refusals } = await waiting;
    expect(refusals.filter((status) => status !== 503)).toEqual([]);
    expect(await rowsOf(db, "SELECT id FROM submission ORDER BY id")).toEqual([{ id: first }, { id }]);
    for (const url of urls) await until(async () => (await readiness(url)).status === 200);
    for (const [index] of urls.entries())
      await until(() => loggedBy(many)[index]?.includes("database.standby-back"));
    await until(async () => (await stateOf(id)).length === 1);
    for (const server of many.servers) expect(await server.stop()).toBe(0);
  },
);

const WAITING_SQL = "SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep'";

/** A database whose commits wait for a standby that is not there after `lose`, until `goOn`. */
async function withStandby(settings: readonly string[] = []) {
  const cluster = await ownCluster({ settings });
  const address = cluster.address("postgres");
  const db = await openForTest(address);
  await migratePostgresql(db);
  const admin = await administrator(cluster);
  await admin.query("SET synchronous_commit = local");
  const name = async (standby: string): Promise<void> => {
    await admin.query(`ALTER SYSTEM SET synchronous_standby_names = '${standby}'`);
    await admin.query("SELECT pg_reload_conf()");
  };
  onTestFinished(() => name(""));
  return { address, db, admin, lose: () => name("nobody"), goOn: () => name("") };
}

async function withoutStandby() {
  const database = await withStandby();
  await database.lose();
  const isMissed = "SELECT current_setting('synchronous_standby_names') = 'nobody' AS is_missed";
  await until(async () => (await rowsOf<{ is_missed: boolean }>(database.db, isMissed))[0]?.is_missed);
  return database;
}

/** Takes every connection that a server has left, until the test ends. */
async function takeAllConnections(address: string): Promise<void> {
  for (;;) {
    try {
      const client = await connectPlainly(address);
      onTestFinished(() => client.end());
    } catch (error) {
      expect(error).toMatchObject({ code: "53300" });
      return;
    }
  }
}

test.skipIf(!hasPostgresql)(
  "a command says what it waits for, and ends when the standby is not missed",
  async () => {
    const { address, db, admin, goOn } = await withoutStandby();
    // PostgreSQL's processes hear of a setting one after the other: from here on commits do wait.
    const commits: Promise<unknown>[] = [];
    const commit = "SELECT pg_logical_emit_message(true, 'formsvc', '')";
    await until(async () => {
      const waiting = db.withConnection((client) => client.query(commit));
      commits.push(waiting.catch(() => undefined));
      return (await admin.query(WAITING_SQL)).rows.length > 0;
    });
    const machine = operatorMachine({ database: { url: address } });
    const command = machine.start(["account", "create", "ada@example.org"]);
    const ran = collect(command);
    let said = "";
    command.stderr?.on("data", (data: Buffer) => (said += data.toString()));
    await until(() => said.includes("a synchronous standby may be missing"));
    await goOn();
    expect((await ran).code).toBe(0);
    await Promise.all(commits);
  },
);

test.skipIf(!hasPostgresql)(
  "a lost standby is noticed although the server takes no more connections",
  async () => {
    const { address, db, lose, goOn } = await withStandby(["max_connections=30"]);
    const events: unknown[] = [];
    const write = (line: string): void => void events.push((JSON.parse(line) as { event: string }).event);
    const served = serveAddress(db, Date.now(), createLog("info", { write }));
    onTestFinished(() => served.end());
    served.watch({ onForeignCommit() {}, onSettingsChange() {}, onUpgrade() {} }, []);
    await served.begin();
    await takeAllConnections(address);
    await lose();
    await until(() => events.includes("database.standby-missing"));
    await goOn();
    await until(() => events.includes("database.standby-back"));
    expect(await until(() => served.writability.isWritable())).toBe(true);
  },
);

test.skipIf(!hasPostgresql)("what servers tell each other waits for no standby", async () => {
  const { db, admin } = await withoutStandby();
  /** Whether it ends, and does not wait for the standby. */
  const ends = async (work: Promise<unknown>): Promise<boolean> => {
    let hasEnded = false;
    work.then(
      () => (hasEnded = true),
      () => undefined,
    );
    await until(async () => hasEnded || (await admin.query(WAITING_SQL)).rows.length > 0);
    return hasEnded;
  };

  const limiter = createJointRateLimiter();
  const rates = createRateExchange(db, limiter, { self: "srv_1", list: () => ["srv_1", "srv_2"] });
  const limit = { max: 4, windowSeconds: 3600 };
  for (let taken = 0; taken < 4; taken += 1) limiter.count("unit", limit);
  expect(await ends(rates.exchange())).toBe(true);
  expect(await rowsOf(db, "SELECT used FROM rate_window")).toHaveLength(1);
  await admin.query("UPDATE rate_window SET ends_at = 0");
  expect(await ends(rates.dropEnded())).toBe(true);
  const teller = createServerNotifier(db, "srv_1", { succeeded() {}, failed() {} });
  teller.notify();
  expect(await ends(teller.stop())).toBe(true);
});
