import { spawn } from "node:child_process";
import { closeSync, existsSync, openSync, readdirSync, readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { constants } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import SqliteDatabase from "better-sqlite3";
import { expect, onTestFinished, test } from "vitest";
import { type OperatorMachine, emptyMachine } from "../support/operator-machine.ts";
import { examplePost, tryPost } from "../support/posts.ts";
import { executable, whenEnded } from "../support/program.ts";
import type { RunningServer } from "../support/running-server.ts";
import { until } from "../support/until.ts";

const UNLIMITED = {
  FORMSVC_RATE_LIMIT_SECRET_MAX: "null",
  FORMSVC_PLANS_HOBBY_MONTHLY_SUBMISSIONS: "null",
};
const CLIENTS = 32;

function storedIds(machine: OperatorMachine): Set<string> {
  const connection = new SqliteDatabase(machine.database, { readonly: true });
  try {
    return new Set(connection.prepare("SELECT id FROM submission").pluck().all() as string[]);
  } finally {
    connection.close();
  }
}

interface Posting {
  /** Ids that were acknowledged so far. */
  readonly acknowledged: string[];
  /** Statuses that were not 200. */
  readonly others: number[];
  /** Resolves when the server takes no more. */
  readonly done: Promise<unknown>;
}

/** Posts at full speed until the server is gone; resolves once the first post is acknowledged. */
async function startPosting(server: RunningServer, key: string): Promise<Posting> {
  const acknowledged: string[] = [];
  const others: number[] = [];
  const client = async (): Promise<void> => {
    for (;;) {
      const answer = await tryPost(server.url, key).catch(() => null);
      const body = (await answer?.json().catch(() => null)) as { submission_id?: string } | null | undefined;
      if (answer === null || !body) return;
      if (answer.status === 200) acknowledged.push(body.submission_id!);
      else others.push(answer.status);
      if (answer.status === 503) return;
    }
  };
  const done = Promise.all(Array.from({ length: CLIENTS }, client));
  await until(() => acknowledged.length > 0);
  return { acknowledged, others, done };
}

test("on SIGTERM, SIGINT and SIGHUP during posts what is stored is exactly what was answered, and the file is left whole", async () => {
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) {
    const machine = emptyMachine();
    const keys = await machine.createEndpoint();
    const server = await machine.serve({ env: UNLIMITED });
    const { acknowledged, others, done } = await startPosting(server, keys.secret);
    await sleep(50);
    server.process.kill(signal);
    await done;
    expect(await server.ended).toBe(0);
    expect(others.filter((status) => status !== 503)).toEqual([]);
    expect(existsSync(`${machine.database}-wal`)).toBe(false);
    expect(storedIds(machine)).toEqual(new Set(acknowledged));
    expect(server.log()).toContain('"event":"server.stopped"');
    expect(server.stderr()).toBe("");
  }
});

interface HalfPost {
  readonly socket: Socket;
  readonly received: () => string;
  finish(): void;
}

/** A post whose headers arrived and whose body is still on its way. */
async function beginPost(server: RunningServer, key: string): Promise<HalfPost> {
  const { hostname, port } = new URL(server.url);
  const socket = connect(Number(port), hostname);
  let received = "";
  socket.setEncoding("utf8").on("data", (text: string) => (received += text));
  socket.on("error", () => {});
  const body = JSON.stringify(examplePost);
  socket.write(
    `POST /submit HTTP/1.1\r\nHost: ${hostname}\r\nAuthorization: Bearer ${key}\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body.slice(0, 5)}`,
  );
  // Connections are served in order: once this one's answer is there, the half post before it was taken.
  await fetch(`${server.url}/healthz`).then((answer) => answer.arrayBuffer());
  await sleep(50);
  return { socket, received: () => received, finish: () => void socket.write(body.slice(5)) };
}

test("a post that was under way at SIGTERM is answered, a new one refused, and idle connections hold nothing up", async () => {
  const machine = emptyMachine();
  const keys = await machine.createEndpoint();
  const server = await machine.serve({ env: UNLIMITED });
  expect((await tryPost(server.url, keys.secret)).status).toBe(200);
  const half = await beginPost(server, keys.secret);
  server.process.kill("SIGTERM");
  await until(() => server.log().includes("server.stopping"));
  const late = await tryPost(server.url, keys.secret).then(
    ({ status }) => status,
    () => "refused",
  );
  expect([503, "refused"]).toContain(late);
  expect(server.process.exitCode).toBeNull();
  half.finish();
  await until(() => half.received().includes("submission_id"));
  expect(half.received()).toMatch(/^HTTP\/1\.1 200 /);
  // The client keeps its connection open, which holds nothing up.
  expect(await server.ended).toBe(0);
  expect(server.log()).not.toContain("grace-over");
  expect(storedIds(machine).size).toBe(2);
});

test("a post that never ends is cut off when the grace is over, and the exit code is still 0", async () => {
  const machine = emptyMachine();
  const keys = await machine.createEndpoint();
  const server = await machine.serve({ env: { ...UNLIMITED, FORMSVC_SERVER_SHUTDOWN_GRACE_MS: "300" } });
  const half = await beginPost(server, keys.secret);
  server.process.kill("SIGTERM");
  expect(await server.ended).toBe(0);
  expect(half.received()).not.toContain(" 200 ");
  expect(server.log()).toContain('"event":"server.grace-over"');
  expect(existsSync(`${machine.database}-wal`)).toBe(false);
});

