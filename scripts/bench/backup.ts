import { randomBytes } from "node:crypto";
import { execFile, execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import SqliteDatabase from "better-sqlite3";
import { executable, postRequest, runLoad, startServer } from "./processes.ts";
import { makeEndpoint } from "./workplace.ts";
import { submissionAdder } from "../../test/support/add-submission.ts";

/**
 * Measures how many posts a server accepts while `formsvc backup` copies and checks its database, and how many it accepts just before.
 * Usage: node scripts/bench/backup.ts [MEGABYTES]
 */
const CONNECTIONS = 64;
/** The time under load before the first count. */
const WARM_UP_MS = 3000;
const NORMAL_MS = 6000;
/** The length of the load, which ends by itself. It is longer than any backup of the default size. */
const LOAD_SECONDS = 60;
const ROW_BYTES = 1000;
/** The value of `metrics.token`. Without it, the metrics are not on the port that posts go to. */
const TOKEN = "a-token-for-the-benchmark";
const [megabytes = 300] = process.argv.slice(2).map(Number);
const folder = mkdtempSync(join(tmpdir(), "formsvc-bench-"));
const db = join(folder, "formsvc.db");

try {
  const key = prepare();
  const server = await startServer(
    [executable, "serve", "--port", "0", "--db", db],
    join(folder, "serve.log"),
    {
      FORMSVC_RATE_LIMIT_PUBLISHABLE_MAX: "null",
      FORMSVC_PLANS_HOBBY_MONTHLY_SUBMISSIONS: "null",
      FORMSVC_METRICS_ENABLED: "true",
      FORMSVC_METRICS_TOKEN: TOKEN,
    },
  );
  const body = JSON.stringify({
    name: "Ada Lovelace",
    email: "ada@example.com",
    message: "A quote, please.",
  });
  let isLoaded = true;
  const load = runLoad(server, CONNECTIONS, LOAD_SECONDS, postRequest(key, body)).finally(() => {
    isLoaded = false;
  });
  await sleep(WARM_UP_MS);
  const rate = await countWhile(server.port, () => sleep(NORMAL_MS));
  const during = await countWhile(server.port, () =>
    promisify(execFile)(executable, ["backup", join(folder, "copy.db"), "--db", db, "--quiet"]),
  );
  if (!isLoaded) throw new Error("the backup outlived the load; give fewer megabytes");
  process.stdout.write(
    `${Math.round(statSync(db).size / 1e6)} MB: ${rate.perSecond} posts/s, ${during.perSecond} during a backup ` +
      `of ${during.seconds.toFixed(1)} s (${(during.perSecond / rate.perSecond).toFixed(2)})\n`,
  );
  await load;
  await server.stop();
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** Makes a database of about this size, and returns a key of its endpoint. */
function prepare(): string {
  const run = (...args: string[]) => execFileSync(executable, [...args, "--db", db]).toString();
  const { endpoint, keys } = makeEndpoint(folder, run);
  const connection = new SqliteDatabase(db);
  const insert = submissionAdder(connection);
  connection.transaction(() => {
    for (let index = Math.round((megabytes * 1e6) / ROW_BYTES); index > 0; index -= 1) {
      const data = { message: randomBytes(400).toString("hex") };
      insert({ endpointId: endpoint.id, data, ipAddress: "192.0.2.1", createdAt: index });
    }
  })();
  connection.pragma("wal_checkpoint(TRUNCATE)");
  connection.close();
  return keys.publishable;
}

/** Counts the posts that the server accepts during the work. */
async function countWhile(
  port: number,
  work: () => Promise<unknown>,
): Promise<{ readonly perSecond: number; readonly seconds: number }> {
  const [before, startedAt] = [await accepted(port), performance.now()];
  await work();
  const seconds = (performance.now() - startedAt) / 1000;
  return { perSecond: Math.round(((await accepted(port)) - before) / seconds), seconds };
}

async function accepted(port: number): Promise<number> {
  const headers = { authorization: `Bearer ${TOKEN}` };
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`, { headers })).text();
  return Number(/^formsvc_posts_total\{outcome="accepted"\} (\d+)$/m.exec(text)?.[1]);
}
