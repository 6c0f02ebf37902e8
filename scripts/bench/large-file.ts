import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { statSync } from "node:fs";
import { join } from "node:path";
import { COMMAND_BUSY_TIMEOUT_MS, openDatabase } from "../../src/database/sqlite/open-database.ts";
import type { SqliteDatabase } from "../../src/database/sqlite/sqlite-database.ts";
import { newId } from "../../src/foundation/id.ts";
import { type Figure, renderFigures } from "./figures.ts";
import { median, runLoad } from "./processes.ts";
import { makeWorkplace, POST_BODY, type Workplace } from "./workplace.ts";
import { submissionAdder } from "../../test/support/add-submission.ts";

/**
 * Measures what a file with many submissions and a backlog of deliveries costs over an empty one: posts, the first page of a list, the
 * start of a tail and of the server, and the bytes that a submission takes.
 * Usage: node scripts/bench/large-file.ts [SUBMISSIONS] [PENDING] [ROUNDS]
 */
const CONNECTIONS = 64;
const WARM_UP_SECONDS = 8;
const SECONDS = 4;
const STARTS = 7;
const USER_AGENT = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";
const ADDRESS = "203.0.113.17";
/** Texts that have the size of a notification's parts around the data. */
const HEAD = "x".repeat(150);
const TAIL = "x".repeat(200);
/** The number of rows in one transaction while the file is filled. */
const ROWS_AT_ONCE = 100_000;

if (import.meta.main) {
  const [submissions = 2_000_000, pending = 100_000, rounds = 5] = process.argv.slice(2).map(Number);
  process.stdout.write(renderFigures(await compareFiles(submissions, pending, rounds)));
}

export async function compareFiles(submissions: number, pending: number, rounds: number): Promise<Figure[]> {
  const empty = makeWorkplace();
  const large = makeWorkplace();
  try {
    for (const place of [empty, large]) addPausedWebhook(place);
    const bytes = fill(large, submissions, pending);
    const over = `${submissions} submissions and ${pending} pending deliveries over an empty file`;
    return [
      {
        figure: `posts/s with ${over}`,
        value: await comparePosts(empty, large, rounds),
        unit: "",
        bound: { atLeast: 0.9 },
      },
      slowdown("first page of `submission list`", over, compareRuns(empty, large, ["submission", "list"])),
      slowdown("`submission tail`", over, compareRuns(empty, large, ["submission", "tail"])),
      slowdown("start of the server", over, await compareStarts(empty, large)),
      {
        figure: `bytes on disk of a submission over its body of ${POST_BODY.length}`,
        value: bytes / POST_BODY.length,
        unit: "",
        bound: { atMost: 2 },
      },
      {
        figure: "bytes on disk of a submission over its JSON as `submission list --json` prints it",
        value: bytes / printedLength(large),
        unit: "",
        bound: null,
      },
    ];
  } finally {
    empty.remove();
    large.remove();
  }
}

function slowdown(what: string, over: string, value: number): Figure {
  return { figure: `${what} with ${over}`, value, unit: "", bound: { atMost: 1.5 } };
}

/** Adds a webhook that is disabled. Its deliveries wait, so neither server has any work besides posts. */
function addPausedWebhook({ run }: Workplace): void {
  const url = "http://127.0.0.1:9/";
  const made = run("webhook", "create", "--endpoint", "Bench", "--url", url, "--allow-private", "--json");
  run("webhook", "disable", (JSON.parse(made) as { webhook: { id: string } }).webhook.id);
}

