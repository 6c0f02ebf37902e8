import { beforeAll, describe, expect, test } from "vitest";
import { defaultConfig } from "../../src/config/config.ts";
import type { Database } from "../../src/database/database.ts";
import type { Steps } from "../../src/database/steps.ts";
import { createKeyring } from "../../src/secrets/keyring.ts";
import { createWebhook } from "../../src/webhooks/webhook-store.ts";
import { defaultWebhookSettings } from "../../src/webhooks/webhook.ts";
import { rowsOf } from "../support/engines.ts";
import { operatorMachine } from "../support/operator-machine.ts";
import { post } from "../support/posts.ts";
import { startReceiverWith } from "../support/receivers.ts";
import {
  addressInCluster,
  hasPostgresql,
  openForTest,
  temporaryAddress,
} from "../support/temporary-postgresql.ts";
import { until } from "../support/until.ts";

/** Enough for each server to own some, whatever their ids are. */
const WEBHOOKS = 20;
const POSTS = 2;

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

function* addWebhooks(endpointId: string, url: string): Steps<void> {
  const keyring = createKeyring(defaultConfig.secrets);
  for (let index = 0; index < WEBHOOKS; index += 1) {
    const settings = { ...defaultWebhookSettings, url: `${url}/${index}`, allowPrivate: true };
    yield* createWebhook(keyring, endpointId, settings, Date.now());
  }
}

/** The ids of the servers, the one that was started first in front. */
async function serversIn(db: Database): Promise<string[]> {
  const rows = await rowsOf<{ id: string }>(db, "SELECT id FROM live_server ORDER BY started_at, id");
  return rows.map(({ id }) => id);
}

describe.skipIf(!hasPostgresql)("deliveries of two servers on one database", () => {
  // The shared cluster may have to be started first.
  beforeAll(() => addressInCluster("postgres"), 120_000);

  test.each(["SIGKILL", "SIGSTOP"] as const)(
    "what a server was sending when it got %s goes out by the other, each message recorded as delivered once",
    async (signal) => {
      const held: (() => void)[] = [];
      let isHolding = true;
      await using receiver = await startReceiverWith((response) => {
        if (isHolding) held.push(() => response.end());
        else response.end();
      });
      const address = await temporaryAddress("TEMPLATE template0");
      const machine = operatorMachine();
      machine.configure({ database: { url: address }, webhooks: { allowNetworks: ["127.0.0.0/8"] } });
      const first = await machine.serve();
      const second = await machine.serve();
      const db = await openForTest(address);
      await until(async () => (await serversIn(db)).length === 2);
      const [lost] = await serversIn(db);
      const endpoint = await machine.createEndpoint();
      await db.transaction(() => addWebhooks(endpoint.id, receiver.url));
      for (let index = 0; index < POSTS; index += 1) await post(second.url, endpoint.secret);
      const isSending = ({ claimed_by: server }: DeliveryRow): boolean => server === lost;
      await until(async () => (await deliveriesIn(db)).some(isSending) && held.length > 0);
      first.process.kill(signal);
      const taken = (await deliveriesIn(db)).filter(isSending).map(({ id }) => id);
      isHolding = false;
      for (const answer of held) answer();
      const isDelivered = async (count: number): Promise<boolean> => {
        const rows = await deliveriesIn(db);
        return rows.length === count && rows.every(({ state }) => state === "delivered");
      };
      await until(() => isDelivered(WEBHOOKS * POSTS));
      const before = await attemptsIn(db);
      if (signal === "SIGSTOP") {
        first.process.kill("SIGCONT");
        // It is one of them again, and has said all that it had to say.
        await until(async () => (await fetch(`${first.url}/readyz`)).status === 200);
        await post(first.url, endpoint.secret);
        await until(() => isDelivered(WEBHOOKS * (POSTS + 1)));
      }
      const attempts = await attemptsIn(db);
      const known = new Set(before.map(({ delivery_id: id }) => id));
      expect(attempts.filter(({ delivery_id: id }) => known.has(id))).toEqual(before);
      for (const { id, attempts: made } of await deliveriesIn(db)) {
        const own = attempts.filter(({ delivery_id: of }) => of === id);
        expect(own.map(({ number }) => number)).toEqual(own.map((_, index) => index + 1));
        expect(own).toHaveLength(made);
        expect(own.filter(({ outcome }) => outcome === "delivered")).toHaveLength(1);
        const requests = receiver.received.filter(({ headers }) => headers["webhook-id"] === id);
        // Each claim sends once at most; what was claimed and not sent yet is interrupted too.
        expect(requests.length).toBeLessThanOrEqual(made);
      }
      const interrupted = attempts.filter(({ outcome }) => outcome === "interrupted");
      expect(interrupted.map(({ delivery_id: id }) => id)).toEqual(expect.arrayContaining(taken));
    },
    150_000,
  );
});
