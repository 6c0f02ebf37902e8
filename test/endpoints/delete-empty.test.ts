import { describe, expect, onTestFinished, test } from "vitest";
import { ENDPOINT_CONTENTS } from "../../src/app/features.ts";
import type { Database } from "../../src/database/database.ts";
import { createEndpoint } from "../../src/endpoints/create-endpoint.ts";
import { deleteEndpoint } from "../../src/endpoints/delete-endpoint.ts";
import { storeSubmissions } from "../support/add-submission.ts";
import { ENGINES, rowsOf, write } from "../support/engines.ts";
import { connectPlainly } from "../support/postgresql-cluster.ts";
import { hasPostgresql, openForTest, temporaryAddress } from "../support/temporary-postgresql.ts";
import { performOn } from "../support/terminal.ts";
import { until } from "../support/until.ts";

const parts = { endpointContents: ENDPOINT_CONTENTS };

async function makeForm(db: Database, name: string): Promise<string> {
  return (await performOn(db, createEndpoint, { name, schema: {} })).endpoint.id;
}

function deleteIfEmpty(db: Database, endpoint: string): Promise<unknown> {
  return performOn(db, deleteEndpoint, { endpoint, only_empty: true }, { parts });
}

describe.each(ENGINES)("on $name", ({ temporary }) => {
  test("an endpoint that is deleted only if it is empty stays whole with a submission or a held post", async () => {
    const db = await temporary();
    const [submitted, held, empty] = [
      await makeForm(db, "submitted"),
      await makeForm(db, "held"),
      await makeForm(db, "empty"),
    ];
    await storeSubmissions(db, [{ endpointId: submitted }]);
    await write(
      db,
      `INSERT INTO held (id, workspace_id, endpoint_id, schema_version, data, spam_score, spam_reasons, spam_version, ip_address,
        network, user_agent, trapped, why, created_at, bytes)
       SELECT 'held_1', workspace_id, id, 1, '{}', 90, '[]', 1, '', '', '', 0, 'spam', 1, 10 FROM endpoint WHERE id = '${held}'`,
    );
    for (const endpoint of [submitted, held])
      await expect(deleteIfEmpty(db, endpoint)).rejects.toMatchObject({
        code: "conflict",
        message: expect.stringContaining("has submissions or held posts; nothing was deleted") as string,
      });
    await deleteIfEmpty(db, empty);
    expect(await rowsOf(db, "SELECT name, state FROM endpoint ORDER BY name")).toEqual([
      { name: "held", state: "active" },
      { name: "submitted", state: "active" },
    ]);
  });
});

test.skipIf(!hasPostgresql)(
  "on PostgreSQL, a post that is stored while the endpoint is being deleted keeps it",
  async () => {
    const address = await temporaryAddress();
    const db = await openForTest(address);
    const endpoint = await makeForm(db, "Contact");
    const client = await connectPlainly(address);
    onTestFinished(() => client.end());
    await client.query("BEGIN");
    await client.query(`INSERT INTO submission (id, endpoint_number, schema_version, data, spam_score, spam_reasons, ip_address, user_agent, created_at)
      SELECT 'sub_1', number, 1, '{}', 0, '[]', '', '', 1 FROM endpoint_number`);
    const deleting = deleteIfEmpty(db, endpoint).then(
      () => "deleted",
      (error: { code?: string }) => error.code,
    );
    const waiting =
      "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
    const other = await connectPlainly(address);
    onTestFinished(() => other.end());
    await until(async () => (await other.query(waiting)).rows.length > 0);
    await client.query("COMMIT");
    expect(await deleting).toBe("conflict");
    expect(await rowsOf(db, "SELECT id FROM submission")).toEqual([{ id: "sub_1" }]);
  },
);
