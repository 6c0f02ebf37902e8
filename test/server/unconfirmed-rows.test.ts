import { expect, onTestFinished, test } from "vitest";
import type { PostgresqlDatabase } from "../../src/database/postgresql/open-postgresql.ts";
import { serveAddress } from "../../src/database/postgresql/served-postgresql.ts";
import { migratePostgresql } from "../../src/database/postgresql/migrate-postgresql.ts";
import { systemClock } from "../../src/foundation/clock.ts";
import { timing } from "../../src/mail/letters/letters.ts";
import { queueLetter } from "../../src/mail/letters/letter-store.ts";
import { createSmtpSender } from "../../src/mail/smtp/smtp-sender.ts";
import { StoredLetters } from "../../src/mail/letters/stored-letters.ts";
import { type ClusterPair, startPair } from "../support/cluster-pair.ts";
import { endWaits } from "../support/end-waits.ts";
import { rowsOf } from "../support/engines.ts";
import { startManyHere } from "../support/many-servers.ts";
import { administrator, ownCluster } from "../support/own-cluster.ts";
import { connectPlainly } from "../support/postgresql-cluster.ts";
import { examplePost, postPatiently, tryPost } from "../support/posts.ts";
import { type Received, startReceiverWith } from "../support/receivers.ts";
import { silentLog } from "../support/silent-log.ts";
import { plainSettings, startMailServer } from "../support/smtp-servers.ts";
import { hasPostgresql, openForTest } from "../support/temporary-postgresql.ts";
import { until } from "../support/until.ts";

const submissionOf = ({ body }: Received): string =>
  (JSON.parse(body.toString()) as { submission: { id: string } }).submission.id;

const idsOf = async (db: PostgresqlDatabase): Promise<readonly string[]> =>
  (await rowsOf<{ id: string }>(db, "SELECT id FROM submission ORDER BY id")).map(({ id }) => id);

/** A post that nobody acknowledges, because the wait of its commit is ended on the primary. Its id, which the primary shows. */
async function storeOnPrimary(pair: ClusterPair, send: () => Promise<unknown>, before: readonly string[]) {
  const admin = await connectPlainly(pair.primary.address("postgres"));
  admin.on("error", () => undefined);
  await admin.query("SET synchronous_commit = local");
  const stopEnding = endWaits(admin, "cancel");
  const sent = send().catch(() => undefined);
  const primary = await openForTest(pair.primary.address("postgres"));
  const stored = await until(async () => (await idsOf(primary)).find((id) => !before.includes(id)));
  await stopEnding();
  await admin.end();
  return { id: stored, primary, sent };
}

/** Two servers whose webhook has answered 503 to the message of one post, which the standby has. */
async function startWithWaiting() {
  const pair = await startPair();
  onTestFinished(() => pair.stop());
  const state = { isUp: false };
  const receiver = await startReceiverWith((response) => {
    response.statusCode = state.isUp ? 200 : 503;
    response.end();
  });
  onTestFinished(() => receiver[Symbol.asyncDispose]());
  const many = await startManyHere(pair.address(), 2, { webhooks: { allowNetworks: ["127.0.0.0/8"] } });
  onTestFinished(() => many.stop());
  const { id, secret } = await many.machine.createEndpoint();
  await many.machine.mustRun([
    "webhook",
    "create",
    "--endpoint",
    id,
    "--url",
    receiver.url,
    "--allow-private",
  ]);
  const urls = many.servers.map(({ url }) => url);
  const first = await postPatiently(urls[0]!, secret);
  await until(() => receiver.received.length > 0);
  return { pair, receiver, state, url: urls[1]!, secret, first };
}

test.skipIf(!hasPostgresql)(
  "no message tells of a post that only the primary has, and the others go on, until the standby is back or is promoted",
  { timeout: 240_000 },
  async () => {
    const wrong = await Promise.all([wronglyTold("is back"), wronglyTold("is promoted")]);
    expect(wrong).toEqual([NOTHING_WRONG, NOTHING_WRONG]);
  },
);

