import { execFileSync, spawnSync } from "node:child_process";
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdtempSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { script, style } from "../../src/dashboard/assets/assets.generated.ts";
import { openDatabase } from "../../src/database/sqlite/open-database.ts";
import { startSession } from "../../src/sessions/session.ts";
import { listAccounts } from "../../src/workspaces/workspace-store.ts";
import { type Figure, renderFigures } from "./figures.ts";
import { executable, median, residentMb, startServer } from "./processes.ts";
import { makeWorkplace, type Workplace } from "./workplace.ts";

/**
 * Measures what the dashboard adds to the size, the start and the memory of the executable, against an executable without the pages, and
 * how large the pages are.
 * Usage: node scripts/bench/dashboard.ts [ROUNDS], after npm run build.
 */
const root = fileURLToPath(new URL("../..", import.meta.url));
const COMMAND_WAIT_MS = 10_000;
const MEGABYTE = 1_000_000;
const KILOBYTE = 1000;

if (import.meta.main) {
  const [rounds = 9] = process.argv.slice(2).map(Number);
  process.stdout.write(renderFigures(await measureDashboard(rounds)));
}

export async function measureDashboard(rounds: number): Promise<Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), "formsvc-bench-"));
  const place = makeWorkplace();
  try {
    const pair = copyBoth(place, executable, buildWithoutPages(folder));
    const growth = statSync(pair.whole).size - statSync(pair.plain).size;
    const memory = await compareMemory(place, pair, rounds);
    const largest = (await readPages(place)).toSorted((one, other) => other.bytes - one.bytes)[0];
    return [
      { figure: "the executable is larger by", value: growth / MEGABYTE, unit: "MB", bound: { atMost: 2 } },
      {
        figure: "`formsvc version` over the same without the pages",
        value: compareStarts(pair, rounds),
        unit: "",
        bound: { atMost: 1.05 },
      },
      { figure: "memory at rest is larger by", value: memory, unit: "MB", bound: { atMost: 6 } },
      kilobytes("script", script, 15),
      kilobytes("style", style, null),
      {
        figure: `largest page without data (${largest?.path ?? ""})`,
        value: (largest?.bytes ?? 0) / KILOBYTE,
        unit: "KB",
        bound: { atMost: 60 },
      },
    ];
  } finally {
    place.remove();
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Pair {
  readonly whole: string;
  /** The program without the pages. */
  readonly plain: string;
}

/**
 * Copies both programs. The system holds a file that was just linked in larger pieces of memory than a copied one, and an installed program
 * is a copy.
 */
function copyBoth({ folder }: Workplace, whole: string, plain: string): Pair {
  const pair = { whole: join(folder, "whole"), plain: join(folder, "plain") };
  copyFileSync(whole, pair.whole);
  copyFileSync(plain, pair.plain);
  return pair;
}

function kilobytes(figure: string, text: string, atMost: number | null): Figure {
  const value = Buffer.byteLength(text) / KILOBYTE;
  return { figure, value, unit: "KB", bound: atMost === null ? null : { atMost } };
}

/** Builds the same program with a server that never adds the dashboard. The commands about accounts stay. */
function buildWithoutPages(folder: string): string {
  for (const part of ["src", "scripts", "migrations"])
    cpSync(join(root, part), join(folder, part), { recursive: true });
  copyFileSync(join(root, "package.json"), join(folder, "package.json"));
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  const stub = join(folder, "src/server/late-dashboard.ts");
  if (!existsSync(stub)) throw new Error("the server gets its pages elsewhere now");
  writeFileSync(stub, "export const lateDashboard = () => null;\n");
  execFileSync(process.execPath, [join(folder, "scripts/build.ts")], { cwd: folder, stdio: "ignore" });
  return join(folder, "dist/formsvc");
}

function compareStarts({ whole, plain }: Pair, rounds: number): number {
  const time = (program: string): number => {
    const begun = performance.now();
    if (spawnSync(program, ["version"]).status !== 0) throw new Error(`${program} does not start`);
    return performance.now() - begun;
  };
  return median(
    Array.from({ length: 2 * rounds }, () => {
      const without = time(plain);
      return time(whole) / without;
    }),
  );
}

/** Compares the memory of servers that have just started, in turn. */
async function compareMemory(place: Workplace, { whole, plain }: Pair, rounds: number): Promise<number> {
  const restOf = async (program: string): Promise<number> => {
    const command = [program, "serve", "--port", "0", "--db", place.db];
    const server = await startServer(command, join(place.folder, "rest.log"), {});
    const resident = residentMb(server.pid);
    await server.stop();
    return resident;
  };
  const differences: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const without = await restOf(plain);
    differences.push((await restOf(whole)) - without);
  }
  return median(differences);
}

interface Page {
  readonly path: string;
  readonly bytes: number;
}

/** Reads every page that an operator reaches by links, from a database with one endpoint and no submission. */
async function readPages(place: Workplace): Promise<Page[]> {
  const db = openDatabase(place.db, { busyTimeoutMs: COMMAND_WAIT_MS });
  const [account] = db.now(() => listAccounts());
  const browser = { userAgent: "Bench", ipAddress: null };
  const { cookie } = db.now(() => startSession(account?.id ?? "", browser, Date.now()));
  db.close();
  const server = await place.serve();
  const pages: Page[] = [];
  const known = new Set(["/dashboard"]);
  for (const path of known) {
    const url = `http://127.0.0.1:${server.port}${path}`;
    const answer = await fetch(url, { headers: { cookie: `formsvc-session=${cookie}` } });
    const text = await answer.text();
    if (!(answer.headers.get("content-type") ?? "").startsWith("text/html")) continue;
    pages.push({ path: path.replace(/_[0-9a-z]{26}/g, ""), bytes: Buffer.byteLength(text) });
    for (const [, link = ""] of text.matchAll(/href="(\/dashboard[^"?#]*)/g)) known.add(link);
  }
  await server.stop();
  return pages;
}
