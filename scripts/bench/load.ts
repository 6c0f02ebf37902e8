import { connect, type Socket } from "node:net";

/**
 * Generates load in its own process. It keeps `connections` sockets busy: each sends one prepared request again and again. It reports how
 * long the answers took. It reads only as much HTTP as servers need that send Content-Length.
 *
 * Usage: node load.ts PORT CONNECTIONS SECONDS [RATE] < request. RATE is the number of requests a second; without it, each socket sends
 * again at once. Prints one JSON object, see {@link LoadResult}.
 */
export interface LoadResult {
  readonly requestsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly requests: number;
  /** The number of answers by status. */
  readonly statuses: Readonly<Record<string, number>>;
}

const HEAD_END = Buffer.from("\r\n\r\n");

if (import.meta.main) {
  const [port = 0, connections = 0, seconds = 0, rate = Infinity] = process.argv.slice(2).map(Number);
  const request = await readAll(process.stdin);
  const result = await load({ port, connections, durationMs: seconds * 1000, rate, request });
  process.stdout.write(`${JSON.stringify(result)}\n`);
}

interface Load {
  readonly port: number;
  readonly connections: number;
  readonly durationMs: number;
  /** Requests a second of all sockets together. With infinity, a socket sends again as soon as its answer has come. */
  readonly rate: number;
  readonly request: Buffer;
}

async function load({ port, connections, durationMs, rate, request }: Load): Promise<LoadResult> {
  const latencies: number[] = [];
  const statuses: Record<string, number> = {};
  const startedAt = performance.now();
  const endsAt = startedAt + durationMs;
  const everyMs = (connections * 1000) / rate;
  await Promise.all(
    Array.from({ length: connections }, (_, index) => {
      let dueAt = startedAt + (index * everyMs) / connections;
      const record = (status: string, ms: number): number | null => {
        statuses[status] = (statuses[status] ?? 0) + 1;
        latencies.push(ms);
        dueAt += everyMs;
        return Math.max(dueAt, performance.now()) < endsAt ? dueAt : null;
      };
      return keepBusy(port, request, dueAt, record);
    }),
  );
  const elapsed = (performance.now() - startedAt) / 1000;
  latencies.sort((a, b) => a - b);
  const at = (share: number): number =>
    Math.round((latencies[Math.floor(latencies.length * share)] ?? 0) * 1000) / 1000;
  return {
    requestsPerSecond: Math.round(latencies.length / elapsed),
    p50Ms: at(0.5),
    p99Ms: at(0.99),
    requests: latencies.length,
    statuses,
  };
}

/** Keeps one connection busy. @param record records an answer, and returns the time at which the next request is due; null ends */
function keepBusy(
  port: number,
  request: Buffer,
  firstDueAt: number,
  record: (status: string, ms: number) => number | null,
): Promise<void> {
  return new Promise((resolve, reject) => {
    let received: Buffer = Buffer.alloc(0);
    let sentAt = 0;
    const send = (socket: Socket): void => {
      sentAt = performance.now();
      socket.write(request);
    };
    const sendAt = (socket: Socket, dueAt: number): void => {
      const waitMs = dueAt - performance.now();
      if (waitMs > 0) setTimeout(send, waitMs, socket);
      else send(socket);
    };
    const socket = connect({ port, host: "127.0.0.1", noDelay: true }, () => sendAt(socket, firstDueAt));
    socket.on("error", reject);
    socket.on("data", (chunk: Buffer) => {
      received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
      const length = answerLength(received);
      if (length === null || received.length < length) return;
      const status = received.toString("latin1", 9, 12);
      received = received.subarray(length);
      const dueAt = record(status, performance.now() - sentAt);
      if (dueAt !== null) return sendAt(socket, dueAt);
      socket.end();
      resolve();
    });
  });
}

/** The length of the first answer in the buffer, in bytes; null while its head is incomplete. */
function answerLength(buffer: Buffer): number | null {
  const end = buffer.indexOf(HEAD_END);
  if (end === -1) return null;
  const head = buffer.toString("latin1", 0, end).toLowerCase();
  const at = head.indexOf("content-length: ");
  return end + HEAD_END.length + (at === -1 ? 0 : Number.parseInt(head.slice(at + 16), 10));
}

async function readAll(stream: NodeJS.ReadableStream): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(Buffer.from(chunk as Uint8Array));
  return Buffer.concat(chunks);
}
