import { mkdirSync, writeFileSync } from "node:fs";
import { availableParallelism, cpus } from "node:os";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { version } from "../../src/foundation/version.ts";
import { type Figure, isMet, renderFigures } from "./figures.ts";
import { measureGrowth } from "./growth.ts";
import { measureFilter } from "./filter.ts";
import { compareFiles } from "./large-file.ts";
import { compareVersion } from "./starts.ts";
import { comparePosts } from "./submit.ts";
import { compareProcesses } from "./two-servers.ts";

/**
 * Measures every figure on posts in docs/lab/performance.md, one after another. Prints a Markdown table and writes JSON to
 * build/bench.json. It takes about twelve minutes, on Linux, with two cores that nothing else uses.
 * Usage: npm run bench, after npm run build.
 */
const ROUNDS = 5;
const SECONDS = 4;
const SUBMISSIONS = 2_000_000;
const PENDING = 100_000;
const POSTS = 1_000_000;
const STARTS = 15;

const results = fileURLToPath(new URL("../../build/bench.json", import.meta.url));
const parts: readonly [string, () => Figure[] | Promise<Figure[]>][] = [
  ["judging", measureFilter],
  ["starting", () => compareVersion(STARTS)],
  ["posts", () => comparePosts(ROUNDS, SECONDS)],
  ["a large file", () => compareFiles(SUBMISSIONS, PENDING, ROUNDS)],
  ["two servers", () => compareProcesses(ROUNDS, SECONDS)],
  ["growth", () => measureGrowth(POSTS)],
];

const figures: Figure[] = [];
for (const [name, measure] of parts) {
  process.stderr.write(`measuring ${name}\n`);
  figures.push(...(await measure()));
}
process.stdout.write(renderFigures(figures));
mkdirSync(dirname(results), { recursive: true });
writeFileSync(
  results,
  JSON.stringify(
    {
      version,
      processor: cpus()[0]?.model ?? "unknown",
      cores: availableParallelism(),
      figures,
      missed: figures.filter((each) => !isMet(each)).map(({ figure }) => figure),
    },
    null,
    2,
  ),
);
