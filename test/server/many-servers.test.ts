import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { openPostgresql, type PostgresqlDatabase } from "../../src/database/postgresql/open-postgresql.ts";
import { defaultEndpointSettings } from "../../src/endpoints/endpoint.ts";
import { exampleSchema } from "../support/example-schema.ts";
import { startSession } from "../../src/sessions/session.ts";
import { insertAccountRows, getAccount, updatePlanRow } from "../../src/workspaces/workspace-store.ts";
import { rowsOf, write } from "../support/engines.ts";
import { documentedMetrics, ONLY_ON_POSTGRESQL, servedMetrics } from "../support/documented-metrics.ts";
import { openEvents } from "../support/event-stream.ts";
import type { ServerHere } from "../support/machine-database.ts";
import { type ManyServers, startManyHere, startManyServers } from "../support/many-servers.ts";
import type { RunningServer } from "../support/running-server.ts";
import { findPgbouncer, type Pgbouncer, startPgbouncer } from "../support/pgbouncer.ts";
import { examplePost, patiently, postPatiently, tryPost } from "../support/posts.ts";
import { hasPostgresql, addressForFile } from "../support/temporary-postgresql.ts";
import { until } from "../support/until.ts";
import { makeEndpoint } from "../support/terminal.ts";

const OPERATOR = "ada@example.org";
const MONTHLY = 100;
const UNLIMITED = { monthlySubmissions: null, endpoints: null, customSpam: true };
const PLANS = { hobby: UNLIMITED, small: { ...UNLIMITED, monthlySubmissions: MONTHLY } };
const METRICS_TOKEN = "0123456789abcdef";
/** Who post at the same time. */
const SENDERS = 10;
const AT_ONCE = 100;
const RATE = { max: 400, windowSeconds: 3600 };

interface Way {
  readonly way: string;
  readonly isMissing: boolean;
  readonly isPooled: boolean;
  readonly start: typeof startManyServers | typeof startManyHere;
  /** The address that the servers get. */
  readonly reach: (address: string) => Promise<string>;
}

let pooler: Pgbouncer | undefined;
const WAYS: readonly Way[] = [
  {
    way: "reached directly",
    isMissing: !hasPostgresql,
    isPooled: false,
    start: startManyServers,
    reach: (address) => Promise.resolve(address),
  },
  {
    way: "behind PgBouncer, which lends them connections for a transaction at a time",
    isMissing: !hasPostgresql || findPgbouncer() === null,
    isPooled: true,
    start: startManyHere,
    async reach(address) {
      pooler = await startPgbouncer(address);
      return pooler.address;
    },
  },
];