const NOTHING_WRONG = { early: [], ofNothing: [] };

/** The submissions that messages tell of and should not, on a pair of its own, which waits most of the time. */
async function wronglyTold(what: "is back" | "is promoted") {
  const { pair, receiver, state, url, secret, first } = await startWithWaiting();
  const told = () => new Set(receiver.received.map(submissionOf));
  await pair.standby.kill();
  const send = () => tryPost(url, secret, examplePost);
  const { id, primary, sent } = await storeOnPrimary(pair, send, [first]);
  // It was claimed: from then on it waits as a delivery, or has been sent.
  const claimed = `SELECT 1 FROM delivery WHERE submission_id = '${id}' AND state <> 'sending'`;
  await until(async () => (await rowsOf(primary, claimed)).length > 0);
  state.isUp = true;
  const delivered = `SELECT 1 FROM delivery WHERE submission_id = '${first}' AND state = 'delivered'`;
  await until(async () => (await rowsOf(primary, delivered)).length > 0);
  const early = [...told()].filter((each) => each !== first);

  if (what === "is back") {
    await pair.standby.restart();
    await until(() => told().has(id));
    await sent;
    return { early, ofNothing: [] };
  }
  // Until then the server would store it on the next primary.
  await sent;
  await pair.primary.kill();
  await pair.standby.restart();
  await pair.promote();
  const next = await postPatiently(url, secret);
  await until(() => told().has(next));
  const promoted = new Set(await idsOf(await openForTest(pair.standby.address("postgres"))));
  if (promoted.has(id)) throw new Error("the standby had the post");
  return { early, ofNothing: [...told()].filter((each) => !promoted.has(each)) };
}

test.skipIf(!hasPostgresql)(
  "a letter about a change that only the primary has waits for the standby, and spends no attempt",
  async () => {
    const cluster = await ownCluster({});
    const db = await openForTest(cluster.address("postgres"));
    await migratePostgresql(db);
    const admin = await administrator(cluster);
    await admin.query("SET synchronous_commit = local");
    const awaitStandby = async (standby: string): Promise<void> => {
      await admin.query(`ALTER SYSTEM SET synchronous_standby_names = '${standby}'`);
      await admin.query("SELECT pg_reload_conf()");
    };
    await awaitStandby("nobody");
    onTestFinished(() => awaitStandby(""));
    const served = serveAddress(db, Date.now(), silentLog);
    onTestFinished(() => served.end());
    served.watch({ onForeignCommit() {}, onSettingsChange() {}, onUpgrade() {} }, []);
    await served.begin();
    await until(() => served.writability.awaitsStandby());

    const mail = await startMailServer();
    const sender = createSmtpSender(plainSettings(mail.port));
    const letters = new StoredLetters({
      db,
      sender,
      from: "forms@example.com",
      perMinute: 1000,
      scheduleSeconds: [60],
      servers: served.liveServers,
      confirmations: served.confirmations,
      linkOf: async () => null,
      clock: systemClock,
      log: silentLog,
      count: () => undefined,
      timing,
    });
    onTestFinished(async () => {
      await sender.close();
      await letters.stop();
    });
    const content = { subject: "Your password was changed", paragraphs: ["Now."], link: null };
    const letter = {
      kind: "security",
      topic: "password",
      address: "ada@example.org",
      recipientId: null,
    } as const;
    // As a change that is to be seen although its commit was ended.
    await db.relaxedTransaction(() => queueLetter({ ...letter, content }, Date.now()));
    letters.start();
    const looked = "SELECT attempts, claimed_by IS NOT NULL AS is_claimed FROM letter";
    type Looked = { readonly attempts: number; readonly is_claimed: boolean };
    const row = async () => (await rowsOf<Looked>(db, looked))[0];
    await until(async () => {
      const now = await row();
      return now?.is_claimed === true && now.attempts === 0;
    });
    expect(mail.received).toEqual([]);
    await awaitStandby("");
    await until(() => mail.received.length === 1);
  },
);
