import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { exampleSchema } from "../../src/schemas/example-schema.ts";
import type { LoadResult } from "./load.ts";
import {
  executable,
  LOAD_CORE,
  median,
  postRequest,
  processorMs,
  residentMb,
  runLoad,
  type RunningServer,
  startServer,
} from "./processes.ts";

/**
 * Durable posts a second against a bare Fastify echo of the same body, in interleaved rounds, servers on one core and
 * the generator on another. Usage: node scripts/bench/submit.ts [ROUNDS] [SECONDS] [WEBHOOKS]
 * WEBHOOKS (0) is how many webhooks the endpoint has, all to a receiver that answers at once.
 */
const CONNECTIONS = 64;
const [rounds = 5, seconds = 4, webhooks = 0] = process.argv.slice(2).map(Number);

const folder = mkdtempSync(join(tmpdir(), "formsvc-bench-"));
const db = join(folder, "bench.db");
const env = {
  FORMSVC_RATE_LIMIT_PUBLISHABLE_MAX: "null",
  FORMSVC_PLANS_HOBBY_MONTHLY_SUBMISSIONS: "null",
};
const body = JSON.stringify({
  name: "Ada Lovelace",
  email: "ada@example.com",
  message:
    "Good morning, my daughter lost her red scarf at your swimming pool yesterday afternoon, most likely in the changing " +
    "room for women. Has anybody handed it in? We can come by on Saturday to pick it up. Her initials are in the seam.",
});

try {
  const schemaFile = join(folder, "schema.json");
  writeFileSync(schemaFile, JSON.stringify(exampleSchema));
  const made = execFileSync(executable, [
    "endpoint",
    "create",
    "--name",
    "Bench",
    "--schema",
    schemaFile,
    "--db",
    db,
    "--json",
    "--quiet",
  ]);
  const { keys } = JSON.parse(made.toString()) as { keys: { publishable: string } };
  const request = postRequest(keys.publishable, body);
  const receiver = await startServer(
    [process.execPath, fileURLToPath(new URL("webhook-receiver.ts", import.meta.url))],
    join(folder, "receiver.log"),
    {},
    LOAD_CORE,
  );
  for (let index = 0; index < webhooks; index += 1) {
    const url = `http://127.0.0.1:${receiver.port}/${index}`;
    const create = ["webhook", "create", "--endpoint", "Bench", "--url", url, "--allow-private"];
    execFileSync(executable, [...create, "--db", db, "--json"]);
  }
  const service = await startServer(
    [executable, "serve", "--port", "0", "--db", db],
    join(folder, "serve.log"),
    env,
  );
  const echo = await startServer(
    [process.execPath, fileURLToPath(new URL("echo-server.ts", import.meta.url))],
    join(folder, "echo.log"),
    {},
  );
  const restMb = residentMb(service.pid);
  await runLoad(service.port, CONNECTIONS, 2, request);
  await runLoad(echo.port, CONNECTIONS, 2, request);
  const results: { posts: Measured; echoes: Measured }[] = [];
  for (let round = 0; round < rounds; round += 1) {
    results.push({ posts: await measure(service, request), echoes: await measure(echo, request) });
  }
  const loadedMb = residentMb(service.pid);
  await service.stop();
  await echo.stop();
  await receiver.stop();
  report(results, restMb, loadedMb);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

interface Measured extends LoadResult {
  /** Processor time of the server a request, in microseconds: steadier than the rate on a machine with other work. */
  readonly processorUs: number;
}

async function measure(server: RunningServer, request: string): Promise<Measured> {
  const before = processorMs(server.pid);
  const result = await runLoad(server.port, CONNECTIONS, seconds, request);
  return { ...result, processorUs: ((processorMs(server.pid) - before) * 1000) / result.requests };
}

function report(
  results: readonly { posts: Measured; echoes: Measured }[],
  restMb: number,
  loadedMb: number,
): void {
  const pick = (read: (round: { posts: Measured; echoes: Measured }) => number): number =>
    median(results.map(read));
  const rows = [
    ["durable posts/s", pick(({ posts }) => posts.requestsPerSecond)],
    ["bare echo/s", pick(({ echoes }) => echoes.requestsPerSecond)],
    [
      "posts over echo, by round",
      pick(({ posts, echoes }) => posts.requestsPerSecond / echoes.requestsPerSecond).toFixed(2),
    ],
    ["p50 of a post, ms", pick(({ posts }) => posts.p50Ms)],
    ["p99 of a post, ms", pick(({ posts }) => posts.p99Ms)],
    ["p99 over echo's p99", pick(({ posts, echoes }) => posts.p99Ms / echoes.p99Ms).toFixed(2)],
    ["processor time a post, microseconds", pick(({ posts }) => posts.processorUs).toFixed(1)],
    [
      "processor time of an echo over a post's",
      pick(({ posts, echoes }) => echoes.processorUs / posts.processorUs).toFixed(2),
    ],
    ["resident memory at rest, MB", restMb],
    ["resident memory after the load, MB", loadedMb],
  ];
  process.stdout.write(
    `| figure (${CONNECTIONS} connections, ${results.length} rounds of ${seconds} s, median) | value |\n|---|---|\n`,
  );
  for (const [name, value] of rows) process.stdout.write(`| ${name} | ${value} |\n`);
  process.stdout.write(`statuses: ${JSON.stringify(results.map(({ posts }) => posts.statuses))}\n`);
}
