import { describe, expect, onTestFinished, test } from "vitest";
import { openPostgresql } from "../../../src/database/postgresql/open-postgresql.ts";
import { first, text } from "../../../src/database/steps.ts";
import { EVERY_SUBMISSION } from "../../../src/submissions/stored/submission-store.ts";
import { browseSubmissions } from "../../../src/submissions/find/browse-submissions.ts";
import { readSlices } from "../../../src/submissions/export/export-fields.ts";
import { findPgbouncer, startPgbouncer } from "../../support/pgbouncer.ts";
import { connectPlainly } from "../../support/postgresql-cluster.ts";
import { hasPostgresql, temporaryAddress } from "../../support/temporary-postgresql.ts";
import { until } from "../../support/until.ts";

const REASON = new Error("the client has gone");
/** No statement ends by itself, because a command waits for any answer. */
const OPTIONS = { connections: 3, patienceMs: 10_000 };

const WAYS = [
  {
    way: "reached directly",
    isMissing: !hasPostgresql,
    reach: (address: string) => Promise.resolve(address),
  },
  {
    way: "behind PgBouncer",
    isMissing: !hasPostgresql || findPgbouncer() === null,
    async reach(address: string) {
      const pooler = await startPgbouncer(address);
      onTestFinished(() => pooler.stop());
      return pooler.address;
    },
  },
];

/** A database, and a connection that sees what runs there. */
async function world(reach: (address: string) => Promise<string>) {
  const address = await temporaryAddress();
  // One that looks sees the same throughout a transaction.
  const watcher = await connectPlainly(address);
  onTestFinished(() => watcher.end());
  const db = await openPostgresql(await reach(address), OPTIONS);
  onTestFinished(() => db.close());
  const isRunning = async (part: string): Promise<boolean> => {
    const sql = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
      AND state = 'active' AND strpos(query, $1) > 0`;
    return (await watcher.query(sql, [part])).rows.length > 0;
  };
  return { address, db, isRunning };
}

const sleeping = (seconds: number) => () =>
  first(text<{ one: number }>(`SELECT 1 AS one, pg_sleep(${seconds})`));

for (const { way, isMissing, reach } of WAYS)
  describe.skipIf(isMissing)(`a database ${way}`, () => {
    test("cancels the statement that runs when its client goes, and the connection serves the next one", async () => {
      const { db, isRunning } = await world(reach);
      const gone = new AbortController();
      const read = db.read(sleeping(3600), gone.signal);
      await until(() => isRunning("pg_sleep(3600)"));
      gone.abort(REASON);
      await expect(read).rejects.toBe(REASON);
      expect(await isRunning("pg_sleep(3600)")).toBe(false);
      expect(await db.read(sleeping(0))).toMatchObject({ one: 1 });
    });

    test("a search and an export end while PostgreSQL still works for them", async () => {
      const { address, db, isRunning } = await world(reach);
      const beside = await connectPlainly(address);
      onTestFinished(() => beside.end());
      const filter = { ...EVERY_SUBMISSION, text: "lamp" };
      // Nobody else can read the submissions, so each statement about them goes on.
      await beside.query("BEGIN; LOCK TABLE submission IN ACCESS EXCLUSIVE MODE");
      const search = new AbortController();
      const page = { limit: 50, cursor: null, maxBytes: Infinity, gone: search.signal };
      const searched = browseSubmissions(db, filter, page);
      await until(() => isRunning("FROM submission"));
      search.abort(REASON);
      await expect(searched).rejects.toBe(REASON);
      const download = new AbortController();
      const exported = readSlices(db, { filter, cursor: null, gone: download.signal }).next();
      await until(() => isRunning("FROM submission"));
      download.abort(REASON);
      await expect(exported).rejects.toBe(REASON);
      expect(await isRunning("FROM submission")).toBe(false);
    });

    test("never cancels what another one waits for, at whatever moment a client goes", async () => {
      const { db } = await world(reach);
      const others = { isOver: false, count: 0 };
      const readOn = async (): Promise<void> => {
        while (!others.isOver) {
          expect(await db.read(sleeping(0.002))).toMatchObject({ one: 1 });
          others.count += 1;
        }
      };
      // More than there are connections: each one that is given back serves another read at once.
      const reading = Promise.all([readOn(), readOn(), readOn(), readOn()]);
      for (let round = 0; round < 150; round += 1) {
        const gone = new AbortController();
        const read = db.read(sleeping(0.003), gone.signal).catch((error: unknown) => error);
        const leaves = setTimeout(() => gone.abort(REASON), round % 10);
        expect([REASON, { one: 1, pg_sleep: "" }]).toContainEqual(await read);
        clearTimeout(leaves);
      }
      others.isOver = true;
      await reading;
      expect(others.count).toBeGreaterThan(0);
    });

    test("a client that has gone before its turn costs no statement", async () => {
      const { db } = await world(reach);
      await expect(db.read(sleeping(3600), AbortSignal.abort(REASON))).rejects.toBe(REASON);
    });
  });
