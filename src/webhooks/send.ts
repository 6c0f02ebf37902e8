import { isIP } from "node:net";
import pRetry from "p-retry";
import { Agent, Client, Pool, buildConnector, type Dispatcher } from "undici";
import { findAddressRefusal, plainHost, type AllowedNetworks, type GuardPolicy } from "./address-guard.ts";
import { createGuardedLookup, refusedAddress, type ResolveHost } from "./resolve-host.ts";

/** So much of an answer's body is read before the connection is given up. */
const ANSWER_READ_BYTES = 4096;
/** So much of a failure's body is kept to show the owner. */
const ANSWER_KEPT_BYTES = 1024;
/** The verdict is known with the status line; this is how long the rest may hold on to a slot. */
const BODY_WAIT_MS = 1000;
/** An idle connection is kept this long unless the receiver names a shorter time. */
const KEEP_ALIVE_MS = 4000;
/** A receiver cannot make this side keep an idle connection for longer. */
const KEEP_ALIVE_MAX_MS = 60_000;
/** A reused connection that fails within this time had most likely been closed by the receiver before. */
const STALE_WITHIN_MS = 1000;
const STALE_CODES = new Set(["ECONNRESET", "EPIPE", "UND_ERR_SOCKET"]);

export interface SendRequest {
  /** Normalised by `normalizeWebhookUrl`. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  readonly allowPrivate: boolean;
}

/** What came of one attempt, as plain facts; `classify` judges them. */
export type SendResult = AnswerFacts | ErrorFacts;

interface AnswerFacts {
  readonly kind: "answer";
  readonly status: number;
  readonly retryAfter: string | null;
  readonly location: string | null;
  /** Up to {@link ANSWER_KEPT_BYTES} of the body; empty for a 2xx. */
  readonly bodyStart: string;
  readonly durationMs: number;
}

interface ErrorFacts {
  readonly kind: "error";
  /** Node's, OpenSSL's or undici's code; `EDEADLINE` and `EBLOCKED` are ours. */
  readonly code: string;
  readonly detail: string;
  readonly durationMs: number;
}

export interface Sender {
  /** One attempt; never rejects. The deadline starts now, so call it when a slot is free. */
  send(request: SendRequest): Promise<SendResult>;
  /** Ends every connection; attempts in flight end with the code `UND_ERR_DESTROYED`. */
  destroy(): Promise<void>;
}

export interface SenderSettings {
  readonly allowed: AllowedNetworks;
  /** For one whole attempt: looking up, connecting, sending, and the answer's head. */
  readonly timeoutMs: number;
  readonly resolveHost: ResolveHost;
}

/** Told by {@link ReuseAwareClient} on which kind of connection a request went out. */
interface Connection {
  isReused: boolean;
}

/**
 * Sends over HTTP/1.1 with connections kept alive. Webhooks that may reach private addresses have connections of their
 * own: one that was opened with permission must never serve a webhook without.
 */
export function createSender(settings: SenderSettings): Sender {
  const lanes = {
    guarded: createLane({ allowed: settings.allowed, allowPrivate: false }, settings),
    trusted: createLane({ allowed: settings.allowed, allowPrivate: true }, settings),
  };
  return {
    send: (request) =>
      sendOnce(request.allowPrivate ? lanes.trusted : lanes.guarded, request, settings.timeoutMs),
    async destroy() {
      await Promise.all([lanes.guarded.agent.destroy(), lanes.trusted.agent.destroy()]);
    },
  };
}

interface Lane {
  readonly agent: Agent;
  /** A dispatcher that has no connection yet. */
  readonly openFresh: (origin: string) => Client;
}

function createLane(policy: GuardPolicy, settings: SenderSettings): Lane {
  const options = {
    connect: createGuardedConnector(policy, settings),
    pipelining: 1,
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_MAX_MS,
    // Both timers start anew with every byte; the one deadline of the attempt is what counts.
    headersTimeout: 0,
    bodyTimeout: 0,
  };
  const openReuseAware = (origin: URL, clientOptions: object): Client =>
    new ReuseAwareClient(origin, clientOptions);
  const agent = new Agent({
    ...options,
    // No limit of connections: whoever calls holds a slot, and a queue in here would eat the attempt's time.
    factory: (origin) => new Pool(origin, { ...options, factory: openReuseAware }),
  });
  return { agent, openFresh: (origin) => new Client(origin, options) };
}

/** Refuses addresses after name resolution, and literals, which never reach a resolver; for http and https alike. */
function createGuardedConnector(policy: GuardPolicy, settings: SenderSettings): buildConnector.connector {
  const lookup = createGuardedLookup(policy, settings.resolveHost);
  const connect = buildConnector({ timeout: settings.timeoutMs, allowH2: false, lookup });
  return (options, callback) => {
    const host = plainHost(options.hostname);
    const refusal = isIP(host) === 0 ? null : findAddressRefusal(host, host, policy);
    if (refusal === null) connect(options, callback);
    else callback(refusedAddress(host, host, refusal), null);
  };
}

class ReuseAwareClient extends Client {
  override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    const { opaque } = options as Dispatcher.RequestOptions<Connection>;
    if (opaque) opaque.isReused = this.stats.connected;
    return super.dispatch(options, handler);
  }
}

