import { COMMAND_BUSY_TIMEOUT_MS, openDatabase } from "../../src/database/sqlite/open-database.ts";
import { submissionAdder } from "../../test/support/add-submission.ts";
import { type Figure, renderFigures } from "./figures.ts";
import { median } from "./processes.ts";
import { postsFor, quantile } from "./posts.ts";
import { makeWorkplace, POST_BODY, type Workplace } from "./workplace.ts";

/**
 * Measures how long the API takes for one object and for a list of 100 among many submissions, and what 50 reads a second cost posts.
 * Usage: node scripts/bench/api.ts [SUBMISSIONS] [READS], after npm run build.
 */
const ROWS_AT_ONCE = 100_000;
/** Posts alone and posts beside reads take turns. There are many short rounds, because a disk that is slow for one second decides a p99. */
const ROUNDS = 15;
const POSTS_SECONDS = 3;
const READ_INTERVAL_MS = 20;

if (import.meta.main) {
  const [submissions = 2_000_000, reads = 500] = process.argv.slice(2).map(Number);
  process.stdout.write(renderFigures(await measureApi(submissions, reads)));
}

async function measureApi(submissions: number, reads: number): Promise<Figure[]> {
  const place = makeWorkplace();
  try {
    const submission = fill(place, submissions);
    const token = makeToken(place);
    const server = await place.serve();
    const base = `http://127.0.0.1:${server.port}`;
    const all = `${base}/api/v1/submissions`;
    const [one, list] = [`${all}/${submission}`, `${all}?limit=100`];
    try {
      const key = issueKey(place);
      for (const url of [one, list]) await readOnce(url, token);
      const alone: number[] = [];
      const beside: number[] = [];
      for (let round = 0; round < ROUNDS; round += 1) {
        alone.push(quantile(await postsFor(base, key, POSTS_SECONDS), 0.99));
        const reading = readEvery([one, list], token);
        beside.push(quantile(await postsFor(base, key, POSTS_SECONDS), 0.99));
        await reading.stop();
      }
      const [before, during] = [median(alone), median(beside)];
      return [
        await timeOf("median of a GET of one object", { url: one, token, reads, atMost: 5 }),
        await timeOf("median of a GET of a list of 100", { url: list, token, reads, atMost: 20 }),
        { figure: "p99 of a post", value: before, unit: "ms", bound: null },
        {
          figure: "p99 of a post beside 50 reads a second",
          value: during,
          unit: "ms",
          bound: { atMost: Math.ceil(before) + 5 },
        },
      ];
    } finally {
      await server.stop();
    }
  } finally {
    place.remove();
  }
}

/** Fills the file, and returns the id of the submission in the middle. */
function fill({ db: file }: Workplace, submissions: number): string {
  const db = openDatabase(file, { busyTimeoutMs: COMMAND_BUSY_TIMEOUT_MS });
  const endpointId = String(db.prepare("SELECT id FROM endpoint").pluck().get());
  const insert = submissionAdder(db);
  const data = JSON.parse(POST_BODY) as Record<string, unknown>;
  const post = { endpointId, data, ipAddress: "203.0.113.17", userAgent: "bench" };
  const firstAt = Date.now() - submissions;
  let middle = "";
  for (let from = 0; from < submissions; from += ROWS_AT_ONCE) {
    db.transactionNow(() => {
      for (let index = from; index < Math.min(submissions, from + ROWS_AT_ONCE); index += 1) {
        const id = insert({ ...post, createdAt: firstAt + index });
        if (index === Math.floor(submissions / 2)) middle = id;
      }
    });
  }
  db.pragma("wal_checkpoint(TRUNCATE)");
  db.close();
  return middle;
}

function makeToken({ run }: Workplace): string {
  const made = run("token", "create", "--name", "bench", "--scope", "submissions:read", "--json");
  return (JSON.parse(made) as { secret: string }).secret;
}

function issueKey({ run }: Workplace): string {
  const issued = run("key", "issue", "Bench", "--kind", "secret", "--json");
  return (JSON.parse(issued) as { secret: string }).secret;
}

async function readOnce(url: string, token: string): Promise<number> {
  const begun = performance.now();
  const answer = await fetch(url, { headers: { authorization: `Bearer ${token}` } });
  await answer.text();
  if (answer.status !== 200) throw new Error(`a read was answered ${answer.status}`);
  return performance.now() - begun;
}

async function timeOf(
  figure: string,
  asked: { readonly url: string; readonly token: string; readonly reads: number; readonly atMost: number },
): Promise<Figure> {
  const taken: number[] = [];
  for (let read = 0; read < asked.reads; read += 1) taken.push(await readOnce(asked.url, asked.token));
  return { figure, value: median(taken), unit: "ms", bound: { atMost: asked.atMost } };
}

/** Starts a read every 20 ms, whether or not the one before was answered. */
function readEvery(urls: readonly string[], token: string): { stop(): Promise<unknown> } {
  const reads: Promise<number>[] = [];
  const timer = setInterval(() => {
    reads.push(readOnce(urls[reads.length % urls.length] ?? "", token));
  }, READ_INTERVAL_MS);
  return {
    stop() {
      clearInterval(timer);
      return Promise.all(reads);
    },
  };
}
