import { writeFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { makeKey } from "../../src/keys/key-format.ts";
import { guessPassword, makeUpAround } from "./guesses.ts";
import type { RunningServer } from "./processes.ts";
import { POST_BODY, type Workplace } from "./workplace.ts";

/** An attack of one client or account on a server while others post. */
export interface Attack {
  /** The secret key with which the others post. */
  readonly othersKey: string;
  readonly settings: Record<string, string>;
  /** Begins the attack. The returned function ends it, and describes its effect. */
  start(server: RunningServer): Promise<() => Promise<string>>;
  close(): void;
}

export interface AttackRow {
  readonly name: string;
  /** Prepares the attack before the server starts. */
  readonly prepare: (place: Workplace) => Promise<Attack>;
}

const GREEDY = "198.51.100.7";
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

interface SocketAttack {
  readonly name: string;
  readonly connections: number;
  /** The first bytes that each connection sends. */
  readonly opening: (keys: Keys, index: number) => string;
  /** The bytes that each connection sends every second. */
  readonly drip: string;
  readonly settings?: Record<string, string>;
  /** Whether the keys belong to the attacker's own account. */
  readonly hasOwnAccount?: boolean;
}

const SOCKET_ATTACKS: readonly SocketAttack[] = [
  { name: "none", connections: 0, opening: () => "", drip: "" },
  {
    name: "515 posts with a good key, whose bodies bring a byte a second",
    connections: 515,
    opening: ({ secret }) => `${postHead(secret, 1000)}{`,
    drip: " ",
  },
  {
    name: "the same with an unknown key",
    connections: 515,
    opening: () => `${postHead(makeKey("secret").text, 1000)}{`,
    drip: " ",
  },
  {
    name: "100 bodies of 1 MiB announced, `server.bodyLimitBytes` 1 MiB",
    connections: 100,
    opening: ({ secret }) => `${postHead(secret, 1_048_576)}{`,
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
      return (postHead(secret, body.length) + body).repeat(50);
    },
    drip: "",
    settings: { FORMSVC_PLANS_PRO_MONTHLY_SUBMISSIONS: "1" },
    hasOwnAccount: true,
  },
  {
    name: "108 connections from one IPv6 /48, each of which guesses a password again and again",
    connections: 108,
    opening: (_keys, index) => guessPassword(`2001:db8:9:${index.toString(16)}::1`),
    // Between two requests, an empty line has no meaning.
    drip: "\r\n",
  },
  {
    name: "150 connections from as many networks, with texts made up around a page's key",
    connections: 150,
    opening: ({ publishable }, index) => `${postHead(makeUpAround(publishable), 2, `10.0.${index}.1`)}{}`,
    drip: "\r\n",
  },
];

export const SOCKET_ROWS: readonly AttackRow[] = SOCKET_ATTACKS.map((attack) => ({
  name: attack.name,
  prepare: (place) => prepareSockets(place, attack),
}));

async function prepareSockets(place: Workplace, attack: SocketAttack): Promise<Attack> {
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
  return {
    othersKey: keys.secret,
    settings: attack.settings ?? {},
    async start(server) {
      const stop = attackWith(attack, server, attacker);
      return async () => {
        stop();
        return "";
      };
    },
    close: () => undefined,
  };
}

/** Attacks until it is stopped. The attacker opens a new connection for each one that is answered or closed. */
function attackWith(
  { connections, opening, drip }: SocketAttack,
  server: RunningServer,
  keys: Keys,
): () => void {
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

export function postHead(key: string, length: number, client = GREEDY): string {
  return `POST /submit HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: ${client}\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`;
}

function form(key: string, body: string): string {
  return `POST /f/${key} HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: ${GREEDY}\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
}
