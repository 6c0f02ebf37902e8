import { describe, expect, onTestFinished, test } from "vitest";
import { join } from "../../../src/database/postgresql/live-server-rows.ts";
import {
  checkDatabaseClock,
  checkPostgresqlDurability,
  checkPostgresqlSchema,
  checkRights,
  checkServers,
  checkStandbys,
  checkUpkeep,
} from "../../../src/database/postgresql/postgresql-health.ts";
import { run, text } from "../../../src/database/steps.ts";
import { connectPlainly, startCluster } from "../../support/postgresql-cluster.ts";
import {
  hasPostgresql,
  openForTest,
  temporaryAddress,
  temporaryPostgresql,
} from "../../support/temporary-postgresql.ts";

describe.skipIf(!hasPostgresql)("doctor on PostgreSQL", () => {
  test("finds a sound database sound, and says what the loss of a machine would take away", async () => {
    const db = await temporaryPostgresql();
    expect(await db.read(checkPostgresqlDurability)).toMatchObject({
      ok: true,
      message: expect.stringContaining("fsync on, synchronous_commit on; commits reach the disk") as string,
    });
    expect(await db.read(checkStandbys)).toMatchObject({
      ok: true,
      message: expect.stringMatching(/^no standby: the loss of PostgreSQL's machine loses/) as string,
    });
    expect(await checkPostgresqlSchema(db)).toMatchObject({ ok: true });
    expect(await db.read(checkUpkeep)).toMatchObject([{ ok: true }]);
    expect(await checkServers(db)).toMatchObject({ ok: true, message: "no server works on it" });
  });

  test("names the servers that live, and finds an upgrade that was not finished", async () => {
    const db = await openForTest(await temporaryAddress());
    for (const id of ["srv_1", "srv_2"]) await db.withConnection((client) => join(client, id, db.name));
    expect(await checkServers(db)).toMatchObject({
      ok: true,
      message: expect.stringMatching(/^servers: 2 of .+, schema \d+$/) as string,
    });
    await db.transaction(() => run(text("UPDATE live_server SET program = '0.0.1' WHERE id = 'srv_1'")));
    expect(await checkServers(db)).toMatchObject({
      ok: false,
      message: expect.stringContaining("1 of 0.0.1") as string,
    });
    const lost = "UPDATE live_server SET seen_at = seen_at - 10001 WHERE id = 'srv_1'";
    await db.transaction(() => run(text(lost)));
    expect(await checkServers(db)).toMatchObject({
      ok: true,
      message: expect.stringMatching(/^servers: 1 of/) as string,
    });
  });

  test("names tables that are missing, and those that the user may not use", async () => {
    const address = await temporaryAddress();
    const db = await openForTest(address);
    expect(await db.read(checkRights)).toMatchObject({ name: "database.rights", ok: true });
    const admin = await connectPlainly(address);
    onTestFinished(() => admin.end());
    const role = `reader_${process.pid}`;
    await admin.query(`CREATE ROLE ${role}; GRANT ${role} TO CURRENT_USER`);
    const checked = await db.read(function* () {
      yield* run(text(`SET LOCAL ROLE ${role}`));
      return yield* checkRights();
    });
    await admin.query(`DROP ROLE ${role}`);
    expect(checked).toMatchObject({
      ok: false,
      message: expect.stringMatching(
        /^this user may not read and write settings_version, settings_change, .+ and \d+ more$/,
      ) as string,
    });
    await admin.query("DROP TABLE rate_window");
    expect(await db.read(checkRights)).toMatchObject({ ok: false, message: "missing: rate_window" });
  });

  test("finds a schema that is not there yet, and a clock that is wrong", async () => {
    const db = await openForTest(await temporaryAddress("TEMPLATE template0"));
    expect(await checkPostgresqlSchema(db)).toMatchObject({
      ok: false,
      message: "there are no tables of formsvc's in it",
    });
    await db.withConnection((client) =>
      client.query("CREATE TABLE schema_version (version int, oldest_program int)"),
    );
    await db.withConnection((client) => client.query("INSERT INTO schema_version VALUES (1, 1)"));
    expect(await checkPostgresqlSchema(db)).toMatchObject({
      ok: false,
      advice: { kind: "upgrade_database" },
    });
    expect(await db.read(() => checkDatabaseClock(Date.now() - 60_000))).toMatchObject({ ok: false });
    expect(await db.read(() => checkDatabaseClock(Date.now()))).toMatchObject({ name: "database.clock" });
  });

  test("finds a synchronous standby that is named and not there, and a slot that nobody reads", async () => {
    const cluster = await startCluster({ settings: ["synchronous_standby_names=nobody"] });
    onTestFinished(() => cluster.stop());
    const admin = await connectPlainly(cluster.address("postgres"));
    await admin.query("SELECT pg_create_physical_replication_slot('left_behind', true)");
    await admin.end();
    const db = await openForTest(cluster.address("postgres"));
    expect(await db.read(checkStandbys)).toMatchObject({
      ok: false,
      message: "commits wait for a synchronous standby that is not there",
    });
    expect(await db.read(checkUpkeep)).toMatchObject([
      { ok: false, message: expect.stringContaining("the replication slot left_behind") as string },
    ]);
  });
});
