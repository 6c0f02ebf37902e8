import { beforeAll, describe, expect, test } from "vitest";
import { operatorMachine } from "../support/operator-machine.ts";
import { postPatiently } from "../support/posts.ts";
import { addressInCluster, hasPostgresql, temporaryAddress } from "../support/temporary-postgresql.ts";
import { until } from "../support/until.ts";

const HOUR_MS = 3_600_000;
const METRICS_TOKEN = "0123456789abcdef";

/** Loaded before the program. */
const setClock = (ms: number): string =>
  `--import=data:text/javascript,const{now}=Date;Date.now=()=>now.call(Date)+${ms}`;

/** How many servers this one knows of. */
async function liveAt(url: string): Promise<string | undefined> {
  const answer = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${METRICS_TOKEN}` } });
  return /^formsvc_live_servers (\d+)$/m.exec(await answer.text())?.[1];
}

describe.skipIf(!hasPostgresql)("a server beside another one", () => {
  // The shared cluster may have to be started first.
  beforeAll(() => addressInCluster("postgres"), 120_000);

  test.each([
    ["ahead of", HOUR_MS],
    ["behind", -HOUR_MS],
  ])("whose clock is an hour %s the database's counts as living, and takes posts", async (_, ms) => {
    const machine = operatorMachine();
    machine.configure({
      database: { url: await temporaryAddress("TEMPLATE template0") },
      metrics: { enabled: true, token: METRICS_TOKEN },
    });
    const right = await machine.serve();
    const wrong = await machine.serve({ env: { NODE_OPTIONS: setClock(ms) } });
    const urls = [right.url, wrong.url];
    const endpoint = await machine.createEndpoint();
    const knowBoth = async () => (await Promise.all(urls.map(liveAt))).every((live) => live === "2");
    await until(knowBoth);
    for (const url of urls) await postPatiently(url, endpoint.secret);
    expect(await machine.stored(endpoint)).toHaveLength(2);
    await until(knowBoth);
  });
});
