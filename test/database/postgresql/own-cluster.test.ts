import { spawn } from "node:child_process";
import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { describe, expect, onTestFinished, test } from "vitest";
import { migratePostgresql } from "../../../src/database/postgresql/migrate-postgresql.ts";
import { openPostgresql, type PostgresqlDatabase } from "../../../src/database/postgresql/open-postgresql.ts";
import { serveAddress } from "../../../src/database/postgresql/served-postgresql.ts";
import { first, run, text } from "../../../src/database/steps.ts";
import { FormsvcError } from "../../../src/foundation/errors.ts";
import { createLog } from "../../../src/foundation/log.ts";
import { createAuthority } from "../../support/certificates.ts";
import { operatorMachine } from "../../support/operator-machine.ts";
import { administrator, ownCluster } from "../../support/own-cluster.ts";
import { type Cluster, connectPlainly, tcpAddress } from "../../support/postgresql-cluster.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { hasPostgresql, openForTest, temporaryAddress } from "../../support/temporary-postgresql.ts";
import { until } from "../../support/until.ts";

/** It leads to this machine, and the program does not know that. */
const ELSEWHERE = "0.0.0.0";

function overTcp(cluster: Cluster, host = "127.0.0.1", parameters = ""): string {
  return `${tcpAddress([cluster.port]).replace("127.0.0.1", host)}${parameters}`;
}

/** A server of ours, until the test ends, and what its log says is refused. */
async function serveWithLog(db: PostgresqlDatabase) {
  const lines: Record<string, unknown>[] = [];
  const write = (line: string): void => void lines.push(JSON.parse(line) as Record<string, unknown>);
  const served = serveAddress(db, Date.now(), createLog("error", { write }));
  onTestFinished(() => served.end());
  const watch = served.watch({ onForeignCommit() {}, onSettingsChange() {}, onUpgrade() {} }, []);
  await served.begin();
  return { watch, refused: () => lines.filter(({ event }) => event === "database.refused") };
}