/** Writes the rows that posts would have written, and returns the bytes that a submission took. */
function fill({ db: file }: Workplace, submissions: number, pending: number): number {
  const db = openDatabase(file, { busyTimeoutMs: COMMAND_BUSY_TIMEOUT_MS });
  const endpointId = valueOf(db, "SELECT id FROM endpoint");
  const webhookId = valueOf(db, "SELECT id FROM webhook");
  const before = statSync(file).size;
  const insert = submissionAdder(db);
  const data = JSON.parse(POST_BODY) as Record<string, unknown>;
  const event = db.prepare("UPDATE submission SET event_head = ?, event_tail = ? WHERE id = ?");
  const delivery = db.prepare(
    "INSERT INTO delivery (id, submission_id, recipient_id, state, due_at) VALUES (?, ?, ?, 'pending', ?)",
  );
  const firstAt = Date.now() - submissions;
  let bytes = 0;
  const ids: string[] = [];
  for (let from = 0; from < submissions; from += ROWS_AT_ONCE) {
    db.transactionNow(() => {
      for (let index = from; index < Math.min(submissions, from + ROWS_AT_ONCE); index += 1) {
        const at = firstAt + index;
        const id = insert({ endpointId, data, ipAddress: ADDRESS, userAgent: USER_AGENT, createdAt: at });
        if (index >= submissions - pending) ids.push(id);
      }
    });
  }
  db.pragma("wal_checkpoint(TRUNCATE)");
  bytes = (statSync(file).size - before) / submissions;
  db.transactionNow(() => {
    for (const id of ids) {
      event.run(HEAD, TAIL, id);
      delivery.run(newId("msg", Date.now()), id, webhookId, Date.now());
    }
  });
  db.pragma("wal_checkpoint(TRUNCATE)");
  db.close();
  return bytes;
}

function valueOf(db: SqliteDatabase, sql: string): string {
  return String(db.prepare(sql).pluck().get());
}

function printedLength({ run }: Workplace): number {
  const { data } = JSON.parse(run("submission", "list", "--limit", "1", "--json")) as { data: unknown[] };
  return JSON.stringify(data[0]).length;
}

async function comparePosts(empty: Workplace, large: Workplace, rounds: number): Promise<number> {
  const servers = { empty: await empty.serve(), large: await large.serve() };
  await runLoad(servers.empty, CONNECTIONS, WARM_UP_SECONDS, empty.request);
  await runLoad(servers.large, CONNECTIONS, WARM_UP_SECONDS, large.request);
  const ratios: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const onEmpty = await runLoad(servers.empty, CONNECTIONS, SECONDS, empty.request);
    const onLarge = await runLoad(servers.large, CONNECTIONS, SECONDS, large.request);
    ratios.push(onLarge.requestsPerSecond / onEmpty.requestsPerSecond);
  }
  await servers.empty.stop();
  await servers.large.stop();
  return median(ratios);
}

function compareRuns(empty: Workplace, large: Workplace, command: readonly string[]): number {
  const time = ({ folder, db }: Workplace): number => {
    const startedAt = performance.now();
    const { status } = spawnSync(join(folder, "formsvc"), [...command, "--db", db]);
    if (status !== 0) throw new Error(`${command.join(" ")} ended with ${status}`);
    return performance.now() - startedAt;
  };
  const ratios = Array.from({ length: STARTS }, () => {
    const onEmpty = time(empty);
    return time(large) / onEmpty;
  });
  return median(ratios);
}

async function compareStarts(empty: Workplace, large: Workplace): Promise<number> {
  const ratios: number[] = [];
  for (let start = 0; start < STARTS; start += 1) {
    const onEmpty = await startMs(empty);
    ratios.push((await startMs(large)) / onEmpty);
  }
  return median(ratios);
}

/** Starts a server, and returns the time until it says that it listens, in milliseconds. */
async function startMs({ folder, db }: Workplace): Promise<number> {
  const startedAt = performance.now();
  const server = spawn(join(folder, "formsvc"), ["serve", "--port", "0", "--db", db], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  const ms = await new Promise<number>((resolve) => {
    let told = "";
    server.stdout.on("data", (chunk: Buffer) => {
      told += chunk.toString();
      if (told.includes('"server.listening"')) resolve(performance.now() - startedAt);
    });
  });
  server.kill("SIGTERM");
  await once(server, "exit");
  return ms;
}
