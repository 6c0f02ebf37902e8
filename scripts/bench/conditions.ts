import { setTimeout as sleep } from "node:timers/promises";
import { type Figure, renderFigures } from "./figures.ts";
import { measure, median, residentMb, runLoad, type RunningServer } from "./processes.ts";
import { makeSide, MET, startReceiver, UNMET } from "./webhook-conditions.ts";
import type { Workplace } from "./workplace.ts";

/**
 * Measures what conditions cost a post: a webhook with ten conditions that all hold against the same webhook without conditions, and
 * webhooks that are left out against a form without webhooks. It measures the processor time of the server. A shared machine changes its
 * speed by half within seconds, and each process has its own level. Therefore both servers of a ratio run at the same time and take turns,
 * each round starts both anew from fresh copies, and the ratio is the median of neighbouring turns.
 * Usage: node scripts/bench/conditions.ts [ROUNDS] [SPELLS] [PROGRAM]
 * PROGRAM is an older executable, to compare a post, a start and an idle server with everything switched off.
 */
const [rounds = 9, spells = 6] = process.argv.slice(2, 4).map(Number);
const before = process.argv[4];
const CONNECTIONS = 64;
const WARM_UP_SECONDS = 3;
const SPELL_SECONDS = 1;
const REST_MS = 1500;
/** The number of starts of each side that are measured in a round, before the posts. */
const STARTS = 3;
const TEN = 10;

/** The costs of two servers. The two values of a pair were measured one right after the other. */
interface Pairs {
  readonly startMs: Pair[];
  readonly restMb: Pair[];
  readonly postUs: Pair[];
}

type Pair = readonly [one: number, other: number];

const places: Workplace[] = [];
const receiver = await startReceiver();
try {
  process.stdout.write(renderFigures(await compareSides()));
} finally {
  await receiver.remove();
  for (const place of places) place.remove();
}

async function compareSides(): Promise<Figure[]> {
  const none = side([]);
  const met = await comparePair(side([MET]), side([[]]));
  const unmet = await comparePair(side([UNMET]), none);
  const many = await comparePair(side(Array.from({ length: TEN }, () => UNMET)), none);
  const post = "processor time of a post, ";
  const leftOut = "left out by the last of 10 conditions";
  return [
    {
      figure: `${post}10 conditions of a webhook that hold, over the webhook without`,
      value: ratioOf(met.postUs),
      unit: "",
      bound: { atMost: 1.05 },
    },
    {
      figure: `${post}a webhook ${leftOut}, over no webhook`,
      value: ratioOf(unmet.postUs),
      unit: "",
      bound: { atMost: 1.05 },
    },
    {
      figure: `${post}10 webhooks ${leftOut} each, over no webhook`,
      value: ratioOf(many.postUs),
      unit: "",
      bound: null,
    },
    ...(before === undefined ? [] : overBefore(await comparePair(none, side([], before)))),
  ];
}

function overBefore(pairs: Pairs): Figure[] {
  const figures: readonly (readonly [figure: string, pairs: readonly Pair[], unit: string])[] = [
    ["processor time of a post, nothing switched on", pairs.postUs, "µs"],
    ["start of the server", pairs.startMs, "ms"],
    ["memory of a server at rest", pairs.restMb, "MB"],
  ];
  return figures.flatMap(([figure, of, unit]) => [
    { figure: `${figure}, over the program before`, value: ratioOf(of), unit: "", bound: { atMost: 1.02 } },
    { figure, value: median(of.map(([one]) => one)), unit, bound: null },
  ]);
}

function ratioOf(pairs: readonly Pair[]): number {
  return median(pairs.map(([one, other]) => one / other));
}

function side(webhooks: readonly string[][], program?: string): Workplace {
  const place = makeSide(receiver, webhooks, program);
  places.push(place);
  return place;
}

async function comparePair(one: Workplace, other: Workplace): Promise<Pairs> {
  const pairs: Pairs = { startMs: [], restMb: [], postUs: [] };
  for (let round = 0; round < rounds; round += 1) {
    for (const place of [one, other]) place.renewProgram();
    for (let start = 0; start < STARTS; start += 1)
      pairs.startMs.push(await inTurn(start, (index) => timeStart(index === 0 ? one : other)));
    const servers = [await one.serve(), await other.serve()] as const;
    try {
      await sleep(REST_MS);
      pairs.restMb.push([residentMb(servers[0].pid), residentMb(servers[1].pid)]);
      const requests = [one.request, other.request] as const;
      for (const side of [0, 1] as const)
        await runLoad(servers[side], CONNECTIONS, WARM_UP_SECONDS, requests[side]);
      for (let spell = 0; spell < spells; spell += 1)
        pairs.postUs.push(await inTurn(spell, (side) => costOfPost(servers[side], requests[side])));
    } finally {
      for (const server of servers) await server.stop();
    }
  }
  return pairs;
}

/** Measures both sides. Every other time it begins with the second one. */
async function inTurn(count: number, measureSide: (side: 0 | 1) => Promise<number>): Promise<Pair> {
  const [first, second] = count % 2 === 0 ? ([0, 1] as const) : ([1, 0] as const);
  const values: [number, number] = [0, 0];
  values[first] = await measureSide(first);
  values[second] = await measureSide(second);
  return values;
}

async function timeStart(place: Workplace): Promise<number> {
  const startedAt = performance.now();
  const server = await place.serve();
  const startMs = performance.now() - startedAt;
  await server.stop();
  return startMs;
}

async function costOfPost(server: RunningServer, request: string): Promise<number> {
  return (await measure(server, CONNECTIONS, SPELL_SECONDS, request)).processorUs;
}
