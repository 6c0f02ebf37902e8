import { describe, expect, onTestFinished, test } from "vitest";
import type { ChangeListener, Head } from "../../../src/database/database.ts";
import { isFirst } from "../../../src/database/live-servers.ts";
import type { PostgresqlDatabase } from "../../../src/database/postgresql/open-postgresql.ts";
import { serveAddress } from "../../../src/database/postgresql/served-postgresql.ts";
import type { ServedDatabase } from "../../../src/database/served-database.ts";
import { DatabaseRefusals } from "../../../src/database/postgresql/refusals.ts";
import { createServerNotifier } from "../../../src/database/postgresql/notify-servers.ts";
import { type ChangedSettings, raiseSettingsVersion } from "../../../src/database/settings-version.ts";
import { run, text } from "../../../src/database/steps.ts";
import { createLog } from "../../../src/foundation/log.ts";
import { silentLog } from "../../support/silent-log.ts";
import { createMetrics } from "../../../src/foundation/prometheus.ts";
import { rowsOf } from "../../support/engines.ts";
import { startLink } from "../../support/faulty-link.ts";
import { connectPlainly } from "../../support/postgresql-cluster.ts";
import { hasPostgresql, openForTest, temporaryAddress } from "../../support/temporary-postgresql.ts";
import { until } from "../../support/until.ts";

interface Heard {
  settings: number;
  /** What the last change was about. */
  changed: ChangedSettings;
  upgrades: number;
}

/** A server that watches from the beginning, until the test ends. */
async function joined(db: PostgresqlDatabase, heads: readonly Head[] = []) {
  const served = serveAddress(db, Date.now(), silentLog);
  onTestFinished(() => served.end());
  const heard: Heard = { settings: 0, changed: new Set(), upgrades: 0 };
  const listener: ChangeListener = {
    onForeignCommit() {},
    onSettingsChange(changed) {
      heard.settings += 1;
      heard.changed = changed;
    },
    onUpgrade: () => void (heard.upgrades += 1),
  };
  const watch = served.watch(listener, heads);
  expect([watch.blindness(), served.writability.isWritable()]).toEqual(["unheard", false]);
  await served.begin();
  expect([watch.blindness(), served.writability.isWritable()]).toEqual([null, true]);
  return { served, watch, heard };
}

const idsOf = (...servers: readonly ServedDatabase[]) =>
  servers.map(({ liveServers }) => liveServers.self).toSorted();

