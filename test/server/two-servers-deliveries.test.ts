import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { Database } from "../../src/database/database.ts";
import { raiseSettingsVersion } from "../../src/database/settings-version.ts";
import type { Steps } from "../../src/database/steps.ts";
import { addMailRecipient } from "../support/mail-recipients.ts";
import { defaultMailRecipientSettings } from "../../src/mail/recipients/mail-recipient.ts";
import { addWebhooks } from "../support/add-webhooks.ts";
import { rowsOf, write } from "../support/engines.ts";
import { loseFirstServer } from "../support/lose-server.ts";
import { operatorMachine } from "../support/operator-machine.ts";
import { postPatiently } from "../support/posts.ts";
import { type Received, startReceiverWith } from "../support/receivers.ts";
import { startMailServer } from "../support/smtp-servers.ts";
import {
  addressInCluster,
  hasPostgresql,
  openForTest,
  temporaryAddress,
} from "../support/temporary-postgresql.ts";
import { until } from "../support/until.ts";

/** Enough for each server to own some, whatever their ids are. */
const WEBHOOKS = 20;
const RECIPIENTS = 10;
const POSTS = 2;
/** How long one server is stopped: the others take it for lost after ten seconds. */
const STOPPED_MS = 15_000;
const METRICS_TOKEN = "0123456789abcdef";

interface DeliveryRow {
  readonly id: string;
  readonly state: string;
  readonly attempts: number;
  readonly claimed_by: string | null;
}

interface AttemptRow {
  readonly delivery_id: string;
  readonly number: number;
  readonly outcome: string;
}

const deliveriesIn = (db: Database): Promise<DeliveryRow[]> =>
  rowsOf(db, "SELECT id, state, attempts, claimed_by FROM delivery ORDER BY id");
const attemptsIn = (db: Database): Promise<AttemptRow[]> =>
  rowsOf(db, "SELECT delivery_id, number, outcome FROM attempt ORDER BY delivery_id, number");

function* addRecipients(endpointId: string): Steps<void> {
  for (let index = 0; index < RECIPIENTS; index += 1) {
    const settings = { ...defaultMailRecipientSettings, address: `ada${index}@example.org` };
    yield* addMailRecipient({ endpointId, settings, isConfirmed: true }, Date.now());
  }
}

/** The ids of the servers, the one that was started first in front. */
async function serversIn(db: Database): Promise<string[]> {
  const rows = await rowsOf<{ id: string }>(db, "SELECT id FROM live_server ORDER BY started_at, id");
  return rows.map(({ id }) => id);
}

/** Answers no message that it holds until it lets it go. */
async function startHoldingReceiver() {
  const held = new Map<string, (() => void)[]>();
  let holds = (_id: string): boolean => true;
  const receiver = await startReceiverWith((response, { headers }) => {
    const id = String(headers["webhook-id"]);
    if (holds(id)) held.set(id, [...(held.get(id) ?? []), () => response.end()]);
    else response.end();
  });
  onTestFinished(() => receiver[Symbol.asyncDispose]());
  const letGo = (id: string): void => {
    for (const answer of held.get(id) ?? []) answer();
    held.delete(id);
  };
  return {
    url: receiver.url,
    received: receiver.received,
    isHeld: (id: string): boolean => held.has(id),
    letGo,
    /** Answers all others, now and from now on. */
    holdOnly(which: (id: string) => boolean): void {
      holds = which;
      for (const id of held.keys()) if (!which(id)) letGo(id);
    },
  };
}

/** Takes no e-mail before it is opened: whoever comes earlier waits. */
async function startClosedMailServer() {
  const waiting: (() => void)[] = [];
  let isOpen = false;
  const { port, received } = await startMailServer({
    onMailFrom(_address, _session, next) {
      if (isOpen) next();
      else waiting.push(() => next());
    },
  });
  const open = (): void => {
    isOpen = true;
    for (const goOn of waiting) goOn();
  };
  return { port, received, open };
}

/** Two servers that send messages which nobody answers; the first one of them is about to be lost. */
async function sendingServers({ withMail = false } = {}) {
  const receiver = await startHoldingReceiver();
  const mail = await startClosedMailServer();
  const address = await temporaryAddress();
  const machine = operatorMachine();
  machine.configure({
    database: { url: address },
    webhooks: { allowNetworks: ["127.0.0.0/8"], timeoutMs: 60_000 },
    mail: { host: "127.0.0.1", port: mail.port, security: "none", from: "forms@example.com" },
    metrics: { enabled: true, token: METRICS_TOKEN },
  });
  const servers = [await machine.serve(), await machine.serveHere()] as const;
  const db = await openForTest(address);
  await until(async () => (await serversIn(db)).length === 2);
  const [lost] = await serversIn(db);
  const endpoint = await machine.createEndpoint();
  await db.transaction(() => addWebhooks(endpoint.id, receiver.url, WEBHOOKS));
  if (withMail) await db.transaction(() => addRecipients(endpoint.id));
  for (let index = 0; index < POSTS; index += 1) await postPatiently(servers[1].url, endpoint.secret);
  /** What the first one has claimed and has no answer for. */
  const isOfLost = ({ state, claimed_by: server }: DeliveryRow): boolean =>
    state === "sending" && server === lost;
  const sending = async () => (await deliveriesIn(db)).filter(isOfLost);
  await until(async () => (await sending()).some(({ id }) => receiver.isHeld(id)));
  return { receiver, mail, servers, db, secret: endpoint.secret, sending };
}

