import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { type Figure, renderFigures } from "./figures.ts";
import { median, processorMs, runLoad, startServer } from "./processes.ts";
import { formOf, keepUploading, makePlace, type Place } from "./uploads.ts";
import { WITHOUT_LIMITS } from "./workplace.ts";

/**
 * Measures how long the event loop stands still during 8 uploads of 5 MiB at a time and 400 posts a second. With two checkouts, servers of
 * both take turns, so that the disk and other work on the machine affect both alike.
 * Usage: node scripts/bench/standstills.ts ROUNDS FOLDER [FOLDER]. Each folder contains a checkout and its node_modules.
 */
const [rounds = "6", ...folders] = process.argv.slice(2);
const TRACE = fileURLToPath(new URL("standstill-trace.ts", import.meta.url));
const BOTH_CORES = "0,1";
const MEBIBYTE = 1_048_576;
const POSTS = { connections: 16, rate: 400, core: BOTH_CORES };
const WARM_UP_MS = 1500;
const SECONDS = 4;
const LONG_MS = 10;

/** The results of one spell. All but `longestMs` are for each second. */
interface Spell {
  readonly longOnes: number;
  readonly longestMs: number;
  readonly stoodStillMs: number;
  readonly uploads: number;
  readonly processorMs: number;
}

const spells = new Map<string, Spell[]>(folders.map((folder) => [folder, []]));
const form = await formOf(5 * MEBIBYTE);
for (let round = 0; round < Number(rounds); round += 1) {
  for (const folder of round % 2 === 0 ? folders : folders.toReversed()) {
    const place = makePlace();
    spells.get(folder)?.push(await measureSpell(place, resolve(folder, "src/main.ts")));
    place.remove();
  }
}
process.stdout.write(renderFigures([...spells].flatMap(([folder, each]) => figuresOf(folder, each))));

async function measureSpell(place: Place, program: string): Promise<Spell> {
  const noted = join(place.folder, "standstills");
  const command = [process.execPath, "--max-semi-space-size=16", "--import", TRACE, program];
  const serve = [...command, "serve", "--port", "0", "--db", place.db];
  const env = { ...WITHOUT_LIMITS, STANDSTILLS: noted };
  const server = await startServer(serve, join(place.folder, "serve.log"), env, BOTH_CORES);
  const stop = keepUploading(server.port, place.key, form);
  await sleep(WARM_UP_MS);
  process.kill(server.pid, "SIGWINCH");
  const [takenBefore, workedBefore] = [stop.taken(), processorMs(server.pid)];
  await runLoad({ ...POSTS, port: server.port }, POSTS.connections, SECONDS, place.request);
  process.kill(server.pid, "SIGWINCH");
  const [taken, worked] = [stop.taken() - takenBefore, processorMs(server.pid) - workedBefore];
  await stop();
  await server.stop();
  const standstills = JSON.parse(readFileSync(noted, "utf8").split("\n")[1] ?? "[]") as number[];
  return {
    longOnes: standstills.filter((ms) => ms >= LONG_MS).length / SECONDS,
    longestMs: Math.max(0, ...standstills),
    stoodStillMs: standstills.reduce((sum, ms) => sum + ms, 0) / SECONDS,
    uploads: taken / SECONDS,
    processorMs: worked / SECONDS,
  };
}

function figuresOf(folder: string, each: readonly Spell[]): Figure[] {
  const of = (figure: string, unit: string, value: (spell: Spell) => number): Figure => {
    return { figure: `${folder}: ${figure}`, value: median(each.map(value)), unit, bound: null };
  };
  return [
    of("standstills of 2 ms and more, in all, a second", "ms", (spell) => spell.stoodStillMs),
    of("the same for each upload", "ms", (spell) => spell.stoodStillMs / spell.uploads),
    of(`standstills of ${LONG_MS} ms and more, a second`, "", (spell) => spell.longOnes),
    of("the longest", "ms", (spell) => spell.longestMs),
    of("uploads a second", "", (spell) => spell.uploads),
    of("processor time for each upload", "ms", (spell) => spell.processorMs / spell.uploads),
  ];
}
