import { connect } from "node:net";
import { expect, test } from "vitest";
import { emptyMachine } from "../support/operator-machine.ts";
import { extent, isShort, PATIENCE_MS, report } from "./extent.ts";
import { hostileBytes } from "./hostile-request.ts";
import { countUp, expectTaken, sendBurst } from "./poster.ts";
import { createNumberEndpoint, freePort, residentMb, startServer } from "./server.ts";
import { seededRandom } from "./seeded-random.ts";
import { readStored } from "./stored.ts";

const SEED = 5_092_026;
/** Every type, format and bound, with what a stranger's fields are called. */
const FIELDS = {
  n: { type: "number" },
  to: { type: "string", format: "email", maxLength: 200 },
  "n.n": { type: "string", format: "url" },
  toString: { type: "string", pattern: "^(a|aa)+[.@]*$", minLength: 1, default: "a" },
  constructor: { type: "array", items: { type: "string", enum: ["a", "=", "{"] }, maxItems: 3 },
  text: { type: "string", maxLength: 5000 },
  list: { type: "array", items: { type: "number", minimum: 0 } },
  deep: { type: "object", properties: { n: { type: "object", properties: { n: { type: "boolean" } } } } },
};
const CONNECTIONS = 32;
/** One in this number of sequences is sent twice, first over a connection that is reset. */
const RESET_EVERY = 5;
/** The server answers or closes long before; then the connection hangs, which is a defect. */
const HANG_MS = 60_000;
/** Beyond what a server has grown to by half of the requests; after some 20,000 it grows no more, which the short form does not reach. */
const GROWTH_MB = isShort ? 150 : 40;

test(
  "whatever strangers send, there is no 500, no crash, no hang and no growth",
  { timeout: PATIENCE_MS },
  async () => {
    const machine = emptyMachine();
    const keys = await createNumberEndpoint(machine, FIELDS);
    const server = await startServer(machine, await freePort(), {
      env: { FORMSVC_SERVER_REQUEST_TIMEOUT_MS: "5000" },
    });
    const statuses: Record<string, number> = {};
    const failures: string[] = [];
    const warmMb: number[] = [];
    let connections = 0;
    let requests = 0;
    const attack = async (): Promise<void> => {
      while (requests < extent.hostileRequests && failures.length < 5) {
        connections += 1;
        const mine = connections;
        if (warmMb.length === 0 && requests >= extent.hostileRequests / 2)
          warmMb.push(residentMb(server.pid));
        // Each from a seed of its own, so that one that fails is made again alone.
        const bytes = hostileBytes(keys, seededRandom(SEED + mine));
        if (mine % RESET_EVERY === 0) await breakOff(server.port, bytes, mine % (2 * RESET_EVERY) === 0);
        const answer = await exchange(server.port, bytes);
        const { answers, problem } = readStatuses(answer, statuses);
        requests += Math.max(answers, 1);
        if (problem !== null)
          failures.push(`${problem}: connection ${mine}: ${bytes.toString("latin1").slice(0, 2000)}`);
      }
    };
    await Promise.all(Array.from({ length: CONNECTIONS }, attack));
    expect(failures).toEqual([]);
    expect(server.process.exitCode).toBe(null);
    const grewMb = residentMb(server.pid) - (warmMb[0] ?? 0);
    expect(grewMb).toBeLessThan(GROWTH_MB);
    const numbers = countUp();
    expectTaken(await sendBurst({ port: server.port, key: keys.secret }, numbers, 20));
    expect(await server.end("SIGTERM")).toBe(0);
    expect(server.log()).not.toContain('"level":"error"');
    expect(server.stderr()).toBe("");
    readStored(machine.database);
    report("hostile requests", { requests, connections, "grew MB": grewMb, ...statuses });
  },
);

/** Sends the bytes and resets the connection, at once or when the answer begins: to the server, an error at any point. */
function breakOff(port: number, bytes: Buffer, atOnce: boolean): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: "127.0.0.1" });
    const reset = (): void => void socket.resetAndDestroy();
    socket.on("error", () => {});
    socket.on("close", () => resolve());
    socket.setTimeout(HANG_MS / 60, reset);
    socket.write(bytes, atOnce ? reset : undefined);
    socket.once("data", reset);
  });
}

/** Sends the bytes, then the end, and returns what came back; null if the server neither answered nor closed. */
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
function readStatuses(
  answer: string | null,
  statuses: Record<string, number>,
): { answers: number; problem: string | null } {
  if (answer === null) return { answers: 0, problem: "no answer and no end" };
  if (answer !== "" && !answer.startsWith("HTTP/1.1 "))
    return { answers: 0, problem: "an answer that is not HTTP" };
  const found = [...answer.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status = ""]) => status);
  for (const status of found) statuses[status] = (statuses[status] ?? 0) + 1;
  const broken = found.find((status) => Number(status) >= 500 && status !== "503");
  return {
    answers: found.filter((status) => status !== "100").length,
    problem: broken === undefined ? null : `an answer of ${broken}`,
  };
}
