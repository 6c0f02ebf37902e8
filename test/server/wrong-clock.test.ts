import { beforeAll, describe, expect, test } from "vitest";
import { addWebhooks } from "../support/add-webhooks.ts";
import { rowsOf } from "../support/engines.ts";
import { operatorMachine } from "../support/operator-machine.ts";
import { postPatiently } from "../support/posts.ts";
import { startReceiverWith } from "../support/receivers.ts";
import {
  addressInCluster,
  hasPostgresql,
  openForTest,
  temporaryAddress,
} from "../support/temporary-postgresql.ts";
import { until } from "../support/until.ts";
import { HOUR_MS } from "../../src/foundation/time-units.ts";

/** Enough for each server to own some. */
const WEBHOOKS = 10;
/** To each server, at once: more than a webhook gets at a time. */
const POSTS = 30;
const METRICS_TOKEN = "0123456789abcdef";

/** Loaded before the program. */
const setClock = (ms: number): string =>
  `--import=data:text/javascript,const{now}=Date;Date.now=()=>now.call(Date)+${ms}`;

/** How many servers this one knows of. */
async function liveAt(url: string): Promise<string | undefined> {
  const answer = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${METRICS_TOKEN}` } });
  return /^formsvc_live_servers (\d+)$/m.exec(await answer.text())?.[1];
}

test("a server does not start with the clock of 1970, and says what to do; with one of 2020 it does", async () => {
  const machine = operatorMachine();
  const at = (ms: number) => ({ env: { NODE_OPTIONS: setClock(ms - Date.now()) } });
  const refused = await machine.run(["serve", "--port", "0"], { ...at(0), isRefused: true });
  expect(refused.stderr).toMatch(
    /^formsvc: this machine's clock shows 1970-01-01T\S+, which cannot be; set it first.+\n$/,
  );
  expect(refused.code).toBe(5);
  await machine.serve(at(Date.UTC(2020, 0, 2)));
});

describe.skipIf(!hasPostgresql)("a server beside another one", () => {
  // The shared cluster may have to be started first.
  beforeAll(() => addressInCluster("postgres"), 120_000);

  test.each([
    ["ahead of", HOUR_MS],
    ["behind", -HOUR_MS],
  ])(
    "whose clock is an hour %s the database's counts as living, takes posts, and what it stored is delivered at once",
    async (_, ms) => {
      await using receiver = await startReceiverWith((response) => response.end());
      const address = await temporaryAddress();
      const machine = operatorMachine();
      machine.configure({
        database: { url: address },
        webhooks: { allowNetworks: ["127.0.0.0/8"] },
        metrics: { enabled: true, token: METRICS_TOKEN },
      });
      const right = await machine.serveHere();
      const wrong = await machine.serve({ env: { NODE_OPTIONS: setClock(ms) } });
      const urls = [right.url, wrong.url];
      const endpoint = await machine.createEndpoint();
      const knowBoth = async () => (await Promise.all(urls.map(liveAt))).every((live) => live === "2");
      await until(knowBoth);
      const db = await openForTest(address);
      await db.transaction(() => addWebhooks(endpoint.id, receiver.url, WEBHOOKS));
      const posts = urls.flatMap((url) => Array.from({ length: POSTS }, () => url));
      await Promise.all(posts.map((url) => postPatiently(url, endpoint.secret)));
      expect(await machine.stored(endpoint)).toHaveLength(posts.length);
      const delivered = () => rowsOf(db, "SELECT id FROM delivery WHERE state = 'delivered'");
      await until(async () => (await delivered()).length === WEBHOOKS * posts.length);
      await until(knowBoth);
    },
  );
});