test.skipIf(process.platform !== "linux")(
  "a tunnel is refused and closed, however much comes after it and even if the client keeps it open, and delays no stop",
  async () => {
    const machine = emptyMachine();
    const server = await machine.serve({ env: UNLIMITED });
    const descriptors = (): number => readdirSync(`/proc/${server.process.pid}/fd`).length;
    const before = descriptors();
    for (const rest of ["", "x".repeat(100_000)]) {
      const tunnels = Array.from({ length: 20 }, () => openTunnel(server, rest));
      await Promise.all(tunnels.map(({ answered }) => answered));
      await until(() => descriptors() <= before);
    }
    openTunnel(server, "x".repeat(100_000));
    server.process.kill("SIGTERM");
    expect(await server.ended).toBe(0);
  },
);

test("clients that ask for a tunnel and reset the connection, before their answer or after it, end nothing", async () => {
  const machine = emptyMachine();
  const keys = await machine.createEndpoint();
  const server = await machine.serve({ env: UNLIMITED });
  for (let round = 0; round < 20; round += 1) {
    const { hostname, port } = new URL(server.url);
    const socket = connect(Number(port), hostname);
    socket.on("error", () => {});
    const closed = new Promise((resolve) => socket.once("close", resolve));
    const reset = (): void => void socket.resetAndDestroy();
    socket.write("CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n", round % 2 === 0 ? reset : undefined);
    socket.once("data", reset);
    await closed;
  }
  expect((await tryPost(server.url, keys.secret)).status).toBe(200);
  server.process.kill("SIGTERM");
  expect(await server.ended).toBe(0);
});

/** A client that asks for a tunnel, sends more at once and never closes. */
function openTunnel(server: RunningServer, rest: string): { readonly answered: Promise<void> } {
  const { hostname, port } = new URL(server.url);
  const socket = connect({ port: Number(port), host: hostname, allowHalfOpen: true });
  socket.write(`CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n${rest}`);
  socket.on("error", () => {});
  onTestFinished(() => void socket.destroy());
  return {
    answered: new Promise((resolve) => {
      socket.once("data", () => resolve());
      socket.once("close", () => resolve());
    }),
  };
}

test("a second signal ends the server at once", async () => {
  const machine = emptyMachine();
  const keys = await machine.createEndpoint();
  const server = await machine.serve({ env: UNLIMITED });
  await beginPost(server, keys.secret);
  server.process.kill("SIGTERM");
  await until(() => server.log().includes("server.stopping"));
  server.process.kill("SIGTERM");
  expect(await server.ended).toBe(1);
});

const { SIGUSR1 } = constants.signals;

function isBlocked(pid: number | undefined, signal: number): boolean {
  const [, blocked = "0"] = /^SigBlk:\s*(\w+)$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return ((Number.parseInt(blocked.slice(-8), 16) >>> (signal - 1)) & 1) === 1;
}

test.skipIf(process.platform !== "linux")(
  "SIGUSR1 opens no debugger, and neither it nor SIGUSR2 ends a server, however early",
  async () => {
    const machine = emptyMachine();
    const server = await machine.serve();
    for (const signal of ["SIGUSR1", "SIGUSR2", "SIGUSR1", "SIGUSR2"] as const) {
      server.process.kill(signal);
      await sleep(100);
    }
    expect((await fetch(`${server.url}/readyz`)).status).toBe(200);
    expect(server.stderr()).toBe("");
    const starting = machine.start(["submission", "tail", "--follow"]);
    let complaint = "";
    starting.stderr?.setEncoding("utf8").on("data", (text: string) => (complaint += text));
    // From the moment on when the runtime has read its own flags, before any line of the program.
    await until(() => isBlocked(starting.pid, SIGUSR1));
    for (let time = 0; time < 50; time += 1) {
      starting.kill("SIGUSR1");
      await sleep(10);
    }
    expect([starting.exitCode, starting.signalCode]).toEqual([null, null]);
    expect(complaint).not.toContain("Debugger");
  },
);

test.skipIf(process.platform !== "linux")(
  "a server under nohup outlives its terminal, and still stops on SIGTERM",
  async () => {
    const machine = emptyMachine();
    // The input that nohup gives if it was a terminal.
    const input = openSync("/dev/null", "w");
    const child = spawn(executable, ["serve", "--port", "0"], {
      cwd: machine.folder,
      env: {},
      stdio: [input, "pipe", "inherit"],
    });
    closeSync(input);
    onTestFinished(() => void child.kill("SIGKILL"));
    let log = "";
    child.stdout?.setEncoding("utf8").on("data", (text: string) => (log += text));
    const url = await until(() => /"url":"(http[^"]+)"/.exec(log)?.[1]);
    child.kill("SIGHUP");
    await sleep(200);
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
    child.kill("SIGTERM");
    expect(await whenEnded(child)).toBe(0);
    expect(log).toContain('"signal":"SIGTERM"');
  },
);
