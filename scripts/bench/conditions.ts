import { fileURLToPath } from "node:url";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Figure, renderFigures } from "./figures.ts";
import {
  LOAD_CORE,
  measure,
  median,
  residentMb,
  runLoad,
  type RunningServer,
  startServer,
} from "./processes.ts";
import { ENDPOINT, makeWorkplace, type Workplace } from "./workplace.ts";

/**
 * What conditions cost a post: a webhook with ten of them that all hold against the same webhook without, and webhooks that are left
 * out against a form without any. Processor time of the server. A process has a level of its own, so each round
 * starts every server anew, and medians over the rounds are compared.
 * Usage: node scripts/bench/conditions.ts [ROUNDS] [SECONDS] [PROGRAM]
 * PROGRAM is an executable from before, for what a post, a start and a server at rest cost with everything off.
 */
const [rounds = 9, seconds = 3] = process.argv.slice(2, 4).map(Number);
const before = process.argv[4];
const CONNECTIONS = 64;
const WARM_UP_SECONDS = 4;
const REST_MS = 2000;
const TEN = 10;

/** Of the fields of a plain contact form: all of them hold. */
const MET = [
  "name",
  "email",
  "message",
  "name=ada lovelace",
  "name!=Grace",
  "email~@EXAMPLE.",
  "email!=grace@example.com",
  "message~scarf",
  "message~changing room",
  "message!=Hello",
];
/** The last is the one that does not hold. */
const UNMET = [...MET.slice(1), "message~purchase order"];

/** What a server cost in one round. */
interface Costs {
  readonly startMs: number;
  readonly restMb: number;
  readonly postUs: number;
}

const places: Workplace[] = [];
const receiver = await startReceiver();
try {
  process.stdout.write(renderFigures(await compareSides()));
} finally {
  await receiver.stop();
  for (const place of places) place.remove();
}

async function compareSides(): Promise<Figure[]> {
  const sides = {
    without: makeSide([[]]),
    met: makeSide([MET]),
    none: makeSide([]),
    unmet: makeSide([UNMET]),
    manyUnmet: makeSide(Array.from({ length: TEN }, () => UNMET)),
    ...(before !== undefined && { before: makeSide([], before) }),
  };
  const costs: Record<string, Costs[]> = {};
  for (let round = 0; round < rounds; round += 1) {
    const names = Object.entries(sides);
    for (const [name, place] of round % 2 === 0 ? names : names.toReversed())
      (costs[name] ??= []).push(await measureOnce(place));
  }
  const of = (side: string, cost: keyof Costs): number =>
    median((costs[side] ?? []).map((each) => each[cost]));
  const ratio = (
    figure: string,
    cost: keyof Costs,
    over: readonly [string, string],
    atMost: number,
  ): Figure => {
    const value = of(over[0], cost) / of(over[1], cost);
    return { figure, value, unit: "", bound: { atMost } };
  };
  const post = "processor time of a post, ";
  return [
    ratio(
      `${post}10 conditions of a webhook that hold, over the webhook without`,
      "postUs",
      ["met", "without"],
      1.05,
    ),
    ratio(
      `${post}a webhook left out by the last of 10 conditions, over no webhook`,
      "postUs",
      ["unmet", "none"],
      1.05,
    ),
    ...(before === undefined
      ? []
      : [
          ratio(`${post}nothing switched on, over the program before`, "postUs", ["none", "before"], 1.02),
          ratio("start of the server, over the program before", "startMs", ["none", "before"], 1.02),
          ratio("memory of a server at rest, over the program before", "restMb", ["none", "before"], 1.02),
        ]),
    {
      figure: `${post}10 webhooks left out by the last of 10 conditions each, over no webhook`,
      value: of("manyUnmet", "postUs") / of("none", "postUs"),
      unit: "",
      bound: null,
    },
    { figure: `${post}no webhook`, value: of("none", "postUs"), unit: "µs", bound: null },
    { figure: "start of the server", value: of("none", "startMs"), unit: "ms", bound: null },
    { figure: "memory of a server at rest", value: of("none", "restMb"), unit: "MB", bound: null },
  ];
}

/** A form with a webhook for each of these conditions. */
function makeSide(webhooks: readonly string[][], program?: string): Workplace {
  const place = makeWorkplace(null, program);
  places.push(place);
  for (const [index, conditions] of webhooks.entries()) {
    const url = `http://127.0.0.1:${receiver.port}/${index}`;
    const when = conditions.flatMap((each) => ["--when", each]);
    place.run(
      "webhook",
      "create",
      "--endpoint",
      ENDPOINT,
      "--url",
      url,
      "--allow-private",
      ...when,
      "--json",
    );
  }
  return place;
}

async function measureOnce(place: Workplace): Promise<Costs> {
  place.renewProgram();
  place.run("version");
  const startedAt = performance.now();
  const server = await place.serve();
  const startMs = performance.now() - startedAt;
  try {
    await sleep(REST_MS);
    const restMb = residentMb(server.pid);
    await runLoad(server, CONNECTIONS, WARM_UP_SECONDS, place.request);
    const { processorUs } = await measure(server, CONNECTIONS, seconds, place.request);
    return { startMs, restMb, postUs: processorUs };
  } finally {
    await server.stop();
  }
}

async function startReceiver(): Promise<RunningServer> {
  const script = fileURLToPath(new URL("webhook-receiver.ts", import.meta.url));
  const folder = makeWorkplace();
  places.push(folder);
  return await startServer([process.execPath, script], join(folder.folder, "receiver.log"), {}, LOAD_CORE);
}
