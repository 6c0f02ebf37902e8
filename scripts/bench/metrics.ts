import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { executable, postRequest, processorMs, runLoad, startServer } from "./processes.ts";
import { makeEndpoint } from "./workplace.ts";

/**
 * Measures what metrics cost a post: the processor time of two servers that differ only in this, in interleaved rounds. The metrics are
 * read once in each round.
 * Usage: node scripts/bench/metrics.ts [ROUNDS] [SECONDS]
 */
const CONNECTIONS = 64;
/** The value of `metrics.token`. Without it, the metrics are not on the port that posts go to. */
const TOKEN = "a-token-for-the-benchmark";
const [rounds = 8, seconds = 3] = process.argv.slice(2).map(Number);
const folder = mkdtempSync(join(tmpdir(), "formsvc-bench-"));
const body = JSON.stringify({ name: "Ada Lovelace", email: "ada@example.com", message: "A quote, please." });

try {
  const [without, withMetrics] = [await startMeasured("false"), await startMeasured("true")];
  const costs: { without: number; with: number }[] = [];
  for (let round = 0; round <= rounds; round += 1) {
    const cost = { without: 0, with: 0 };
    // The second server in a round pays for garbage that the first one left, so they take turns.
    if (round % 2 === 0) cost.without = await without.postUs();
    cost.with = await withMetrics.postUs();
    if (round % 2 === 1) cost.without = await without.postUs();
    // The first round is the warm-up.
    if (round > 0) costs.push(cost);
  }
  await without.stop();
  await withMetrics.stop();
  // The cheapest round counts, because other work on the machine can only add time.
  const before = Math.min(...costs.map((cost) => cost.without));
  const after = Math.min(...costs.map((cost) => cost.with));
  process.stdout.write(
    `best of ${rounds} rounds: ${before.toFixed(1)} us a post without metrics, ${after.toFixed(1)} with, ` +
      `${((after / before - 1) * 100).toFixed(1)} % more\n`,
  );
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function startMeasured(enabled: "true" | "false") {
  const db = join(folder, `metrics-${enabled}.db`);
  const run = (...args: string[]) => execFileSync(executable, [...args, "--db", db]).toString();
  const { keys } = makeEndpoint(folder, run);
  const server = await startServer(
    [executable, "serve", "--port", "0", "--db", db],
    join(folder, `serve-${enabled}.log`),
    {
      FORMSVC_RATE_LIMIT_PUBLISHABLE_MAX: "null",
      FORMSVC_PLANS_HOBBY_MONTHLY_SUBMISSIONS: "null",
      FORMSVC_METRICS_ENABLED: enabled,
      FORMSVC_METRICS_TOKEN: TOKEN,
    },
  );
  const request = postRequest(keys.publishable, body);
  return {
    stop: () => server.stop(),
    async postUs() {
      const before = processorMs(server.pid);
      const headers = { authorization: `Bearer ${TOKEN}` };
      const result = await runLoad(server, CONNECTIONS, seconds, request);
      if (enabled === "true")
        await (await fetch(`http://127.0.0.1:${server.port}/metrics`, { headers })).text();
      return ((processorMs(server.pid) - before) * 1000) / result.requests;
    },
  };
}