async function countDelivered(db: Database): Promise<number> {
  const rows = await deliveriesIn(db);
  return rows.filter(({ state }) => state === "delivered").length;
}

/** Each message has one attempt that delivered it, and no more requests than attempts. */
async function expectOneEnd(db: Database, received: readonly Received[]): Promise<void> {
  const attempts = await attemptsIn(db);
  for (const { id, attempts: made } of await deliveriesIn(db)) {
    const own = attempts.filter(({ delivery_id: of }) => of === id);
    expect(own.map(({ number }) => number)).toEqual(own.map((_, index) => index + 1));
    expect(own).toHaveLength(made);
    expect(own.filter(({ outcome }) => outcome === "delivered")).toHaveLength(1);
    const requests = received.filter(({ headers }) => headers["webhook-id"] === id);
    // Each claim sends once at most; what was claimed and not sent yet is interrupted too.
    expect(requests.length).toBeLessThanOrEqual(made);
  }
}

async function interruptedIn(db: Database): Promise<string[]> {
  const attempts = await attemptsIn(db);
  return attempts.filter(({ outcome }) => outcome === "interrupted").map(({ delivery_id: id }) => id);
}

const isIn = (all: readonly string[], some: readonly string[]): boolean =>
  some.every((each) => all.includes(each));

/** How many servers this one knows of. */
async function liveAt(url: string): Promise<string | undefined> {
  const answer = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${METRICS_TOKEN}` } });
  return /^formsvc_live_servers (\d+)$/m.exec(await answer.text())?.[1];
}

describe.skipIf(!hasPostgresql)("deliveries of two servers on one database", () => {
  // The shared cluster may have to be started first.
  beforeAll(() => addressInCluster("postgres"), 120_000);

  test("what a server was sending when it was killed goes out by the other one, each message and e-mail once", async () => {
    const { receiver, mail, servers, db, sending } = await sendingServers({ withMail: true });
    servers[0].process.kill("SIGKILL");
    await servers[0].ended;
    await loseFirstServer(db);
    const taken = (await sending()).map(({ id }) => id);
    receiver.holdOnly(() => false);
    mail.open();
    await until(async () => isIn(await interruptedIn(db), taken));
    // An e-mail that may have arrived waits for some minutes.
    await write(db, "UPDATE delivery SET due_at = 1 WHERE state = 'pending'");
    await db.transaction(() => raiseSettingsVersion("rows"));
    const all = (WEBHOOKS + RECIPIENTS) * POSTS;
    await until(async () => (await countDelivered(db)) === all);
    const mailed = mail.received.flatMap(({ to }) => to);
    expect(mailed).toHaveLength(RECIPIENTS * POSTS);
    expect(new Set(mailed).size).toBe(RECIPIENTS);
    await expectOneEnd(db, receiver.received);
  });

  test("what a server says after it was stopped for 15 s of messages that the other one has by then counts for nothing", async () => {
    const { receiver, servers, db, secret, sending } = await sendingServers();
    const [first, second] = servers;
    first.process.kill("SIGSTOP");
    const stoppedAt = performance.now();
    const taken = (await sending()).map(({ id }) => id);
    // It reads these answers when it goes on. The other one gets an answer for all but one meanwhile.
    const kept = taken.find((id) => receiver.isHeld(id)) ?? "";
    receiver.letGo(kept);
    receiver.holdOnly((id) => id === kept);
    await until(() => receiver.isHeld(kept));
    await until(async () => (await countDelivered(db)) === WEBHOOKS * POSTS - 1);
    await until(() => performance.now() - stoppedAt >= STOPPED_MS);
    const before = { attempts: await attemptsIn(db), rows: await deliveriesIn(db) };
    expect(before.rows.find(({ id }) => id === kept)).toMatchObject({ state: "sending", attempts: 2 });

    receiver.holdOnly(() => true);
    first.process.kill("SIGCONT");
    await until(async () => (await liveAt(first.url)) === "2" && (await liveAt(second.url)) === "2");
    let posts = POSTS;
    // What it claims, it claims after it has said all that it had to say.
    await until(async () => {
      await postPatiently(first.url, secret);
      posts += 1;
      return (await sending()).length > 0;
    });
    const known = new Set(before.rows.map(({ id }) => id));
    const rows = await deliveriesIn(db);
    expect(rows.filter(({ id }) => known.has(id))).toEqual(before.rows);
    const attempts = await attemptsIn(db);
    expect(attempts.filter(({ delivery_id: id }) => known.has(id))).toEqual(before.attempts);

    receiver.holdOnly(() => false);
    await until(async () => (await countDelivered(db)) === WEBHOOKS * posts);
    await expectOneEnd(db, receiver.received);
    expect(await interruptedIn(db)).toEqual(expect.arrayContaining(taken));
  });
});
