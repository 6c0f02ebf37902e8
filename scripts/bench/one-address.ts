import { readFileSync, writeFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { makeKey } from "../../src/keys/key-format.ts";
import { type AccountAttack, prepareRecipients, prepareTests } from "./account-attacks.ts";
import { guessPassword, makeUpAround } from "./guesses.ts";
import { executable, type RunningServer, startServer } from "./processes.ts";
import { nameOfSearches, prepareSearches, SEARCH_COUNTS, searchWith } from "./search-attack.ts";
import { prepareTwoAccounts, SLOW_RECEIVERS } from "./slow-receivers.ts";
import { makeWorkplace, POST_BODY, type Workplace } from "./workplace.ts";

/**
 * What one address can do to others: each attack against a server of its own, while four clients of another address post,
 * with a new connection for each post. The addresses are what a trusted proxy would tell. Prints a row for each attack, as
 * in docs/reliability.md; in the last one, an account has slow receivers. Usage: node scripts/bench/one-address.ts [SECONDS]
 */
const [seconds = 10] = process.argv.slice(2).map(Number);
const CLIENTS = 4;
const GREEDY = "198.51.100.7";
const OTHER = "203.0.113.9";
/** What a client waits for its answer before it counts as not taken. */
const PATIENCE_MS = 10_000;
const SETTINGS = {
  FORMSVC_SERVER_TRUST_PROXY: '["127.0.0.1"]',
  FORMSVC_RATE_LIMIT_PUBLISHABLE_MAX: "null",
  FORMSVC_RATE_LIMIT_SECRET_MAX: "null",
  FORMSVC_PLANS_HOBBY_MONTHLY_SUBMISSIONS: "null",
};
const COUNTRIES = Array.from({ length: 250 }, (_, index) => `Country number ${index}`);
const SCHEMA = {
  name: { type: "string", required: true },
  email: { type: "string", required: true, format: "email" },
  message: { type: "string" },
  country: { type: "string", enum: COUNTRIES },
};

interface Keys {
  readonly secret: string;
  readonly publishable: string;
}

interface Attack {
  readonly name: string;
  readonly connections: number;
  /** What each connection begins with. */
  readonly opening: (keys: Keys, index: number) => string;
  /** What each connection sends every second. */
  readonly drip: string;
  readonly settings?: Record<string, string>;
  /** Whether the keys are those of an account of the attacker's own. */
  readonly hasOwnAccount?: boolean;
}

const ATTACKS: readonly Attack[] = [
  { name: "none", connections: 0, opening: () => "", drip: "" },
  {
    name: "515 posts with a good key, whose bodies bring a byte a second",
    connections: 515,
    opening: ({ secret }) => `${head(secret, 1000)}{`,
    drip: " ",
  },
  {
    name: "the same with an unknown key",
    connections: 515,
    opening: () => `${head(makeKey("secret").text, 1000)}{`,
    drip: " ",
  },
  {
    name: "100 bodies of 1 MiB announced, `server.bodyLimitBytes` 1 MiB",
    connections: 100,
    opening: ({ secret }) => `${head(secret, 1_048_576)}{`,
    drip: " ",
    settings: { FORMSVC_SERVER_BODY_LIMIT_BYTES: "1048576" },
  },
  {
    name: "300 connections, each with 50 requests whose answers nobody reads",
    connections: 300,
    opening: () => `GET /openapi.json HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: ${GREEDY}\r\n\r\n`.repeat(50),
    drip: "",
  },
  {
    name: "40 connections, each with 30 forms of 1,000 countries that are none, whose pages nobody reads",
    connections: 40,
    opening: ({ publishable }) => form(publishable, "country=x&".repeat(1000)).repeat(30),
    drip: "",
  },
  {
    name: "32 connections, each with posts of 60 KB to a form of its own whose month is full: they are held",
    connections: 32,
    opening: ({ secret }) => {
      const body = JSON.stringify({ ...(JSON.parse(POST_BODY) as object), message: "a".repeat(60_000) });
      return (head(secret, body.length) + body).repeat(50);
    },
    drip: "",
    settings: { FORMSVC_PLANS_PRO_MONTHLY_SUBMISSIONS: "1" },
    hasOwnAccount: true,
  },
  {
    name: "108 connections from one IPv6 /48, each of which guesses a password again and again",
    connections: 108,
    opening: (_keys, index) => guessPassword(`2001:db8:9:${index.toString(16)}::1`),
    // Between two requests a line's end means nothing.
    drip: "\r\n",
  },
  {
    name: "150 connections from as many networks, with texts made up around a page's key",
    connections: 150,
    opening: ({ publishable }, index) => `${head(makeUpAround(publishable), 2, `10.0.${index}.1`)}{}`,
    drip: "\r\n",
  },
];

if (import.meta.main) {
  process.stdout.write("| attack | others' posts: taken, p50, p99 | memory at most |\n|---|---|---|\n");
  for (const attack of ATTACKS) process.stdout.write(`${await measure(attack)}\n`);
  process.stdout.write(`${await measureSlowReceivers()}\n`);
  for (const prepare of [prepareRecipients, prepareTests])
    process.stdout.write(`${await measureAccounts(prepare)}\n`);
  for (const count of SEARCH_COUNTS) process.stdout.write(`${await measureSearches(count)}\n`);
}

async function measure(attack: Attack): Promise<string> {
  const place = makeWorkplace();
  const schemaFile = join(place.folder, "countries.json");
  writeFileSync(schemaFile, JSON.stringify(SCHEMA));
  const create = (...args: string[]): Keys => {
    const made = place.run("endpoint", "create", "--schema", schemaFile, "--json", "--quiet", ...args);
    return (JSON.parse(made) as { keys: Keys }).keys;
  };
  const keys = create("--name", "Form");
  if (attack.hasOwnAccount === true) {
    place.run("workspace", "create", "--name", "Greedy");
    place.run("workspace", "set-plan", "Greedy", "pro");
  }
  const attacker = attack.hasOwnAccount === true ? create("--name", "Own", "--workspace", "Greedy") : keys;
  const server = await startServer(
    [executable, "serve", "--port", "0", "--db", place.db],
    join(place.folder, "attack.log"),
    { ...SETTINGS, ...attack.settings },
  );
  try {
    const stop = attackWith(attack, server, attacker);
    const posts = await postAsOthers(server, keys.secret);
    stop();
    return describe(attack.name, posts, peakMb(server));
  } finally {
    await server.stop();
    place.remove();
  }
}

async function measureSlowReceivers(): Promise<string> {
  const place = makeWorkplace();
  const accounts = await prepareTwoAccounts(place);
  const log = join(place.folder, "attack.log");
  const server = await startServer([executable, "serve", "--port", "0", "--db", place.db], log, SETTINGS);
  try {
    await accounts.attack(server);
    const stop = accounts.notify(server);
    const posts = await postAsOthers(server, accounts.otherKey);
    return describe(`${SLOW_RECEIVERS}; ${await stop()}`, posts, peakMb(server));
  } finally {
    accounts.close();
    await server.stop();
    place.remove();
  }
}

async function measureAccounts(prepare: (place: Workplace) => Promise<AccountAttack>): Promise<string> {
  const place = makeWorkplace();
  const created = ["endpoint", "create", "--name", "Form", "--schema", place.schemaFile, "--json", "--quiet"];
  const { keys } = JSON.parse(place.run(...created)) as { keys: Keys };
  const attack = await prepare(place);
  const log = join(place.folder, "attack.log");
  const settings = { ...SETTINGS, ...attack.settings };
  const server = await startServer([executable, "serve", "--port", "0", "--db", place.db], log, settings);
  try {
    const stop = attack.start(server);
    const posts = await postAsOthers(server, keys.secret);
    return describe(`${attack.name}; ${await stop()}`, posts, peakMb(server));
  } finally {
    attack.close();
    await server.stop();
    place.remove();
  }
}

async function measureSearches(count: number): Promise<string> {
  const place = makeWorkplace();
  const schemaFile = join(place.folder, "countries.json");
  writeFileSync(schemaFile, JSON.stringify(SCHEMA));
  const made = place.run("endpoint", "create", "--name", "Form", "--schema", schemaFile, "--json", "--quiet");
  const { endpoint, keys } = JSON.parse(made) as { endpoint: { id: string }; keys: Keys };
  const cookie = prepareSearches(place.db, endpoint.id);
  const log = join(place.folder, "attack.log");
  const server = await startServer([executable, "serve", "--port", "0", "--db", place.db], log, SETTINGS);
  try {
    const stop = searchWith(count, server, cookie);
    const posts = await postAsOthers(server, keys.secret);
    stop();
    return describe(nameOfSearches(count), posts, peakMb(server));
  } finally {
    await server.stop();
    place.remove();
  }
}

/** Until it is stopped, the attacker opens a connection again for each that is answered or closed. */
function attackWith({ connections, opening, drip }: Attack, server: RunningServer, keys: Keys): () => void {
  const open = (index: number): Socket => {
    const socket = connect(server.port, "127.0.0.1").on("error", () => undefined);
    if (drip === "") socket.pause();
    else socket.on("data", () => socket.destroy());
    socket.write(opening(keys, index));
    return socket;
  };
  const sockets = Array.from({ length: connections }, (_, index) => open(index));
  const timer = setInterval(() => {
    for (const [index, socket] of sockets.entries()) {
      if (socket.destroyed) sockets[index] = open(index);
      else if (drip !== "") socket.write(drip);
    }
  }, 1000);
  return () => {
    clearInterval(timer);
    for (const socket of sockets) socket.destroy();
  };
}

interface Posted {
  readonly isTaken: boolean;
  readonly ms: number;
}

/** After a second, in which the attack gets under way. */
async function postAsOthers(server: RunningServer, key: string): Promise<Posted[]> {
  await sleep(1000);
  const posts: Posted[] = [];
  const endsAt = performance.now() + seconds * 1000;
  const request = head(key, Buffer.byteLength(POST_BODY), OTHER) + POST_BODY;
  const client = async (): Promise<void> => {
    while (performance.now() < endsAt) posts.push(await post(server, request));
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
  return posts;
}

function post(server: RunningServer, request: string): Promise<Posted> {
  const startedAt = performance.now();
  return new Promise((resolve) => {
    const socket = connect(server.port, "127.0.0.1").setTimeout(PATIENCE_MS);
    const end = (isTaken: boolean): void => {
      socket.destroy();
      resolve({ isTaken, ms: performance.now() - startedAt });
    };
    socket.on("data", (chunk) => end(chunk.toString().startsWith("HTTP/1.1 200")));
    for (const event of ["error", "close", "timeout"]) socket.on(event, () => end(false));
    socket.write(request);
  });
}

function describe(name: string, posts: readonly Posted[], memoryMb: number): string {
  const taken = posts.filter(({ isTaken }) => isTaken).length;
  const share = taken === posts.length ? "all" : `${taken} of ${posts.length}`;
  const ms = posts.map((each) => each.ms).sort((one, other) => one - other);
  const at = (part: number): number => Math.round(ms[Math.floor((ms.length - 1) * part)] ?? 0);
  return `| ${name} | ${share}, ${at(0.5)} ms, ${at(0.99)} ms | ${memoryMb} MB |`;
}

function peakMb({ pid }: RunningServer): number {
  return Math.round(
    Number(/^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024,
  );
}

function head(key: string, length: number, client = GREEDY): string {
  return `POST /submit HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: ${client}\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`;
}

function form(key: string, body: string): string {
  return `POST /f/${key} HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: ${GREEDY}\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
}