describe.skipIf(!hasPostgresql)("servers that share a PostgreSQL database", () => {
  test("know each other, agree which is the first, and one that stops is gone at once", async () => {
    const db = await openForTest(await temporaryAddress());
    const [one, other] = [(await joined(db)).served, serveAddress(db, Date.now(), silentLog)];
    other.watch({ onForeignCommit() {}, onSettingsChange() {}, onUpgrade() {} }, []);
    await other.begin();
    const both = idsOf(one, other);
    await until(() => one.liveServers.list().length === 2 && other.liveServers.list().length === 2);
    expect([one.liveServers.list(), other.liveServers.list()]).toEqual([both, both]);
    expect([one, other].filter(({ liveServers }) => isFirst(liveServers))).toHaveLength(1);
    await other.end();
    await until(() => one.liveServers.list().length === 1);
    expect(isFirst(one.liveServers)).toBe(true);
  });

  test("hear what another one changed, and of their own change at once", async () => {
    const db = await openForTest(await temporaryAddress());
    const [{ heard, watch }, other] = [await joined(db), await joined(db)];
    await db.transaction(function* () {
      yield* raiseSettingsVersion("ep_1");
      yield* raiseSettingsVersion("ws_1");
    });
    await watch.noticeOwn();
    expect(heard).toMatchObject({ settings: 2, changed: new Set(["ep_1", "ws_1"]) });
    await until(() => other.heard.settings === 2);
    expect(other.heard.changed).toEqual(new Set(["ep_1", "ws_1"]));
    await db.transaction(() => raiseSettingsVersion("ep_2"));
    await until(() => heard.settings === 3);
    // What this server has heard of by itself comes to no second one.
    expect(heard.changed).toEqual(new Set(["ep_2"]));
    await watch.noticeOwn();
    expect(heard.settings).toBe(3);
  });

  test("hear of settings that another one changed, and of heads that moved", async () => {
    const db = await openForTest(await temporaryAddress());
    let moved = 0;
    const head = { sql: "SELECT count(*) FROM untrusted_proxy", onChange: () => void (moved += 1) };
    const { heard } = await joined(db, [head]);
    const before = { ...heard, moved };
    await db.transaction(() => raiseSettingsVersion("rows"));
    await until(() => heard.settings === before.settings + 1);
    expect(moved).toBe(before.moved);
    await db.transaction(() =>
      run(text("INSERT INTO untrusted_proxy (id, address, seen_at) VALUES (1, '192.0.2.1', 1)")),
    );
    await until(() => moved === before.moved + 1);
    expect(heard.settings).toBe(before.settings + 1);
  });

  test("are told once of what comes at once, and once more of what came meanwhile", async () => {
    const address = await temporaryAddress();
    const heard: (string | undefined)[] = [];
    const listener = await connectPlainly(address);
    onTestFinished(() => listener.end());
    listener.on("notification", ({ payload }) => heard.push(payload));
    await listener.query("LISTEN formsvc");
    const teller = createServerNotifier(await openForTest(address), "srv_1", {
      succeeded() {},
      failed() {},
    });
    for (let count = 0; count < 100; count += 1) teller.notify();
    await teller.stop();
    teller.notify();
    await listener.query("NOTIFY formsvc, 'end'");
    await until(() => heard.includes("end"));
    expect(heard).toEqual(["srv_1", "srv_1", "end"]);
  });

  test("trust nothing that they remember while the database is silent, own nothing, and count as not writable", async () => {
    const link = await startLink(await temporaryAddress());
    const { served, watch, heard } = await joined(await openForTest(link.address));
    await until(() => served.writability.isWritable());
    const before = heard.settings;
    link.silence();
    await until(() => watch.blindness() === "unheard");
    expect(served.liveServers.list()).toEqual([]);
    await until(() => !served.writability.isWritable());
    link.resume();
    await until(() => watch.blindness() === null);
    await until(() => served.writability.isWritable());
    expect(served.liveServers.list()).toEqual([served.liveServers.self]);
    expect(heard.settings).toBe(before);
  });

  test("own nothing while the database counts them as lost, whoever else lives", async () => {
    const db = await openForTest(await temporaryAddress());
    const [one, other] = [(await joined(db)).served, (await joined(db)).served];
    await until(() => one.liveServers.list().length === 2);
    const self = one.liveServers.self;
    const lost = `UPDATE live_server SET seen_at = seen_at - 60000 WHERE id = '${self}'`;
    // It says each second that it lives.
    await until(async () => {
      await db.transaction(() => run(text(lost)));
      return one.liveServers.list().length < 2;
    });
    expect(one.liveServers.list()).toEqual([]);
    await until(() => one.liveServers.list().length === 2);
    expect(other.liveServers.list()).toContain(other.liveServers.self);
  });

  test("connect anew when their connections break", async () => {
    const link = await startLink(await temporaryAddress());
    const db = await openForTest(link.address);
    const { heard } = await joined(db);
    const before = heard.settings;
    link.cut();
    await until(() =>
      db
        .transaction(() => raiseSettingsVersion("rows"))
        .then(
          () => true,
          () => false,
        ),
    );
    expect(await until(() => heard.settings > before)).toBe(true);
  });

  test("log once what is refused to them, and again after it worked", async () => {
    const db = await openForTest(await temporaryAddress());
    const lines: Record<string, unknown>[] = [];
    const told = createLog("error", {
      write: (line) => void lines.push(JSON.parse(line) as Record<string, unknown>),
    });
    const metrics = createMetrics(null);
    const refusals = new DatabaseRefusals(told, db.name);
    const served = serveAddress(db, Date.now(), told, refusals);
    onTestFinished(() => served.end());
    served.watch({ onForeignCommit() {}, onSettingsChange() {}, onUpgrade() {} }, []);
    served.measure(metrics);
    await served.begin();
    const refused = () => lines.filter(({ event }) => event === "database.refused");
    const countOf = async (work: string) => {
      const sample = new RegExp(`^formsvc_database_refusals_total\\{work="${work}"\\} (\\d+)$`, "m");
      return Number(sample.exec(await metrics.render())?.[1]);
    };
    const rename = async (from: string, to: string): Promise<void> => {
      await db.withConnection((client) => client.query(`ALTER TABLE ${from} RENAME TO ${to}`));
    };
    expect(await countOf("heartbeat")).toBe(0);
    for (let time = 1; time <= 2; time += 1) {
      await rename("live_server", "gone");
      const before = await countOf("heartbeat");
      await until(async () => (await countOf("heartbeat")) > before + 1);
      await until(async () => (await countOf("pulse")) > 1);
      const reason = expect.stringContaining("a table is missing; doctor names it (42P01)") as string;
      expect(refused().filter(({ work }) => work === "heartbeat")).toEqual(
        Array.from({ length: time }, () => expect.objectContaining({ level: "error", reason }) as object),
      );
      const [last] = await rowsOf<{ seen_at: number }>(db, "SELECT seen_at FROM gone");
      await rename("gone", "live_server");
      const beats = `SELECT 1 FROM live_server WHERE seen_at > ${last?.seen_at}`;
      await until(async () => (await rowsOf(db, beats)).length === 1);
      await until(() => served.liveServers.list().length === 1);
    }
  });

  test("say so once and for good when the tables are no longer theirs", async () => {
    const db = await openForTest(await temporaryAddress());
    const { watch, heard } = await joined(db);
    await db.transaction(() => run(text("UPDATE schema_version SET version = 1000")));
    await db.transaction(() => raiseSettingsVersion("rows"));
    await until(() => heard.settings === 2);
    expect(watch.blindness()).not.toBe("upgraded");
    await db.transaction(() => run(text("UPDATE schema_version SET oldest_program = 1000")));
    await until(() => watch.blindness() === "upgraded");
    await db.transaction(() => raiseSettingsVersion("rows"));
    await until(() => heard.settings === 3);
    expect(heard.upgrades).toBe(1);
    const late = serveAddress(db, Date.now(), silentLog);
    onTestFinished(() => late.end());
    await expect(late.begin()).rejects.toMatchObject({ code: "database_unusable" });
  });
});
