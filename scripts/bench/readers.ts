import { get } from "node:http";
import { COMMAND_BUSY_TIMEOUT_MS, openDatabase } from "../../src/database/sqlite/open-database.ts";
import { submissionAdder } from "../../test/support/add-submission.ts";
import { type Figure, renderFigures } from "./figures.ts";
import { median, runLoad } from "./processes.ts";
import { makeWorkplace, POST_BODY, type Workplace } from "./workplace.ts";

/**
 * Measures how long posts wait while a client reads page after page of a class that none of many submissions has, so that each page looks
 * through all of them.
 * Usage: node scripts/bench/readers.ts [SUBMISSIONS] [ROUNDS], after npm run build.
 */
const CONNECTIONS = 16;
const SECONDS = 4;
/** The number of rows in one transaction while the file is filled. */
const ROWS_AT_ONCE = 100_000;

if (import.meta.main) {
  const [submissions = 500_000, rounds = 7] = process.argv.slice(2).map(Number);
  process.stdout.write(renderFigures(await compareReaders(submissions, rounds)));
}

async function compareReaders(submissions: number, rounds: number): Promise<Figure[]> {
  const place = makeWorkplace();
  try {
    fill(place, submissions);
    const key = issueSecretKey(place);
    const server = await place.serve();
    const ratios: number[] = [];
    let pages = 0;
    await runLoad(server, CONNECTIONS, SECONDS, place.request);
    for (let round = 0; round < rounds; round += 1) {
      const alone = await runLoad(server, CONNECTIONS, SECONDS, place.request);
      const reader = readAgainAndAgain(server.port, key);
      const beside = await runLoad(server, CONNECTIONS, SECONDS, place.request);
      pages += await reader.stop();
      ratios.push(beside.p99Ms / alone.p99Ms);
    }
    await server.stop();
    return [
      {
        figure: `p99 of posts beside a reader who looks through ${submissions} submissions, over without`,
        value: median(ratios),
        unit: "",
        bound: { atMost: 1.5 },
      },
      { figure: "pages that the reader was given meanwhile", value: pages, unit: "", bound: null },
    ];
  } finally {
    place.remove();
  }
}

function fill({ db: file }: Workplace, submissions: number): void {
  const db = openDatabase(file, { busyTimeoutMs: COMMAND_BUSY_TIMEOUT_MS });
  const endpointId = String(db.prepare("SELECT id FROM endpoint").pluck().get());
  const insert = submissionAdder(db);
  const post = {
    endpointId,
    data: JSON.parse(POST_BODY) as Record<string, unknown>,
    ipAddress: "203.0.113.17",
    userAgent: "bench",
  };
  const firstAt = Date.now() - submissions;
  for (let from = 0; from < submissions; from += ROWS_AT_ONCE) {
    db.transactionNow(() => {
      for (let index = from; index < Math.min(submissions, from + ROWS_AT_ONCE); index += 1)
        insert({ ...post, createdAt: firstAt + index });
    });
  }
  db.pragma("wal_checkpoint(TRUNCATE)");
  db.close();
}

function issueSecretKey({ run }: Workplace): string {
  const issued = run("key", "issue", "Bench", "--kind", "secret", "--json");
  return (JSON.parse(issued) as { secret: string }).secret;
}

interface Reader {
  /** Stops reading, and resolves to the number of pages that were read. */
  stop(): Promise<number>;
}

function readAgainAndAgain(port: number, key: string): Reader {
  const enough = new AbortController();
  const read = async (pages: number): Promise<number> => {
    if (enough.signal.aborted) return pages;
    await readPage(port, key);
    return read(pages + 1);
  };
  const reading = read(0);
  return {
    stop() {
      enough.abort();
      return reading;
    },
  };
}

function readPage(port: number, key: string): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const path = "/submissions?class=high";
  const headers = { authorization: `Bearer ${key}` };
  const request = get({ host: "127.0.0.1", port, path, headers }, (response) => {
    if (response.statusCode !== 200) reject(new Error(`the reader got ${response.statusCode}`));
    response.resume().once("end", resolve);
  });
  request.once("error", reject);
  return promise;
}