async function sendOnce(lane: Lane, request: SendRequest, timeoutMs: number): Promise<SendResult> {
  const startedAt = performance.now();
  const duration = (): number => Math.round(performance.now() - startedAt);
  const controller = new AbortController();
  const deadline = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    const error = Object.assign(new Error(`no answer within ${timeoutMs} ms`), { code: "EDEADLINE" });
    controller.abort(error);
    // undici does not let go of a request that still waits for its connection, so the wait is ended here.
    deadline.reject(error);
  }, timeoutMs);
  try {
    const response = requestWithFreeRetry(lane, request, controller.signal);
    const answer = await Promise.race([response, deadline.promise]);
    return { kind: "answer", ...(await readAnswer(answer)), durationMs: duration() };
  } catch (error) {
    return { kind: "error", ...describeFailure(error), durationMs: duration() };
  } finally {
    clearTimeout(timer);
  }
}

/**
 * A request goes out once more, over a new connection, when a connection that had been idle turned out to be closed: the
 * receiver answered nothing, so this is no failure of its own.
 */
function requestWithFreeRetry(
  lane: Lane,
  request: SendRequest,
  signal: AbortSignal,
): Promise<Dispatcher.ResponseData<unknown>> {
  const { origin, pathname, search } = new URL(request.url);
  const connection: Connection = { isReused: false };
  const { headers, body } = request;
  const options = { path: pathname + search, method: "POST", headers, body, signal } as const;
  const startedAt = performance.now();
  return pRetry(
    async (attemptNumber) => {
      if (attemptNumber === 1) return lane.agent.request({ ...options, origin, opaque: connection });
      const fresh = lane.openFresh(origin);
      const response = await fresh.request(options).finally(() => void fresh.close());
      return response;
    },
    {
      retries: 1,
      minTimeout: 0,
      signal,
      shouldRetry: ({ error }) =>
        connection.isReused &&
        STALE_CODES.has(codeOf(error)) &&
        performance.now() - startedAt < STALE_WITHIN_MS,
    },
  );
}

async function readAnswer(
  response: Dispatcher.ResponseData<unknown>,
): Promise<Omit<AnswerFacts, "kind" | "durationMs">> {
  const { statusCode: status, headers, body } = response;
  const start = await readStart(body);
  const isSuccess = status >= 200 && status < 300;
  return {
    status,
    retryAfter: firstValue(headers["retry-after"]),
    location: firstValue(headers["location"]),
    bodyStart: isSuccess ? "" : start.subarray(0, ANSWER_KEPT_BYTES).toString("utf8"),
  };
}

/** The first bytes of a body. Whatever goes wrong with the rest of it changes nothing any more. */
function readStart(body: Dispatcher.ResponseData["body"]): Promise<Buffer> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const timer = setTimeout(() => body.destroy(), BODY_WAIT_MS);
    const finish = (): void => {
      clearTimeout(timer);
      resolve(Buffer.concat(chunks));
    };
    body.on("data", (chunk: Buffer) => {
      chunks.push(chunk);
      size += chunk.length;
      if (size >= ANSWER_READ_BYTES) body.destroy();
    });
    body.on("error", () => body.destroy());
    body.on("end", finish);
    body.on("close", finish);
  });
}

function firstValue(header: string | string[] | undefined): string | null {
  return (Array.isArray(header) ? header[0] : header) ?? null;
}

function describeFailure(error: unknown): Pick<ErrorFacts, "code" | "detail"> {
  const detail = error instanceof Error ? error.message : String(error);
  return { code: codeOf(error), detail };
}

/** The code nearest to the cause: a failed race of addresses and a wrapped error hold it further in. */
function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return "";
  if (error instanceof AggregateError && error.errors.length > 0) return codeOf(error.errors[0]);
  const { code } = error as NodeJS.ErrnoException;
  if (typeof code === "string" && code !== "") return code;
  return error.cause === undefined ? error.name : codeOf(error.cause);
}