describe.skipIf(!hasPostgresql)("a server of its own", () => {
  test("is refused as a standby, and as a primary that does not wait for its disk", async () => {
    const cluster = await ownCluster({ settings: ["fsync=off"], standby: true, tcp: true });
    await expect(openPostgresql(cluster.address("postgres"))).rejects.toThrow("this server is a standby");
    const admin = await administrator(cluster);
    await admin.query("SELECT pg_promote()");
    await expect(openPostgresql(cluster.address("postgres"))).rejects.toThrow("fsync is off");
  });

  test("ends with the process that started it, even if that is killed", async () => {
    const module = new URL("../../support/postgresql-cluster.ts", import.meta.url).href;
    const starter = spawn(
      process.execPath,
      [
        "-e",
        `const { folder, address } = await (await import("${module}")).startCluster(); console.log(folder); console.log(address("postgres"))`,
      ],
      { stdio: ["ignore", "pipe", "inherit"] },
    );
    const lines = createInterface({ input: starter.stdout })[Symbol.asyncIterator]();
    const folder = String((await lines.next()).value);
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const client = await connectPlainly(String((await lines.next()).value));
    // Not `once`, which fails at the error that comes before.
    const ended = new Promise((resolve) => client.once("end", resolve));
    starter.kill("SIGKILL");
    await ended;
    expect(await until(() => !existsSync(join(folder, "data/postmaster.pid")))).toBe(true);
  });

  test("is found behind hosts that are standbys or not there", async () => {
    const [standby, primary] = [
      await ownCluster({ standby: true, tcp: true }),
      await ownCluster({ tcp: true }),
    ];
    const db = await openForTest(tcpAddress([1, standby.port, primary.port]));
    const port = text<{ port: string }>("SELECT current_setting('port') AS port");
    expect(await db.transaction(() => run(port))).toBe(1);
  });

  test("that stops waiting for a synchronous standby has not acknowledged the change", async () => {
    const cluster = await ownCluster({ settings: ["synchronous_standby_names=nobody"] });
    const db = await openForTest(cluster.address("postgres"));
    const admin = await administrator(cluster);
    const waiting = db
      .transaction(() => run(text("CREATE TABLE made (number int)")))
      .catch((error: unknown) => error);
    const cancel = "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'";
    await until(async () => (await admin.query(cancel)).rowCount === 1);
    expect(await waiting).toMatchObject({
      code: "database_unusable",
      message: expect.stringContaining("look whether it was made") as string,
    });
  });

  test("acknowledges nothing and refuses nothing before its standby has what was read", async () => {
    const cluster = await ownCluster({ settings: ["synchronous_standby_names=nobody"] });
    const db = await openForTest(cluster.address("postgres"));
    const admin = await administrator(cluster);
    const works: (() => Promise<unknown>)[] = [
      () => db.transaction(() => run(text("DELETE FROM pg_description WHERE objoid = 0"))),
      () =>
        db.transaction(function* () {
          yield* first(text("SELECT 1 AS one"));
          throw new FormsvcError("not_found", "it is gone");
        }),
      () => db.confirmReads(),
    ];
    const cancel = "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'";
    for (const work of works) {
      const said = work().catch((error: unknown) => error);
      let isSaid = false;
      void said.then(() => (isSaid = true));
      await until(async () => isSaid || (await admin.query(cancel)).rowCount === 1);
      expect(await said).toMatchObject({ code: "database_unusable" });
    }
  });

  test("shares one commit among all who ask at the same time whether what they read is safe", async () => {
    const db = await openForTest(await temporaryAddress());
    const asked = [db.confirmReads(), db.confirmReads(), db.confirmReads()];
    expect(new Set(asked).size).toBe(1);
    await Promise.all(asked);
    const later = db.confirmReads();
    expect(later).not.toBe(asked[0]);
    await later;
  });

  test("with a certificate is believed only if a trusted authority issued it for that name", async () => {
    const authority = createAuthority();
    onTestFinished(() => authority.remove());
    const { key, cert } = authority.issue("DNS:localhost");
    const cluster = await ownCluster({
      tcp: true,
      settings: ["ssl=on"],
      files: { "server.key": key, "server.crt": cert },
    });
    const file = join(temporaryFolder(), "ca.crt");
    writeFileSync(file, authority.cert);
    const trusting = `?sslmode=verify-full&sslrootcert=${file}`;
    const db = await openForTest(overTcp(cluster, "localhost", trusting));
    const encrypted = text("SELECT 1 FROM pg_stat_ssl WHERE pid = pg_backend_pid() AND ssl");
    expect(await db.transaction(() => run(encrypted))).toBe(1);
    const untrusted =
      "of an authority that is not trusted here; name the authority's file with sslrootcert=…";
    const wrong: [address: string, reason: string][] = [
      [overTcp(cluster, "localhost", "?sslmode=require"), untrusted],
      [overTcp(cluster, "127.0.0.1", trusting), "for another host; write a name of the certificate"],
      [overTcp(cluster, ELSEWHERE), untrusted],
    ];
    for (const [address, reason] of wrong) await expect(openPostgresql(address)).rejects.toThrow(reason);
  });

  test("whose certificate expires is told of with what to do, and heard again when it has a new one", async () => {
    const authority = createAuthority();
    onTestFinished(() => authority.remove());
    const { key, cert } = authority.issue("DNS:localhost");
    const files = { "server.key": key, "server.crt": cert };
    const cluster = await ownCluster({ tcp: true, settings: ["ssl=on"], files });
    const file = join(temporaryFolder(), "ca.crt");
    writeFileSync(file, authority.cert);
    const address = overTcp(cluster, "localhost", `?sslmode=verify-full&sslrootcert=${file}`);
    const db = await openForTest(address);
    await migratePostgresql(db);
    const { watch, refused } = await serveWithLog(db);
    const admin = await administrator(cluster);
    const replace = async (days: number): Promise<void> => {
      const next = authority.issue("DNS:localhost", days);
      writeFileSync(join(cluster.folder, "data/server.key"), next.key);
      writeFileSync(join(cluster.folder, "data/server.crt"), next.cert);
      await admin.query("SELECT pg_reload_conf()");
    };
    await replace(-1);
    const works = ["heartbeat", "probe", "pulse"];
    // The new certificate is in force a moment later, for new connections. A work may succeed meanwhile, and fail again.
    await until(async () => {
      await admin.query(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'formsvc'",
      );
      return works.every((name) => refused().some(({ work }) => work === name));
    });
    const told = refused();
    const reason =
      "the server's certificate or its authority's has expired; renew it, or correct this machine's clock";
    for (const line of told) expect(line["reason"]).toContain(reason);
    const machine = operatorMachine({ database: { url: address } });
    const examined = await machine.run(["doctor"]);
    expect([examined.code, examined.stdout]).toEqual([
      1,
      expect.stringMatching(/database\.server +.*has expired; renew it/),
    ]);
    await replace(2);
    expect(await until(() => watch.blindness() === null)).toBe(true);
    expect(refused()).toEqual(told);
  });

  test("without a certificate is refused if the connection must be encrypted, as any to another machine must", async () => {
    const cluster = await ownCluster({ tcp: true });
    const addresses = [overTcp(cluster, "127.0.0.1", "?sslmode=verify-full"), overTcp(cluster, ELSEWHERE)];
    for (const address of addresses)
      await expect(openPostgresql(address)).rejects.toThrow("takes no encrypted connections");
    await openForTest(overTcp(cluster));
  });
});
