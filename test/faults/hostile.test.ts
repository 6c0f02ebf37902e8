import { connect } from "node:net";
import { describe, expect, test } from "vitest";
import { makeWorkplace } from "../executable/workplace.ts";
import { MAX_FIELDS } from "../../src/schemas/field-definition.ts";
import { extent, isShort, PATIENCE_MS, report } from "./extent.ts";
import { hostileBytes } from "./hostile-request.ts";
import { countUp, expectTaken, sendBurst } from "./poster.ts";
import {
  createNumberEndpoint,
  type FaultServer,
  freePort,
  processorMs,
  residentMb,
  startServer,
} from "./server.ts";
import { seededRandom } from "./seeded-random.ts";
import { readStored } from "./stored.ts";

const SEED = 5_092_026;
const CONNECTIONS = 32;
/** The server answers or closes long before; then the connection hangs, which is a defect. */
const HANG_MS = 60_000;
/** Beyond what a server has grown to by half of the requests; after some 20,000 it grows no more, which the short form does not reach. */
const GROWTH_MB = isShort ? 150 : 40;

test(
  "whatever strangers send, there is no 500, no crash, no hang and no growth",
  { timeout: PATIENCE_MS },
  async () => {
    const place = makeWorkplace();
    const { secret } = await createNumberEndpoint(place);
    const server = await startServer(place, await freePort(), {
      env: { FORMSVC_SERVER_REQUEST_TIMEOUT_MS: "5000" },
    });
    const statuses: Record<string, number> = {};
    const failures: string[] = [];
    const warmMb: number[] = [];
    let index = 0;
    const attack = async (): Promise<void> => {
      while (index < extent.hostileRequests && failures.length < 5) {
        index += 1;
        const mine = index;
        if (mine === Math.floor(extent.hostileRequests / 2)) warmMb.push(residentMb(server.pid));
        // Each from a seed of its own, so that one that fails is made again alone.
        const bytes = hostileBytes(secret, seededRandom(SEED + mine));
        const answer = await exchange(server.port, bytes);
        const problem = readStatuses(answer, statuses);
        if (problem !== null)
          failures.push(`${problem}: request ${mine}: ${bytes.toString("latin1").slice(0, 2000)}`);
      }
    };
    await Promise.all(Array.from({ length: CONNECTIONS }, attack));
    expect(failures).toEqual([]);
    expect(server.child.exitCode).toBe(null);
    const grewMb = residentMb(server.pid) - (warmMb[0] ?? 0);
    expect(grewMb).toBeLessThan(GROWTH_MB);
    const numbers = countUp();
    expectTaken(await sendBurst({ port: server.port, key: secret }, numbers, 20));
    expect(await server.end("SIGTERM")).toBe(0);
    expect(server.log()).not.toContain('"level":"error"');
    expect(server.err()).toBe("");
    readStored(place.database);
    report("hostile requests", { connections: index, "grew MB": grewMb, ...statuses });
  },
);

/** Sends the bytes, then the end, and returns what came back; null where the server neither answered nor closed. */
function exchange(port: number, bytes: Buffer): Promise<string | null> {
  return new Promise((resolve) => {
    const parts: Buffer[] = [];
    const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true }, () => socket.end(bytes));
    const timer = setTimeout(() => {
      resolve(null);
      socket.destroy();
    }, HANG_MS);
    socket.on("data", (part: Buffer) => parts.push(part));
    socket.on("error", () => {});
    socket.on("close", () => {
      clearTimeout(timer);
      resolve(Buffer.concat(parts).toString("latin1"));
    });
  });
}

/** Counts the answers of a connection; says what is wrong with them, or null. */
function readStatuses(answer: string | null, statuses: Record<string, number>): string | null {
  if (answer === null) return "no answer and no end";
  if (answer !== "" && !answer.startsWith("HTTP/1.1 ")) return "an answer that is not HTTP";
  for (const [, status = ""] of answer.matchAll(/HTTP\/1\.1 (\d{3}) /g)) {
    statuses[status] = (statuses[status] ?? 0) + 1;
    if (Number(status) >= 500 && status !== "503") return `an answer of ${status}`;
  }
  return null;
}

/** The contract's time, in the server's own work: others share the machine. Its clock ticks every 10 ms. */
const ANSWER_CPU_MS = 250;
const MAX_TRIES = 3;
const TEXT_BYTES = 65_000;

/** A body's text as long as a body may be, of one unit again and again. */
function repeated(unit: string): string {
  const bytes = Buffer.byteLength(JSON.stringify(unit)) - 2;
  return unit.repeat(Math.floor(TEXT_BYTES / bytes));
}

function scrambled(letters: string): string {
  const random = seededRandom(SEED);
  return Array.from({ length: TEXT_BYTES }, () => letters.charAt(random() * letters.length)).join("");
}

