import { connect, type Socket } from "node:net";

/**
 * A load generator in a process of its own: keeps `connections` sockets busy with one prepared request each, over and
 * over, and reports how long answers took. It reads just enough HTTP for servers that send Content-Length.
 *
 * Usage: node load.ts PORT CONNECTIONS SECONDS < request; prints one JSON object, see {@link LoadResult}.
 */
export interface LoadResult {
  readonly requestsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly requests: number;
  /** Answers by status. */
  readonly statuses: Readonly<Record<string, number>>;
}

const HEAD_END = Buffer.from("\r\n\r\n");

if (import.meta.main) {
  const [port = "", connections = "", seconds = ""] = process.argv.slice(2);
  const request = await readAll(process.stdin);
  const result = await load(Number(port), Number(connections), Number(seconds) * 1000, request);
  process.stdout.write(`${JSON.stringify(result)}\n`);
}

async function load(
  port: number,
  connections: number,
  durationMs: number,
  request: Buffer,
): Promise<LoadResult> {
  const latencies: number[] = [];
  const statuses: Record<string, number> = {};
  const startedAt = performance.now();
  const endsAt = startedAt + durationMs;
  const record = (status: string, ms: number): boolean => {
    statuses[status] = (statuses[status] ?? 0) + 1;
    latencies.push(ms);
    return performance.now() < endsAt;
  };
  await Promise.all(Array.from({ length: connections }, () => keepBusy(port, request, record)));
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

function keepBusy(
  port: number,
  request: Buffer,
  record: (status: string, ms: number) => boolean,
): Promise<void> {
  return new Promise((resolve, reject) => {
    let received: Buffer = Buffer.alloc(0);
    let sentAt = 0;
    const send = (socket: Socket): void => {
      sentAt = performance.now();
      socket.write(request);
    };
    const socket = connect({ port, host: "127.0.0.1", noDelay: true }, () => send(socket));
    socket.on("error", reject);
    socket.on("data", (chunk: Buffer) => {
      received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
      const length = answerLength(received);
      if (length === null || received.length < length) return;
      const status = received.toString("latin1", 9, 12);
      received = received.subarray(length);
      if (record(status, performance.now() - sentAt)) return send(socket);
      socket.end();
      resolve();
    });
  });
}

/** Bytes of the first answer in the buffer, or null while its head is incomplete. */
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
