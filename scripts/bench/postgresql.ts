import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { newId } from "../../src/foundation/id.ts";
import { type Cluster, connectPlainly, startCluster } from "../../test/support/postgresql-cluster.ts";
import { type Figure, renderFigures } from "./figures.ts";
import { LOAD_CORE, type Measured, measure, median, type RunningServer } from "./processes.ts";
import { makeWorkplace, POST_BODY, type Workplace } from "./workplace.ts";

/**
 * Measures what PostgreSQL costs: one server on it against one with a file, the processor time of a post with two and four servers against
 * one, and posts to a database with many submissions against an empty one. All servers share one core; PostgreSQL and the load generator
 * share the other. Therefore more servers cannot be faster here, and the processor time is what counts. Servers that together fill the core
 * slow each other down; four servers with a file each show what that costs by itself. Servers that get a fixed rate leave the core some
 * time.
 * Usage: node scripts/bench/postgresql.ts [ROUNDS] [SECONDS] [SUBMISSIONS], after npm run build
 */
const CONNECTIONS = 64;
const WARM_UP_SECONDS = 4;
const SERVERS = 4;
/** Posts a second to each server. Four servers with this rate take nearly all of the core. */
const FIXED_RATE = 1000;

if (import.meta.main) {
  const [rounds = 5, seconds = 3, submissions = 2_000_000] = process.argv.slice(2).map(Number);
  process.stdout.write(renderFigures(await measurePostgresql(rounds, seconds, submissions)));
}

export async function measurePostgresql(
  rounds: number,
  seconds: number,
  submissions: number,
): Promise<Figure[]> {
  const cluster = await startCluster({ settings: ["shared_buffers=256MB"] });
  moveToLoadCore(cluster);
  const places: Workplace[] = [];
  const add = (address: string | null): Workplace => {
    const place = makeWorkplace(address);
    places.push(place);
    return place;
  };
  try {
    const files = Array.from({ length: SERVERS }, () => add(null));
    const empty = add(await makeDatabase(cluster, "empty"));
    const figures = await compareServers({ files, empty }, rounds, seconds);
    if (submissions === 0) return figures;
    const large = add(await makeDatabase(cluster, "large"));
    await fill(cluster, submissions);
    return [...figures, await compareSizes({ empty, large }, { rounds, seconds, submissions })];
  } finally {
    for (const place of places) place.remove();
    await cluster.stop();
  }
}

/** Moves PostgreSQL to the core of the load generator. Processes that it starts later stay there too. */
function moveToLoadCore({ folder }: Cluster): void {
  const [pid = ""] = readFileSync(join(folder, "data/postmaster.pid"), "utf8").split("\n");
  execFileSync("taskset", ["-apc", LOAD_CORE, pid], { stdio: "ignore" });
}

async function makeDatabase(cluster: Cluster, name: string): Promise<string> {
  const admin = await connectPlainly(cluster.address("postgres"));
  await admin.query(`CREATE DATABASE bench_${name}`);
  await admin.end();
  return cluster.address(`bench_${name}`);
}

/** A server, and a request that posts to it. */
interface Target {
  readonly server: RunningServer;
  readonly request: string;
}

type Together = Pick<Measured, "requestsPerSecond" | "processorUs">;

/** The results of one round: servers with a file each, and servers on one database. The last three get the fixed rate. */
type Round = Readonly<
  Record<"oneFile" | "allFiles" | "one" | "two" | "all" | "oneSlow" | "twoSlow" | "allSlow", Together>
>;

