import { fileURLToPath } from "node:url";
import { join } from "node:path";
import { type Figure, renderFigures } from "./figures.ts";
import { LOAD_CORE, measure, median, runLoad, type RunningServer, startServer } from "./processes.ts";
import { ENDPOINT, makeWorkplace, type Workplace } from "./workplace.ts";

/**
 * What conditions cost a post: a webhook with ten of them that all hold against the same webhook without, and ten webhooks that are
 * left out, with ten each, against a form without any. In interleaved rounds, each ratio within one round; processor time of the server.
 * Usage: node scripts/bench/conditions.ts [ROUNDS] [SECONDS] [PROGRAM]
 * PROGRAM is an executable from before, for what a post costs with everything off.
 */
const [rounds = 9, seconds = 2] = process.argv.slice(2, 4).map(Number);
const before = process.argv[4];
const CONNECTIONS = 64;
const WARM_UP_SECONDS = 6;
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

const places: Workplace[] = [];
const servers: RunningServer[] = [];
try {
  process.stdout.write(renderFigures(await comparePosts()));
} finally {
  for (const server of servers) await server.stop();
  for (const place of places) place.remove();
}

async function comparePosts(): Promise<Figure[]> {
  const receiver = await startReceiver();
  const sides = {
    without: await side([[]], receiver),
    met: await side([MET], receiver),
    none: await side([], receiver),
    unmet: await side(
      Array.from({ length: TEN }, () => UNMET),
      receiver,
    ),
    ...(before !== undefined && { before: await side([], receiver, before) }),
  };
  const costs: Record<string, number>[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const cost: Record<string, number> = {};
    const names = Object.entries(sides);
    for (const [name, { place, server }] of round % 2 === 0 ? names : names.toReversed())
      cost[name] = (await measure(server, CONNECTIONS, seconds, place.request)).processorUs;
    costs.push(cost);
  }
  const ratio = (figure: string, one: string, other: string, atMost: number): Figure => {
    const value = median(costs.map((cost) => (cost[one] ?? 0) / (cost[other] ?? 0)));
    return { figure: `processor time of a post, ${figure}`, value, unit: "", bound: { atMost } };
  };
  return [
    ratio("10 conditions of a webhook that hold, over the webhook without", "met", "without", 1.05),
    ratio("10 webhooks left out by the last of 10 conditions, over no webhook", "unmet", "none", 1.05),
    ...(before === undefined
      ? []
      : [ratio("nothing switched on, over the program before", "none", "before", 1.02)]),
    {
      figure: "processor time of a post without any webhook",
      value: median(costs.map(({ none = 0 }) => none)),
      unit: "µs",
      bound: null,
    },
  ];
}

/** A form with a webhook for each of these conditions, and its server, warm. */
async function side(webhooks: readonly string[][], receiver: RunningServer, program?: string) {
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
  const server = await place.serve();
  servers.push(server);
  await runLoad(server, CONNECTIONS, WARM_UP_SECONDS, place.request);
  return { place, server };
}

async function startReceiver(): Promise<RunningServer> {
  const script = fileURLToPath(new URL("webhook-receiver.ts", import.meta.url));
  const folder = makeWorkplace();
  places.push(folder);
  const receiver = await startServer(
    [process.execPath, script],
    join(folder.folder, "receiver.log"),
    {},
    LOAD_CORE,
  );
  servers.push(receiver);
  return receiver;
}
