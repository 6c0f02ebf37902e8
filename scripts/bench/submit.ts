import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Figure, renderFigures } from "./figures.ts";
import {
  LOAD_CORE,
  measure,
  type Measured,
  median,
  residentMb,
  runLoad,
  type RunningServer,
  startServer,
} from "./processes.ts";
import { ENDPOINT, makeWorkplace, type Workplace } from "./workplace.ts";

/**
 * Compares durable posts a second with a bare Fastify echo of the same body, and with an echo that also stores the body, in interleaved
 * rounds. The servers are on one core, and the load generator is on another.
 * Usage: node scripts/bench/submit.ts [ROUNDS] [SECONDS] [WEBHOOKS]. WEBHOOKS is the number of the endpoint's webhooks, 0 by default, all
 * to a receiver that answers at once.
 */
const CONNECTIONS = 64;
/** The time until the engine has compiled what a post needs. An echo needs less. */
const WARM_UP_SECONDS = 8;

if (import.meta.main) {
  const [rounds = 5, seconds = 4, webhooks = 0] = process.argv.slice(2).map(Number);
  process.stdout.write(renderFigures(await comparePosts(rounds, seconds, webhooks)));
}

export async function comparePosts(rounds: number, seconds: number, webhooks = 0): Promise<Figure[]> {
  const place = makeWorkplace();
  try {
    const receiver = await addWebhooks(place, webhooks);
    const service = await place.serve();
    const echo = await startScript(place, "echo-server.ts");
    const floor = await startScript(place, "floor-server.ts", join(place.folder, "floor.db"));
    const restMb = residentMb(service.pid);
    for (const { port } of [service, echo, floor]) {
      await runLoad({ port }, CONNECTIONS, WARM_UP_SECONDS, place.request);
    }
    const results: Round[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const posts = await measure(service, CONNECTIONS, seconds, place.request);
      const echoes = await measure(echo, CONNECTIONS, seconds, place.request);
      results.push({ posts, echoes, rows: await measure(floor, CONNECTIONS, seconds, place.request) });
    }
    const loadedMb = residentMb(service.pid);
    for (const server of [service, echo, floor, receiver]) await server.stop();
    return describe(results, restMb, loadedMb);
  } finally {
    place.remove();
  }
}

/** Starts a script of this folder on the core of the servers. */
function startScript({ folder }: Workplace, script: string, ...args: string[]): Promise<RunningServer> {
  const path = fileURLToPath(new URL(script, import.meta.url));
  return startServer([process.execPath, path, ...args], join(folder, `${script}.log`), {});
}

async function addWebhooks({ folder, run }: Workplace, count: number): Promise<RunningServer> {
  const receiver = await startServer(
    [process.execPath, fileURLToPath(new URL("webhook-receiver.ts", import.meta.url))],
    join(folder, "receiver.log"),
    {},
    LOAD_CORE,
  );
  for (let index = 0; index < count; index += 1) {
    const url = `http://127.0.0.1:${receiver.port}/${index}`;
    run("webhook", "create", "--endpoint", ENDPOINT, "--url", url, "--allow-private", "--json");
  }
  return receiver;
}

interface Round {
  readonly posts: Measured;
  readonly echoes: Measured;
  /** The results of the echo that stores the body. */
  readonly rows: Measured;
}

function describe(results: readonly Round[], restMb: number, loadedMb: number): Figure[] {
  const pick = (read: (round: Round) => number): number => median(results.map(read));
  const told = (figure: string, value: number, unit: string): Figure => ({
    figure,
    value,
    unit,
    bound: null,
  });
  return [
    {
      figure: `durable posts/s over a bare echo, ${CONNECTIONS} connections`,
      value: pick(({ posts, echoes }) => posts.requestsPerSecond / echoes.requestsPerSecond),
      unit: "",
      bound: { atLeast: 0.6 },
    },
    {
      figure: "p99 of a post over an echo's",
      value: pick(({ posts, echoes }) => posts.p99Ms / echoes.p99Ms),
      unit: "",
      bound: { atMost: 2 },
    },
    told(
      "the same for an echo that stores its body and does nothing else",
      pick(({ rows, echoes }) => rows.requestsPerSecond / echoes.requestsPerSecond),
      "",
    ),
    told(
      "its p99 over an echo's",
      pick(({ rows, echoes }) => rows.p99Ms / echoes.p99Ms),
      "",
    ),
    told(
      "durable posts/s",
      pick(({ posts }) => posts.requestsPerSecond),
      "",
    ),
    told(
      "bare echoes/s",
      pick(({ echoes }) => echoes.requestsPerSecond),
      "",
    ),
    told(
      "p50 of a post",
      pick(({ posts }) => posts.p50Ms),
      "ms",
    ),
    told(
      "p99 of a post",
      pick(({ posts }) => posts.p99Ms),
      "ms",
    ),
    told(
      "processor time of a post",
      pick(({ posts }) => posts.processorUs),
      "µs",
    ),
    told(
      "processor time of an echo",
      pick(({ echoes }) => echoes.processorUs),
      "µs",
    ),
    told(
      "processor time of an echo that stores",
      pick(({ rows }) => rows.processorUs),
      "µs",
    ),
    { figure: "memory at rest", value: restMb, unit: "MB", bound: { atMost: 100 } },
    { figure: "memory after that load", value: loadedMb, unit: "MB", bound: { atMost: 220 } },
  ];
}