async function compareServers(
  { files, empty }: { readonly files: readonly Workplace[]; readonly empty: Workplace },
  rounds: number,
  seconds: number,
): Promise<Figure[]> {
  const onFiles = await serveEach(files);
  const onDatabase = await serveEach(files.map(() => empty));
  // Each server warms up alone, because one with only a part of the core needs longer.
  for (const target of [...onFiles, ...onDatabase]) await measureTogether([target], WARM_UP_SECONDS);
  const found: Round[] = [];
  for (let round = 0; round < rounds; round += 1) {
    found.push({
      oneFile: await measureTogether(onFiles.slice(0, 1), seconds),
      one: await measureTogether(onDatabase.slice(0, 1), seconds),
      two: await measureTogether(onDatabase.slice(0, 2), seconds),
      all: await measureTogether(onDatabase, seconds),
      allFiles: await measureTogether(onFiles, seconds),
      oneSlow: await measureTogether(onDatabase.slice(0, 1), seconds, FIXED_RATE),
      twoSlow: await measureTogether(onDatabase.slice(0, 2), seconds, FIXED_RATE),
      allSlow: await measureTogether(onDatabase, seconds, FIXED_RATE),
    });
  }
  for (const { server } of [...onFiles, ...onDatabase]) await server.stop();
  const ratio = (of: keyof Together, upper: keyof Round, lower: keyof Round): number =>
    median(found.map((round) => round[upper][of] / round[lower][of]));
  return [
    {
      figure: "posts/s of one server on PostgreSQL over one with a file",
      value: ratio("requestsPerSecond", "one", "oneFile"),
      unit: "",
      bound: { atLeast: 0.5 },
    },
    {
      figure: "the server's processor time a post on PostgreSQL over that with a file",
      value: ratio("processorUs", "one", "oneFile"),
      unit: "",
      bound: { atMost: 1.15 },
    },
    ...(["two", "all"] as const).map((count) => ({
      figure: `processor time a post of ${count === "two" ? 2 : SERVERS} servers on one database over that of one`,
      value: ratio("processorUs", count, "one"),
      unit: "",
      bound: { atMost: 1.1 },
    })),
    {
      figure: `the same of ${SERVERS} servers with a file each, which share nothing but the core`,
      value: ratio("processorUs", "allFiles", "oneFile"),
      unit: "",
      bound: null,
    },
    ...(["two", "all"] as const).map((count) => ({
      figure: `processor time a post of ${count === "two" ? 2 : SERVERS} servers on one database that take ${FIXED_RATE} posts/s each over that of one`,
      value: ratio("processorUs", `${count}Slow`, "oneSlow"),
      unit: "",
      bound: { atMost: 1.1 },
    })),
  ];
}

async function serveEach(places: readonly Workplace[]): Promise<Target[]> {
  const targets: Target[] = [];
  for (const place of places) targets.push({ server: await place.serve(), request: place.request });
  return targets;
}

/**
 * Posts to all servers at the same time, and to each as much as to one alone, because there are more servers when there are more posts.
 *
 * @param rate posts a second to each server; infinity sends as fast as the server answers
 */
async function measureTogether(
  targets: readonly Target[],
  seconds: number,
  rate = Infinity,
): Promise<Together> {
  const all = await Promise.all(
    targets.map(({ server, request }) => measure({ ...server, rate }, CONNECTIONS, seconds, request)),
  );
  const sum = (of: (each: Measured) => number): number => all.reduce((total, each) => total + of(each), 0);
  return {
    requestsPerSecond: sum((each) => each.requestsPerSecond),
    processorUs: sum((each) => each.processorUs * each.requests) / sum((each) => each.requests),
  };
}

/** Writes the rows that posts would have written. */
async function fill(cluster: Cluster, submissions: number): Promise<void> {
  const client = await connectPlainly(cluster.address("bench_large"));
  // All ids have the same time and differ only in the rest.
  const prefix = newId("sub", Date.now()).slice(0, -10);
  await client.query(
    `INSERT INTO submission (id, endpoint_number, schema_version, data, spam_score, spam_reasons, ip_address, user_agent, created_at)
     SELECT $1 || lpad(n::text, 10, '0'), (SELECT min(number) FROM endpoint_number), 1, $2, 0, '[]', '203.0.113.17',
       'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0', 1767225600000
     FROM generate_series(1, $3::int) AS n`,
    [prefix, POST_BODY, submissions],
  );
  await client.query("VACUUM ANALYZE");
  await client.end();
}

async function compareSizes(
  { empty, large }: Readonly<Record<"empty" | "large", Workplace>>,
  { rounds, seconds, submissions }: Readonly<Record<"rounds" | "seconds" | "submissions", number>>,
): Promise<Figure> {
  const [onEmpty, onLarge] = [await empty.serve(), await large.serve()];
  await measure(onEmpty, CONNECTIONS, WARM_UP_SECONDS, empty.request);
  await measure(onLarge, CONNECTIONS, WARM_UP_SECONDS, large.request);
  const ratios: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const few = await measure(onEmpty, CONNECTIONS, seconds, empty.request);
    const many = await measure(onLarge, CONNECTIONS, seconds, large.request);
    ratios.push(few.requestsPerSecond / many.requestsPerSecond);
  }
  await Promise.all([onEmpty.stop(), onLarge.stop()]);
  return {
    figure: `time of a post with ${submissions} submissions on PostgreSQL over an empty database`,
    value: median(ratios),
    unit: "",
    bound: { atMost: 1.2 },
  };
}
