import { COMMAND_BUSY_TIMEOUT_MS, openDatabase } from "../../src/database/sqlite/open-database.ts";
import { startSession } from "../../src/sessions/session.ts";
import { listAccounts } from "../../src/workspaces/workspace-store.ts";
import { type EventStream, openEvents } from "../../test/support/event-stream.ts";
import { type Figure, renderFigures } from "./figures.ts";
import { measure, type Measured, median, runLoad, type RunningServer } from "./processes.ts";
import { makeWorkplace, type Workplace } from "./workplace.ts";

/**
 * Measures what posts lose while 64 browsers have the dashboard open, each with its live stream. Rounds with and without them take turns.
 * Usage: node scripts/bench/streams.ts [ROUNDS] [SECONDS], after npm run build.
 */
const CONNECTIONS = 64;
const SESSIONS = 16;
const STREAMS_A_SESSION = 4;
const WARM_UP_SECONDS = 8;

if (import.meta.main) {
  const [rounds = 11, seconds = 2] = process.argv.slice(2).map(Number);
  process.stdout.write(renderFigures(await compareStreams(rounds, seconds)));
}

export async function compareStreams(rounds: number, seconds: number): Promise<Figure[]> {
  const place = makeWorkplace();
  try {
    const cookies = signIn(place);
    const server = await place.serve();
    await runLoad(server, CONNECTIONS, WARM_UP_SECONDS, place.request);
    const pairs: { readonly alone: Measured; readonly beside: Measured }[] = [];
    let told = 0;
    for (let round = 0; round < rounds; round += 1) {
      // The two take turns to be first, because a server slows down a little while its file grows.
      const first = round % 2 === 0 ? await measure(server, CONNECTIONS, seconds, place.request) : null;
      const streams = await openStreams(server, cookies);
      const beside = await measure(server, CONNECTIONS, seconds, place.request);
      for (const stream of streams) stream.close();
      told += streams.reduce((sum, stream) => sum + stream.text().split("event: new").length - 1, 0);
      pairs.push({ alone: first ?? (await measure(server, CONNECTIONS, seconds, place.request)), beside });
    }
    await server.stop();
    const ratio = (read: (measured: Measured) => number): number =>
      median(pairs.map(({ alone, beside }) => read(beside) / read(alone)));
    const streams = SESSIONS * STREAMS_A_SESSION;
    return [
      {
        figure: `posts/s with ${streams} live streams over without`,
        value: ratio(({ requestsPerSecond }) => requestsPerSecond),
        unit: "",
        bound: { atLeast: 0.97 },
      },
      {
        figure: "processor time of a post with them over without",
        value: ratio(({ processorUs }) => processorUs),
        unit: "",
        bound: null,
      },
      {
        figure: "p99 of a post with them over without",
        value: ratio(({ p99Ms }) => p99Ms),
        unit: "",
        bound: null,
      },
      { figure: "events that the streams were told", value: told, unit: "", bound: null },
    ];
  } finally {
    place.remove();
  }
}

function signIn({ db: file }: Workplace): string[] {
  const db = openDatabase(file, { busyTimeoutMs: COMMAND_BUSY_TIMEOUT_MS });
  const [account] = db.now(() => listAccounts());
  const browser = { userAgent: "Bench", ipAddress: null };
  const cookies = Array.from(
    { length: SESSIONS },
    () => `formsvc-session=${db.now(() => startSession(account?.id ?? "", browser, Date.now())).cookie}`,
  );
  db.close();
  return cookies;
}

async function openStreams({ port }: RunningServer, cookies: readonly string[]): Promise<EventStream[]> {
  const url = `http://127.0.0.1:${port}/dashboard/events`;
  const each = cookies.flatMap((cookie) => Array.from({ length: STREAMS_A_SESSION }, () => cookie));
  const streams = await Promise.all(each.map((cookie) => openEvents(url, cookie)));
  const refused = streams.find(({ status }) => status !== 200);
  if (refused !== undefined) throw new Error(`a stream was answered ${refused.status}`);
  return streams;
}
