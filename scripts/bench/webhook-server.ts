import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { exampleSchema } from "../../test/support/example-schema.ts";
import {
  executable,
  median,
  postRequest,
  measure,
  type Measured,
  processorMs,
  type RunningServer,
  startServer,
} from "./processes.ts";

/**
 * Measures what a webhook costs the built server: posts with one against posts without, in interleaved rounds; the time from the 200 to the
 * receiver while the server is idle; and what an idle server uses.
 * Usage: node scripts/bench/webhook-server.ts [ROUNDS] [SECONDS]
 */
const [rounds = 15, seconds = 2] = process.argv.slice(2).map(Number);
const CONNECTIONS = 64;
const SINGLE_POSTS = 200;
const IDLE_SECONDS = 20;
const MESSAGE =
  "Hello, on Tuesday I left my umbrella in your reading room, the green one with a wooden handle, somewhere near the " +
  "atlases. Could you keep it at the front desk until Friday? My ticket number is on a label inside. Many thanks.";
/** The text of single posts. It differs from the other text, because each post costs more if the workspace remembers its text. */
const SINGLE_MESSAGE =
  "Is the reading room open on the second Sunday in March? I would come with my two children.";

const folder = mkdtempSync(join(tmpdir(), "formsvc-bench-"));
const running: RunningServer[] = [];
const arrivals = new Map<string, number>();
const receiver = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => {
    const at = performance.now();
    response.writeHead(204).end();
    const { submission } = JSON.parse(Buffer.concat(chunks).toString()) as { submission: { id: string } };
    arrivals.set(submission.id, at);
  });
});
await new Promise<void>((resolve) => {
  receiver.listen(0, "127.0.0.1", resolve);
});
const receiverUrl = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;

interface Service extends RunningServer {
  readonly key: string;
  readonly db: string;
}

try {
  const plain = await start("plain");
  const hooked = await start("hooked");
  run("webhook", "create", "--endpoint", "Bench", "--url", receiverUrl, "--allow-private", "--db", hooked.db);
  await sleep(1500);
  const latency = await measureLatency(hooked);
  await sleep(1000);
  const idleBefore = processorMs(hooked.pid);
  await sleep(IDLE_SECONDS * 1000);
  const idleShare = (processorMs(hooked.pid) - idleBefore) / (IDLE_SECONDS * 1000);
  const results = [];
  for (let round = 0; round < rounds; round += 1) {
    results.push(await measureBoth(plain, hooked, round % 2 === 0));
    await drained();
  }
  const lines = [
    ["posts/s without a webhook", Math.round(median(results.map((round) => round.plain.requestsPerSecond)))],
    ["posts/s with one", Math.round(median(results.map((round) => round.hooked.requestsPerSecond)))],
    [
      "with over without, by round",
      share(results.map((round) => round.hooked.requestsPerSecond / round.plain.requestsPerSecond)),
    ],
    [
      "processor time a post, with over without",
      share(results.map((round) => round.hooked.processorUs / round.plain.processorUs)),
    ],
    ["from the 200 to the receiver when idle, p50, ms", latency.toFixed(1)],
    ["processor share of an idle server", `${(idleShare * 100).toFixed(2)} %`],
  ];
  process.stdout.write(
    `| figure (${CONNECTIONS} connections, ${rounds} rounds of ${seconds} s) | value |\n|---|---|\n`,
  );
  for (const [name, value] of lines) process.stdout.write(`| ${name} | ${value} |\n`);
} finally {
  await Promise.all(running.map((service) => service.stop()));
  receiver.closeAllConnections();
  receiver.close();
  rmSync(folder, { recursive: true, force: true });
}

function run(...args: string[]): string {
  return execFileSync(executable, [...args, "--json"], { stdio: ["ignore", "pipe", "ignore"] }).toString();
}

function share(values: readonly number[]): string {
  return median(values).toFixed(2);
}

async function start(name: string): Promise<Service> {
  const db = join(folder, `${name}.db`);
  const schemaFile = join(folder, "schema.json");
  writeFileSync(schemaFile, JSON.stringify(exampleSchema));
  const made = run("endpoint", "create", "--name", "Bench", "--schema", schemaFile, "--db", db);
  const { keys } = JSON.parse(made) as { keys: { publishable: string } };
  const env = {
    FORMSVC_RATE_LIMIT_PUBLISHABLE_MAX: "null",
    FORMSVC_PLANS_HOBBY_MONTHLY_SUBMISSIONS: "null",
  };
  const command = [executable, "serve", "--port", "0", "--db", db];
  const server = await startServer(command, join(folder, `${name}.log`), env);
  running.push(server);
  return { ...server, key: keys.publishable, db };
}

function requestBody(message: string): string {
  return JSON.stringify({ name: "Ada Lovelace", email: "ada@example.com", message });
}

function measurePosts(service: Service): Promise<Measured> {
  return measure(service, CONNECTIONS, seconds, postRequest(service.key, requestBody(MESSAGE)));
}

/** Measures both servers. They take turns to be first, because the second one finds the machine in another state. */
async function measureBoth(plain: Service, hooked: Service, isPlainFirst: boolean) {
  const first = await measurePosts(isPlainFirst ? plain : hooked);
  // The messages of the posts before must not slow down the posts after.
  if (!isPlainFirst) await drained();
  const second = await measurePosts(isPlainFirst ? hooked : plain);
  return isPlainFirst ? { plain: first, hooked: second } : { plain: second, hooked: first };
}

/** Waits until nothing has arrived for a second, because a backlog would count against the next round. */
async function drained(): Promise<void> {
  let seen = -1;
  while (seen !== arrivals.size) {
    seen = arrivals.size;
    await sleep(1000);
  }
}

async function measureLatency(service: Service): Promise<number> {
  const headers = { authorization: `Bearer ${service.key}`, "content-type": "application/json" };
  const waits: number[] = [];
  for (let index = 0; index < SINGLE_POSTS; index += 1) {
    const answer = await fetch(`http://127.0.0.1:${service.port}/submit`, {
      method: "POST",
      headers,
      body: requestBody(SINGLE_MESSAGE),
    });
    const answeredAt = performance.now();
    const { submission_id: id } = (await answer.json()) as { submission_id: string };
    await sleep(30);
    waits.push((arrivals.get(id) ?? Number.POSITIVE_INFINITY) - answeredAt);
  }
  return median(waits);
}
