import { connect, type Socket } from "node:net";

/** What a crowd of clients, each with a connection of its own, met. */
export interface CrowdOutcome {
  /** Answers by status. */
  readonly statuses: Record<string, number>;
  /** Connections that ended without an answer. */
  refused: number;
  /** How long each accepted post took on a connection that was answered before, in milliseconds. */
  readonly acceptedMs: number[];
  /** The same for the first one of a connection: since it was made, its wait in the system's queue included. */
  readonly firstMs: number[];
}

const HEAD_END = Buffer.from("\r\n\r\n");
/** A client that is refused comes back after one to two of these. */
const PAUSE_MS = 1000;

/** Keeps `count` clients posting as fast as they are answered for `durationMs`; `next` renders each request. */
export async function sendCrowd(
  port: number,
  count: number,
  durationMs: number,
  next: () => string,
): Promise<CrowdOutcome> {
  const outcome: CrowdOutcome = { statuses: {}, refused: 0, acceptedMs: [], firstMs: [] };
  const endsAt = performance.now() + durationMs;
  await Promise.all(Array.from({ length: count }, () => new Client(port, endsAt, next, outcome).ended));
  return outcome;
}

class Client {
  readonly ended: Promise<void>;
  readonly #port: number;
  readonly #endsAt: number;
  readonly #next: () => string;
  readonly #outcome: CrowdOutcome;
  #end: () => void = () => {};
  #received: Buffer = Buffer.alloc(0);
  #sentAt = 0;
  #owed = false;
  #isFirst = true;

  constructor(port: number, endsAt: number, next: () => string, outcome: CrowdOutcome) {
    this.#port = port;
    this.#endsAt = endsAt;
    this.#next = next;
    this.#outcome = outcome;
    this.ended = new Promise((resolve) => (this.#end = resolve));
    this.#connect();
  }

  #connect(): void {
    const socket = connect({ port: this.#port, host: "127.0.0.1", noDelay: true });
    this.#owed = true;
    this.#isFirst = true;
    socket.on("connect", () => this.#send(socket));
    socket.on("data", (bytes: Buffer) => this.#receive(socket, bytes));
    socket.on("error", () => {});
    socket.on("close", () => {
      if (this.#owed) this.#outcome.refused += 1;
      this.#owed = false;
      this.#received = Buffer.alloc(0);
      this.#later(() => this.#connect());
    });
  }

  #send(socket: Socket): void {
    this.#owed = true;
    this.#sentAt = performance.now();
    socket.write(this.#next());
  }

  #receive(socket: Socket, bytes: Buffer): void {
    this.#received = Buffer.concat([this.#received, bytes]);
    const length = answerLength(this.#received);
    if (length === null || this.#received.length < length) return;
    const status = this.#received.toString("latin1", 9, 12);
    this.#received = this.#received.subarray(length);
    this.#owed = false;
    this.#outcome.statuses[status] = (this.#outcome.statuses[status] ?? 0) + 1;
    const times = this.#isFirst ? this.#outcome.firstMs : this.#outcome.acceptedMs;
    if (status === "200") times.push(performance.now() - this.#sentAt);
    this.#isFirst = false;
    if (performance.now() >= this.#endsAt) socket.destroy();
    else if (status === "200") this.#send(socket);
    else this.#later(() => void (socket.destroyed || this.#send(socket)));
  }

  #later(work: () => void): void {
    const pauseMs = PAUSE_MS * (1 + Math.random());
    if (performance.now() + pauseMs >= this.#endsAt) this.#end();
    else setTimeout(work, pauseMs);
  }
}

/** Bytes of the first answer in the buffer, or null while its head is incomplete. */
function answerLength(buffer: Buffer): number | null {
  const end = buffer.indexOf(HEAD_END);
  if (end === -1) return null;
  const length = /content-length: (\d+)/i.exec(buffer.toString("latin1", 0, end))?.[1] ?? "0";
  return end + HEAD_END.length + Number(length);
}

/** The value that a share of all values stays below. */
export function quantile(values: readonly number[], share: number): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length * share)] ?? 0;
}

/**
 * How long each of `count` clients waits for its first word, an answer or the end of its connection, in milliseconds,
 * when all connect at once and post again as soon as they are answered, until everybody has heard.
 */
export async function firstWords(port: number, count: number, request: string): Promise<number[]> {
  const sockets: Socket[] = [];
  let isOver = false;
  const waits = Array.from({ length: count }, () => {
    const startedAt = performance.now();
    const socket = connect({ port, host: "127.0.0.1" }, () => void socket.write(request));
    sockets.push(socket);
    return new Promise<number>((resolve) => {
      const hear = (): void => resolve(performance.now() - startedAt);
      socket.on("error", () => {});
      socket.on("close", hear);
      socket.on("data", () => {
        hear();
        if (!isOver) socket.write(request);
      });
    });
  });
  const heard = await Promise.all(waits);
  isOver = true;
  for (const socket of sockets) socket.destroy();
  return heard;
}
