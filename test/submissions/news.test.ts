import { describe, expect, test } from "vitest";
import { insertEndpointRow } from "../../src/endpoints/endpoint-store.ts";
import { defaultEndpointSettings } from "../../src/endpoints/endpoint.ts";
import { exampleSchema } from "../support/example-schema.ts";
import { countArrivals } from "../../src/submissions/find/news.ts";
import { TAIL_START, tailAfter, tailEnd } from "../../src/submissions/find/tail.ts";
import { insertAccountRows } from "../../src/workspaces/workspace-store.ts";
import type { Database } from "../../src/database/database.ts";
import { storeSubmissions } from "../support/add-submission.ts";
import { ENGINES } from "../support/engines.ts";
import { NOON } from "../support/fake-clock.ts";
import { hasPostgresql, temporaryPostgresql, untilTailed } from "../support/temporary-postgresql.ts";

async function withEndpoint(db: Database, email = "ana@example.org") {
  const { workspace } = await db.transaction(() => insertAccountRows(email, NOON));
  const plans = { hobby: { monthlySubmissions: null, endpoints: null, customSpam: false } };
  const made = { name: "Contact", definition: exampleSchema, settings: defaultEndpointSettings };
  const { id } = await db.transaction(() => insertEndpointRow(workspace, made, plans, NOON));
  const store = async (count: number): Promise<string[]> => {
    const given = Array.from({ length: count }, () => ({ endpointId: id, createdAt: NOON }));
    const ids = await storeSubmissions(db, given);
    await untilTailed(db);
    return ids;
  };
  return { endpoint: id, store };
}

describe.each(ENGINES)("on $name", ({ temporary }) => {
  test("arrivals after a position are counted by endpoint, and up to another position if there is one", async () => {
    const db = await temporary();
    const [ana, eve] = [await withEndpoint(db), await withEndpoint(db, "eve@example.org")];
    const [first = ""] = await ana.store(1);
    await ana.store(3);
    const middle = await db.read(tailEnd);
    await eve.store(2);
    const all = await db.read(() => countArrivals(TAIL_START));
    expect(all.byEndpoint).toEqual(
      new Map([
        [ana.endpoint, 4],
        [eve.endpoint, 2],
      ]),
    );
    expect(all.isCut).toBe(false);
    expect(all.position).toEqual(await db.read(tailEnd));
    const from = await db.read(() => tailAfter(first));
    const part = await db.read(() => countArrivals(from, middle));
    expect([part.byEndpoint, part.position]).toEqual([new Map([[ana.endpoint, 3]]), middle]);
    const none = await db.read(() => countArrivals(all.position));
    expect(none).toEqual({ position: all.position, byEndpoint: new Map(), isCut: false });
  });
});

test.skipIf(!hasPostgresql)(
  "on PostgreSQL what waits for a slower transaction is counted once that has ended, and there is more until then",
  async () => {
    const db = await temporaryPostgresql();
    const { endpoint } = await withEndpoint(db);
    await db.withConnection(async (client) => {
      await client.query("BEGIN");
      await client.query("SELECT pg_current_xact_id()");
      await storeSubmissions(db, [{ endpointId: endpoint, createdAt: NOON }]);
      const early = await db.read(() => countArrivals(TAIL_START));
      expect(early).toEqual({ position: TAIL_START, byEndpoint: new Map(), isCut: true });
      await client.query("COMMIT");
    });
    await untilTailed(db);
    const late = await db.read(() => countArrivals(TAIL_START));
    expect([late.byEndpoint, late.isCut]).toEqual([new Map([[endpoint, 1]]), false]);
  },
);