/** Made against e-mail addresses, links, markup, wording, disguises, capitals, random words and what else is looked for. */
const TEXTS: Readonly<Record<string, string>> = Object.fromEntries(
  [
    "a",
    " ",
    "a.",
    "a@",
    "@",
    "a@a.",
    "a-",
    "'",
    '"',
    "\\",
    "/",
    ":",
    "<",
    "[",
    "(",
    "!",
    "?",
    "0",
    "1 ",
    "-",
    "http://",
    "http://a.b ",
    "https://a.b/c?d=e&",
    "www.",
    "www.a.com ",
    "a.com ",
    "//",
    "hxxp://a[.]b ",
    "[url=http://a.b]",
    "<a href='http://a.b'>",
    "<a href=",
    "[url=",
    "&#97;",
    "%61",
    "xn--",
    "http://1.2.3.4 ",
    "free money ",
    "FREE ",
    "viagra ",
    "v i a g r a ",
    "v1agra ",
    "buy now ",
    "click here ",
    "casino ",
    "seo ",
    "​",
    "a​",
    "́",
    "á",
    "‮",
    "­",
    "ﷺ",
    "🙂",
    "👨‍👩‍👧 ",
    "й",
    "а",
    "漢",
    "ｆｒｅｅ ",
    "𝐟",
    "A",
    "aB",
    "xqzjk ",
    "a1b2 ",
    "$",
    "$1,000 ",
    "100% ",
    "+1 555 0100 ",
    "a\n",
    "	",
    "\r\n",
    "a  ",
    "è́",
  ].map((unit) => [JSON.stringify(unit.slice(0, 20)), repeated(unit)]),
);
const SCRAMBLED: Readonly<Record<string, string>> = {
  "two letters": scrambled("ab"),
  "words of any letters": scrambled("abcdefghijklmnopqrstuvwxyz  "),
  "addresses of any letters": scrambled("ab.@/:-"),
  "markup of any letters": scrambled("<>[]= a/"),
};

const PATTERNS = [
  "(a+)+$",
  "^(a+)+$",
  "(a|aa)*c",
  "(x+x+)+y",
  "(.*)(.*)(.*)(.*)[^\\x00-\\x{10FFFF}]",
  "(a|b)*a(a|b){13}[cd]",
  "[ab]*a[ab]{42}[cd]",
  "(\\b\\w*){7}\\B[cd]",
  "\\p{L}{46}",
  "(?:[a-z0-9]+[.-]?)+@[a-z]+$",
  "^\\pL{1,450}$",
];

describe("a text as long as a body may be is answered within the time, whatever it is made of", () => {
  test("against formats and every signal of spam", { timeout: PATIENCE_MS }, async () => {
    const schema = {
      email: { type: "string", format: "email" },
      url: { type: "string", format: "url" },
      message: { type: "string" },
    };
    const slowest = await measure(schema, { ...TEXTS, ...SCRAMBLED }, [
      (text) => ({ message: text }),
      (text) => ({ email: `a@${text}` }),
      (text) => ({ url: `https://${text}` }),
    ]);
    expect(slowest.ms).toBeLessThanOrEqual(ANSWER_CPU_MS);
    report("hostile texts", { ...slowest });
  });

  test("against patterns that explode elsewhere", { timeout: PATIENCE_MS }, async () => {
    const texts = { a: repeated("a"), ab: repeated("ab"), ...SCRAMBLED };
    const schema = Object.fromEntries(
      PATTERNS.map((pattern, index) => [`f${index}`, { type: "string", pattern }]),
    );
    const shapes = PATTERNS.map((_, index) => (text: string) => ({ [`f${index}`]: text }));
    const slowest = await measure(schema, texts, shapes);
    expect(slowest.ms).toBeLessThanOrEqual(ANSWER_CPU_MS);
    report("hostile patterns", { ...slowest });
  });

  test("against a schema with every bound at its limit", { timeout: PATIENCE_MS }, async () => {
    const name = (index: number): string => `${"n".repeat(96)}${String(index).padStart(4, "0")}`;
    const fields = Object.fromEntries(
      Array.from({ length: MAX_FIELDS }, (_, index) => {
        const bounded = index < 60 ? { pattern: "[ab]*a[ab]{13}[cd]" } : {};
        return [name(index), { type: "string", required: true, minLength: 1, maxLength: 60_000, ...bounded }];
      }),
    );
    const spread = (text: string): object =>
      Object.fromEntries(
        Array.from({ length: MAX_FIELDS }, (_, index) => [
          name(index),
          text.slice(index * 200, index * 200 + 200),
        ]),
      );
    const first = (text: string): object => ({ [name(0)]: text.slice(0, 60_000) });
    const names = Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [`x${index}`, 1]));
    const slowest = await measure(fields, { ab: scrambled("ab"), a: repeated("a") }, [
      spread,
      first,
      () => names,
    ]);
    expect(slowest.ms).toBeLessThanOrEqual(ANSWER_CPU_MS);
    report("the worst schema", { ...slowest });
  });
});

type Shape = (text: string) => object;

/** The answer that cost the server the most work. */
interface Slowest {
  readonly bodies: number;
  readonly ms: number;
  readonly text: string;
}

/** Posts every text in every shape. */
async function measure(
  schema: object,
  texts: Readonly<Record<string, string>>,
  shapes: readonly Shape[],
): Promise<Slowest> {
  const place = makeWorkplace();
  const { secret } = await createNumberEndpoint(place, schema);
  const server = await startServer(place, await freePort());
  const slow: { what: string; ms: number }[] = [];
  for (const [what, text] of Object.entries(texts)) {
    for (const [index, shape] of shapes.entries()) {
      const body = JSON.stringify(shape(text));
      let ms = await answerCpuMs(server, secret, body);
      // A code that was never run before, or a collection of garbage, is not what the text costs.
      for (let tries = 1; ms > ANSWER_CPU_MS && tries < MAX_TRIES; tries += 1) {
        ms = await answerCpuMs(server, secret, body);
      }
      slow.push({ what: `${what} in shape ${index}`, ms });
    }
  }
  slow.sort((a, b) => b.ms - a.ms);
  expect(await server.end("SIGTERM")).toBe(0);
  return { bodies: slow.length, ms: slow[0]?.ms ?? 0, text: slow[0]?.what ?? "" };
}

async function answerCpuMs(server: FaultServer, key: string, body: string): Promise<number> {
  const before = processorMs(server.pid);
  const answer = await fetch(`http://127.0.0.1:${server.port}/submit`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body,
  });
  await answer.arrayBuffer();
  expect([200, 400, 413, 429]).toContain(answer.status);
  return processorMs(server.pid) - before;
}