for (const { way, isMissing, isPooled, start, reach } of WAYS)
  describe.skipIf(isMissing)(`two servers on one PostgreSQL database, ${way}`, () => {
    let db: PostgresqlDatabase;
    let many: ManyServers<RunningServer | ServerHere>;
    let urls: readonly [string, string];

    beforeAll(async () => {
      const address = await addressForFile();
      db = await openPostgresql(address);
      // The first account is an operator.
      await db.transaction(() => insertAccountRows(OPERATOR, Date.now()));
      many = await start(await reach(address), 2, {
        plans: PLANS,
        metrics: { enabled: true, token: METRICS_TOKEN },
        rateLimit: { publishable: { max: null }, secret: RATE, badKey: { max: null } },
      });
      urls = [many.servers[0]?.url ?? "", many.servers[1]?.url ?? ""];
    });
    afterAll(async () => {
      await db.close();
      await many.stop();
      await pooler?.stop();
    });

    /** An endpoint in a workspace of its own. */
    async function endpointWith(plan: "hobby" | "small") {
      const now = Date.now();
      const email = `${crypto.randomUUID()}@example.org`;
      const { workspace } = await db.transaction(() => insertAccountRows(email, now));
      await db.transaction(() => updatePlanRow(workspace.id, plan, PLANS));
      const made = { name: "Contact", definition: exampleSchema, settings: defaultEndpointSettings };
      const place = { workspace: workspace.id, plans: PLANS, now };
      const { endpoint, secret, publishable } = await makeEndpoint(db, made, place);
      return {
        id: endpoint.id,
        workspace: workspace.id,
        secret: secret.text,
        publishable: publishable.text,
      };
    }

    const countStored = async (endpointId: string) =>
      rowsOf(
        db,
        `SELECT count(*) AS stored FROM submission JOIN endpoint_number ON number = endpoint_number
        WHERE endpoint_id = '${endpointId}'`,
      );

    test("200 posts at the edge of a monthly limit: those that the limit allows are stored and counted, and no other", async () => {
      const { id, publishable, workspace } = await endpointWith("small");
      const statuses: number[] = [];
      // One after the other from each sender, so that both servers store many batches at the same time.
      const send = async (sender: number): Promise<void> => {
        for (let n = 0; n < (2 * MONTHLY) / SENDERS; n += 1) {
          const data = { ...examplePost, message: `Is number ${sender} or ${n} open?` };
          const url = urls[sender % 2 === 0 ? 0 : 1];
          statuses.push((await patiently(() => tryPost(url, publishable, data))).status);
        }
      };
      await Promise.all(Array.from({ length: SENDERS }, (_, sender) => send(sender)));
      expect(statuses.filter((status) => status === 200)).toHaveLength(MONTHLY);
      expect(statuses.filter((status) => status === 429)).toHaveLength(MONTHLY);
      expect(await countStored(id)).toEqual([{ stored: MONTHLY }]);
      const used = await rowsOf(db, `SELECT used FROM usage WHERE workspace_id = '${workspace}'`);
      expect(used).toEqual([{ used: MONTHLY }]);
    });

    test("one Idempotency-Key to both at once stores one submission, and every answer with an id has the same", async () => {
      const { id, secret } = await endpointWith("hobby");
      const keys = Array.from({ length: 25 }, (_, n) => `order-${n}`);
      const send = async (url: string, key: string) => {
        const answer = await patiently(() => tryPost(url, secret, examplePost, { "idempotency-key": key }));
        const { submission_id: submission } = (await answer.json()) as { submission_id?: string };
        return { status: answer.status, submission };
      };
      for (const key of keys) {
        const answers = await Promise.all([...urls, ...urls].map((url) => send(url, key)));
        const taken = answers.filter(({ status }) => status === 200);
        expect(taken.length).toBeGreaterThan(0);
        expect(new Set(taken.map(({ submission }) => submission)).size).toBe(1);
        expect(answers.filter(({ status }) => status !== 200 && status !== 409)).toEqual([]);
        expect(await send(urls[1], key)).toEqual(taken[0]);
      }
      expect(await countStored(id)).toEqual([{ stored: keys.length }]);
    });

    test.skipIf(isPooled)("a rate limit that one has used up is used up at the other", async () => {
      const { secret } = await endpointWith("hobby");
      const statusOf = async (url: string) => (await patiently(() => tryPost(url, secret))).status;
      // One client has this many connections at most.
      for (let sent = 0; sent < RATE.max; sent += AT_ONCE) {
        const statuses = await Promise.all(Array.from({ length: AT_ONCE }, () => statusOf(urls[0])));
        expect(new Set(statuses)).toEqual(new Set([200]));
      }
      expect(await statusOf(urls[0])).toBe(429);
      let taken = 0;
      await until(async () => {
        const status = await statusOf(urls[1]);
        if (status === 200) taken += 1;
        return status === 429;
      });
      expect(taken).toBeLessThan(RATE.max);
    });

    test("a session is valid at both, and an open page hears of what the other one stored", async () => {
      const { publishable } = await endpointWith("hobby");
      const account = await db.read(() => getAccount(OPERATOR));
      const browser = { userAgent: "Test browser", ipAddress: null };
      const session = await db.transaction(() => startSession(account.id, browser, Date.now()));
      const cookie = `formsvc-session=${session.cookie}`;
      for (const url of urls) {
        const page = await patiently(() =>
          fetch(`${url}/dashboard`, { headers: { cookie }, redirect: "manual" }),
        );
        expect(page.status).toBe(200);
      }
      const stream = await openEvents(`${urls[0]}/dashboard/events`, cookie);
      onTestFinished(() => stream.close());
      await postPatiently(urls[1], publishable);
      expect(await stream.next()).toMatchObject({ name: "new" });
    });

    test.skipIf(isPooled)(
      "each says at its start that no standby has what is acknowledged, and so does a metric",
      async () => {
        for (const { lines } of many.servers)
          expect(lines.map(({ event }) => event)).toContain("database.standby-not-awaited");
        const headers = { authorization: `Bearer ${METRICS_TOKEN}` };
        const expected = ["\nformsvc_database_synchronous_standbys 0\n", "\nformsvc_live_servers 2\n"];
        const metrics = await until(async () => {
          const text = await (await fetch(`${urls[0]}/metrics`, { headers })).text();
          return expected.every((line) => text.includes(line)) ? text : null;
        });
        expect(servedMetrics(metrics)).toEqual(expect.arrayContaining([...ONLY_ON_POSTGRESQL]));
        expect(documentedMetrics()).toEqual(expect.arrayContaining(servedMetrics(metrics)));
      },
    );

    test.skipIf(isPooled)("tail gives what both store, each once", async () => {
      const { id, publishable } = await endpointWith("hobby");
      const first = await postPatiently(urls[0], publishable);
      const args = ["submission", "tail", "--cursor", first, "--follow", "--endpoint", id, "--json"];
      const child = many.machine.start(args);
      let printed = "";
      child.stdout?.setEncoding("utf8").on("data", (text: string) => (printed += text));
      const ids = await Promise.all(
        Array.from({ length: 40 }, (_, n) => postPatiently(urls[n % 2 === 0 ? 0 : 1], publishable)),
      );
      await until(() => ids.every((each) => printed.includes(each)));
      child.kill();
      const told = printed
        .trim()
        .split("\n")
        .map((line) => (JSON.parse(line) as { id: string }).id);
      expect(told.toSorted()).toEqual(ids.toSorted());
    });

    test("a newer schema refuses no post while it allows this program, and every post afterwards", async () => {
      const [{ publishable }, other] = [await endpointWith("hobby"), await endpointWith("hobby")];
      await write(db, "UPDATE schema_version SET version = version + 1");
      // A pulse brings both: who has heard that the key ended has heard of the schema.
      await many.machine.mustRun(["key", "revoke", other.publishable.slice(4, 16)]);
      for (const url of urls) {
        await until(async () => (await tryPost(url, other.publishable)).status === 401);
        await postPatiently(url, publishable);
      }
      await write(db, "UPDATE schema_version SET oldest_program = version");
      for (const url of urls) {
        await until(async () => (await fetch(`${url}/readyz`)).status === 503);
        expect((await tryPost(url, publishable)).status).toBe(503);
      }
    });
  });
