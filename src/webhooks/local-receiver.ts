import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Clock } from "../foundation/clock.ts";
import { listenFailure } from "../foundation/listen-failure.ts";
import { findSignatureProblem } from "./sign.ts";

/** How the receiver answers: `ok` with success, the others like a receiver that fails. */
export const BEHAVIOURS = ["ok", "error", "slow", "gone", "busy", "drop"] as const;
export type Behaviour = (typeof BEHAVIOURS)[number];

/** The status of each behaviour's answer; null if the connection is dropped instead. */
const STATUSES: Readonly<Record<Behaviour, number | null>> = {
  ok: 204,
  error: 500,
  slow: 204,
  gone: 410,
  busy: 429,
  drop: null,
};

/** A longer body is not kept; no delivery is so long. */
const BODY_MAX_BYTES = 4 * 1024 * 1024;
/** The wait of a `slow` receiver: longer than a sender waits. */
const SLOW_ANSWER_MS = 15_000;

export interface Arrival {
  /** The `webhook-id` header; empty if there is none. */
  readonly id: string;
  readonly body: Buffer;
  /** What is wrong with the signature; null if it is genuine, undefined if there is no secret to check it with. */
  readonly problem: string | null | undefined;
  /** The answer's status; null if the connection is dropped instead. */
  readonly status: number | null;
}

export interface LocalReceiverSettings {
  readonly host: string;
  /** The port to listen on; 0 chooses any free port. */
  readonly port: number;
  readonly keys: readonly Buffer[];
  readonly behaviour: Behaviour;
  /** The number of messages that it answers with the chosen behaviour, before it answers with success; may be infinite. */
  readonly times: number;
  /** The seconds that a `busy` receiver asks to wait. */
  readonly retryAfterSeconds: number;
  readonly clock: Clock;
  readonly onArrival: (arrival: Arrival) => void;
}

export interface LocalReceiver {
  readonly url: string;
  close(): Promise<void>;
}

/**
 * A local receiver to test webhooks with. It verifies messages, and answers with the chosen behaviour.
 *
 * @throws failed if the port is taken or not permitted.
 */
export async function startLocalReceiver(settings: LocalReceiverSettings): Promise<LocalReceiver> {
  let left = settings.times;
  const server = createServer((request, response) => {
    const behaviour = left > 0 ? settings.behaviour : "ok";
    left -= 1;
    receive(request, response, { ...settings, behaviour }).catch(() => request.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => {
      reject(listenFailure(error, `${settings.host}:${settings.port}`, "webhook_receiver"));
    });
    server.listen(settings.port, settings.host, resolve);
  });
  const { address, port, family } = server.address() as AddressInfo;
  return {
    url: `http://${family === "IPv6" ? `[${address}]` : address}:${port}/`,
    close: () => closeServer(server),
  };
}

async function receive(
  request: IncomingMessage,
  response: ServerResponse,
  settings: LocalReceiverSettings,
): Promise<void> {
  const body = await readBody(request);
  const header = (name: string): string => String(request.headers[name] ?? "");
  const id = header("webhook-id");
  const message = { id, timestamp: header("webhook-timestamp"), body };
  const problem =
    settings.keys.length === 0
      ? undefined
      : findSignatureProblem(message, header("webhook-signature"), settings.keys, settings.clock.now());
  const status = problem ? 401 : STATUSES[settings.behaviour];
  settings.onArrival({ id, body, problem, status });
  if (status === null) {
    request.destroy();
    return;
  }
  if (status === 429) response.setHeader("retry-after", settings.retryAfterSeconds);
  response.statusCode = status;
  if (settings.behaviour === "slow") setTimeout(() => response.end(), SLOW_ANSWER_MS).unref();
  else response.end();
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > BODY_MAX_BYTES) break;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

async function closeServer(server: Server): Promise<void> {
  server.closeAllConnections();
  await new Promise((resolve) => {
    server.close(resolve);
  });
}
