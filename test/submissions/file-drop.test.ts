import { describe, expect, onTestFinished, test } from "vitest";
import { dropUnstored } from "../../src/files/file-store.ts";
import { newId } from "../../src/foundation/id.ts";
import { storeFiles } from "../../src/submissions/receive/store-files.ts";
import { addPlace, batchServer } from "../support/batch-world.ts";
import { rowsOf } from "../support/engines.ts";
import { NOON } from "../support/fake-clock.ts";
import { connectPlainly } from "../support/postgresql-cluster.ts";
import { hasPostgresql, openForTest, temporaryAddress } from "../support/temporary-postgresql.ts";
import { fileStoring, uploadingTo } from "../support/uploads.ts";
import { until } from "../support/until.ts";

const SIZE = 300_000;

describe.skipIf(!hasPostgresql)("on PostgreSQL", () => {
  test("a file that a transaction is just giving to its submission is not dropped, however late that commits", async () => {
    const address = await temporaryAddress();
    const db = await openForTest(address);
    const other = await connectPlainly(address);
    onTestFinished(() => other.end().catch(() => undefined));
    const { endpointId } = await addPlace(db);
    const facts = { id: newId("fil", NOON), name: "a", size: SIZE, type: "application/pdf", sha256: "0" };
    const read = (offset: number, length: number) =>
      Promise.resolve(Buffer.alloc(Math.min(length, SIZE - offset)));
    const parts = fileStoring(db, batchServer(db).queue);
    await storeFiles(parts, [{ facts, source: { size: SIZE, read } }], {
      uploading: uploadingTo(endpointId),
      createdAt: NOON,
    });

    await other.query("BEGIN");
    await other.query("UPDATE file SET state = 'stored' WHERE id = $1", [facts.id]);
    const dropping = db.transaction(() => dropUnstored(facts.id));
    const waiting = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
    await until(async () => (await other.query(waiting)).rowCount === 1);
    await other.query("COMMIT");
    expect(await dropping).toBe(0);
    expect(await rowsOf(db, "SELECT position FROM file_chunk ORDER BY position")).toEqual([
      { position: 0 },
      { position: 1 },
    ]);
  });
});
