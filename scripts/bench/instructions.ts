import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Figure, renderFigures } from "./figures.ts";
import { runLoad, type RunningServer } from "./processes.ts";
import { makeSide, MET, startReceiver, UNMET } from "./webhook-conditions.ts";
import type { Workplace } from "./workplace.ts";

/**
 * Counts under QEMU how many instructions of the program a post takes. Other work on the machine changes times by half, but these counts by
 * only a few percent. They do not include the kernel's part of a post, or cache misses.
 * Needs gcc and qemu-x86_64, version 7.2 or later. Takes about 2 minutes for each server.
 * Usage: node scripts/bench/instructions.ts [PROGRAM]; PROGRAM is an older executable to compare with.
 */
const before = process.argv[2];
const CONNECTIONS = 64;
/**
 * The number of posts until nearly everything is compiled. It is not a time, because the number of posts a second depends on the machine.
 */
const WARM_UP_POSTS = 30_000;
/** One cycle in which the engine collects its old garbage takes about 10,000 posts, so several are counted. */
const COUNTED_POSTS = 40_000;
const SPELL_SECONDS = 5;

const folder = mkdtempSync(join(tmpdir(), "formsvc-instructions-"));
const countFile = join(folder, "count");
const places: Workplace[] = [];
const receiver = await startReceiver();
try {
  process.stdout.write(renderFigures(await countAll(buildPlugin())));
} finally {
  await receiver.remove();
  for (const place of places) place.remove();
  rmSync(folder, { recursive: true });
}

async function countAll(plugin: string): Promise<Figure[]> {
  const none = await countOfPost(plugin, []);
  const webhook = await countOfPost(plugin, [[]]);
  const met = await countOfPost(plugin, [MET]);
  const unmet = await countOfPost(plugin, [UNMET]);
  const of = "instructions of a post, ";
  return [
    { figure: `${of}nothing switched on`, value: none, unit: "", bound: null },
    ...(before === undefined
      ? []
      : [
          {
            figure: `${of}nothing switched on, over the program before`,
            value: none / (await countOfPost(plugin, [], before)),
            unit: "",
            bound: { atMost: 1.02 },
          },
        ]),
    {
      figure: `${of}10 conditions of a webhook that hold, over the webhook without`,
      value: met / webhook,
      unit: "",
      bound: { atMost: 1.05 },
    },
    {
      figure: `${of}a webhook left out by the last of 10 conditions, over no webhook`,
      value: unmet / none,
      unit: "",
      bound: { atMost: 1.05 },
    },
  ];
}

async function countOfPost(plugin: string, webhooks: readonly string[][], program?: string): Promise<number> {
  const place = makeSide(receiver, webhooks, program);
  places.push(place);
  const server = await place.serve("0", ["env", `COUNT_FILE=${countFile}`, "qemu-x86_64", "-plugin", plugin]);
  try {
    await post(server, place.request, WARM_UP_POSTS);
    const counted = readCount();
    const posts = await post(server, place.request, COUNTED_POSTS);
    return (readCount() - counted) / posts;
  } finally {
    await server.stop();
  }
}

/** Posts until enough posts are stored. @returns the number of stored posts, at least `wanted` */
async function post(server: RunningServer, request: string, wanted: number): Promise<number> {
  let stored = 0;
  while (stored < wanted) {
    const { requests, statuses } = await runLoad(server, CONNECTIONS, SPELL_SECONDS, request);
    if (statuses["200"] !== requests) throw new Error(`posts were answered ${JSON.stringify(statuses)}`);
    stored += requests;
  }
  return stored;
}

function readCount(): number {
  return Number(readFileSync(countFile).readBigUInt64LE());
}

function buildPlugin(): string {
  const plugin = join(folder, "count-instructions.so");
  const source = fileURLToPath(new URL("count-instructions.c", import.meta.url));
  execFileSync("gcc", ["-O2", "-shared", "-fPIC", source, "-o", plugin], { stdio: "inherit" });
  return plugin;
}
