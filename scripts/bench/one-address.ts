import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { RECIPIENT_ROW, TEST_ROW } from "./account-attacks.ts";
import { type AttackRow, postHead, SOCKET_ROWS } from "./address-attacks.ts";
import { type Posted, startOtherPosts } from "./other-posts.ts";
import { executable, type RunningServer, startServer } from "./processes.ts";
import { SEARCH_ROWS } from "./search-attack.ts";
import { SLOW_RECEIVERS_ROW } from "./slow-receivers.ts";
import { makeWorkplace, POST_BODY } from "./workplace.ts";

/**
 * Measures what one address or account can do to others. Each attack has its own server, while four clients of another address post, with a
 * new connection for each post. The addresses are those that a trusted proxy would name. Posts are measured in rounds, without and with the
 * attack in turn, so that other work on the machine affects both. Prints a row for each attack, as in docs/lab/faults.md.
 * Usage: node scripts/bench/one-address.ts [SECONDS [ROUNDS [WORDS-OF-A-ROW]]]
 */
const [seconds = 4, rounds = 3] = process.argv.slice(2, 4).map(Number);
const words = process.argv[4] ?? "";
const OTHER = "203.0.113.9";
const SETTINGS = {
  FORMSVC_SERVER_TRUST_PROXY: '["127.0.0.1"]',
  FORMSVC_RATE_LIMIT_PUBLISHABLE_MAX: "null",
  FORMSVC_RATE_LIMIT_SECRET_MAX: "null",
  FORMSVC_PLANS_HOBBY_MONTHLY_SUBMISSIONS: "null",
};
const ROWS: readonly AttackRow[] = [
  ...SOCKET_ROWS,
  SLOW_RECEIVERS_ROW,
  RECIPIENT_ROW,
  TEST_ROW,
  ...SEARCH_ROWS,
];

if (import.meta.main) {
  process.stdout.write("| attack | others' posts: taken, p50, p99 | p99 without it | memory at most |\n");
  process.stdout.write("|---|---|---|---|\n");
  for (const row of ROWS.filter(({ name }) => name.includes(words)))
    process.stdout.write(`${await measure(row)}\n`);
}

async function measure({ name, prepare }: AttackRow): Promise<string> {
  const place = makeWorkplace();
  const attack = await prepare(place);
  const server = await startServer(
    [executable, "serve", "--port", "0", "--db", place.db],
    join(place.folder, "attack.log"),
    { ...SETTINGS, ...attack.settings },
  );
  const others = startOtherPosts();
  const text = postHead(attack.othersKey, Buffer.byteLength(POST_BODY), OTHER) + POST_BODY;
  const send = (): Promise<readonly Posted[]> => others.send({ port: server.port, seconds, text });
  const calm: Posted[] = [];
  const attacked: Posted[] = [];
  let outcome = "";
  try {
    // The first posts wait for the key's hash, and for code that is not compiled yet.
    await send();
    for (let round = 0; round < rounds; round += 1) {
      calm.push(...(await send()));
      const stop = await attack.start(server);
      // The attack needs this time to begin.
      await sleep(1000);
      attacked.push(...(await send()));
      outcome = await stop();
    }
    return describe(`${name}${outcome && `; ${outcome}`}`, attacked, calm, peakMb(server));
  } finally {
    attack.close();
    others.close();
    await server.stop();
    place.remove();
  }
}

function describe(name: string, posts: readonly Posted[], calm: readonly Posted[], memoryMb: number): string {
  const taken = posts.filter(({ isTaken }) => isTaken).length;
  const share = taken === posts.length ? "all" : `${taken} of ${posts.length}`;
  const [p50, p99, calmP99] = [msAt(posts, 0.5), msAt(posts, 0.99), msAt(calm, 0.99)];
  const ratio = (p99 / calmP99).toFixed(1);
  return `| ${name} | ${share}, ${p50.toFixed(1)} ms, ${p99.toFixed(1)} ms | ${calmP99.toFixed(1)} ms: ${ratio} times | ${memoryMb} MB |`;
}

function msAt(posts: readonly Posted[], part: number): number {
  const ms = posts.map((each) => each.ms).sort((one, other) => one - other);
  return ms[Math.floor((ms.length - 1) * part)] ?? 0;
}

function peakMb({ pid }: RunningServer): number {
  return Math.round(
    Number(/^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024,
  );
}
