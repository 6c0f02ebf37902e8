import { beforeAll, describe, expect, test } from "vitest";
import type { Database } from "../../src/database/database.ts";
import { storeSubmissions } from "../support/add-submission.ts";
import { rowsOf } from "../support/engines.ts";
import { loseFirstServer } from "../support/lose-server.ts";
import { operatorMachine } from "../support/operator-machine.ts";
import type { RunningServer } from "../support/running-server.ts";
import {
  addressInCluster,
  hasPostgresql,
  openForTest,
  temporaryAddress,
} from "../support/temporary-postgresql.ts";
import { until } from "../support/until.ts";

/** Two servers that both do the chores would hardly leave all of these to the first one. */
const ROUNDS = 8;
const QUICK_MINUTES = {
  env: { NODE_OPTIONS: `--import=${new URL("../support/quick-minutes.ts", import.meta.url).href}` },
};

/** How many submissions a server says it has deleted because they were too old. */
function expiredBy({ lines }: RunningServer): number {
  const told = lines.filter(({ event }) => event === "retention.expired");
  return told.reduce((sum, { submissions }) => sum + Number(submissions), 0);
}

/** Stores one that is too old, and waits until it is gone. */
async function letOneExpire(db: Database, endpointId: string): Promise<void> {
  await storeSubmissions(db, [{ endpointId, createdAt: 1 }]);
  await until(async () => (await rowsOf(db, "SELECT id FROM submission")).length === 0);
}

describe.skipIf(!hasPostgresql)("chores of two servers on one database", () => {
  // The shared cluster may have to be started first.
  beforeAll(() => addressInCluster("postgres"), 120_000);

  test("are done by one of them, and by the other one when that is killed", async () => {
    const address = await temporaryAddress();
    const machine = operatorMachine();
    machine.configure({ database: { url: address } });
    const first = await machine.serve(QUICK_MINUTES);
    const { id } = await machine.createEndpoint({ settings: { keepDays: 1 } });
    const second = await machine.serve(QUICK_MINUTES);
    const db = await openForTest(address);
    for (let round = 0; round < ROUNDS; round += 1) await letOneExpire(db, id);
    await until(() => expiredBy(first) + expiredBy(second) === ROUNDS);
    expect([expiredBy(first), expiredBy(second)]).toEqual([ROUNDS, 0]);
    first.process.kill("SIGKILL");
    await first.ended;
    await loseFirstServer(db);
    await letOneExpire(db, id);
    await until(() => expiredBy(second) === 1);
  });
});
