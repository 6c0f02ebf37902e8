import { isIP } from "node:net";
import type { Dispatcher } from "undici";
import buildConnector from "undici/lib/core/connect.js";
import Agent from "undici/lib/dispatcher/agent.js";
import Client from "undici/lib/dispatcher/client.js";
import Pool from "undici/lib/dispatcher/pool.js";
import { findRefusal, plainHost, type AllowedNetworks, type GuardPolicy } from "./address-guard.ts";
import { type ReceiverAnswer, OutgoingRequest } from "./outgoing-request.ts";
import { type IsOwnAddress, isOwnAddress, isWebPort, noOwnAddress } from "./own-address.ts";
import { createGuardedLookup, refusedAddress, type ResolveHost } from "./resolve-host.ts";
import { tolerateContinue } from "./tolerate-continue.ts";

/** An idle connection is kept this long unless the receiver names a shorter time. */
const KEEP_ALIVE_MS = 4000;
/** A receiver cannot make this side keep an idle connection for longer. */
const KEEP_ALIVE_MAX_MS = 60_000;
/** A reused connection that fails within this time had most likely been closed by the receiver before. */
const STALE_WITHIN_MS = 1000;
const STALE_CODES = new Set(["ECONNRESET", "EPIPE", "UND_ERR_SOCKET"]);

/** The parts of an address that a request needs. */
export interface Destination {
  readonly origin: string;
  /** With the query. */
  readonly path: string;
}

/** @param url normalised by `normalizeWebhookUrl`. */
export function destinationOf(url: string): Destination {
  const { origin, pathname, search } = new URL(url);
  return { origin, path: pathname + search };
}

export interface SendRequest {
  readonly destination: Destination;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  readonly allowPrivate: boolean;
  /** POST unless given. */
  readonly method?: "POST" | "PUT";
  /** Whether the start of a successful answer is kept too: some services say there that they refuse. */
  readonly keepsAnswer?: boolean;
}

/** The facts about one attempt; `classify` reads them. */
export type SendResult = AnswerFacts | ErrorFacts;

interface AnswerFacts extends ReceiverAnswer {
  readonly kind: "answer";
  readonly durationMs: number;
}

interface ErrorFacts {
  readonly kind: "error";
  /** Node's, OpenSSL's or undici's code; `EDEADLINE`, `EBLOCKED` and `EINTERIM` are ours. */
  readonly code: string;
  readonly detail: string;
  readonly durationMs: number;
}

export interface HttpSender {
  /** One attempt; never rejects. The deadline starts now, so call it when a slot is free. */
  send(request: SendRequest): Promise<SendResult>;
  /** Ends every connection; attempts in flight end with the code `UND_ERR_DESTROYED`. */
  destroy(): Promise<void>;
}

export interface HttpSenderSettings {
  readonly allowed: AllowedNetworks;
  /** For one whole attempt: looking up, connecting, sending, and the answer's head. */
  readonly timeoutMs: number;
  readonly resolveHost: ResolveHost;
  /** The machine's own answer unless given. */
  readonly isOwn?: IsOwnAddress;
}

/**
 * Sends over HTTP/1.1 with connections kept alive. Webhooks that may reach private addresses have connections of their own: a
 * connection that was opened with permission must never serve a webhook without it.
 */
export function createHttpSender(settings: HttpSenderSettings): HttpSender {
  const connections = {
    guarded: openConnections({ allowed: settings.allowed, allowPrivate: false }, settings),
    trusted: openConnections({ allowed: settings.allowed, allowPrivate: true }, settings),
  };
  return {
    send: (request) =>
      sendOnce(request.allowPrivate ? connections.trusted : connections.guarded, request, settings.timeoutMs),
    async destroy() {
      await Promise.all([connections.guarded.agent.destroy(), connections.trusted.agent.destroy()]);
    },
  };
}

interface Connections {
  readonly agent: Agent;
  /** A dispatcher that has no connection yet. */
  readonly openFresh: (origin: string) => Client;
}

function openConnections(policy: GuardPolicy, settings: HttpSenderSettings): Connections {
  const options = {
    connect: createGuardedConnector(policy, settings),
    pipelining: 1,
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_MAX_MS,
    // Both timers start anew with every byte; only the one deadline of the attempt counts.
    headersTimeout: 0,
    bodyTimeout: 0,
  };
  const openReuseAware = (origin: URL, clientOptions: object): Client =>
    new ReuseAwareClient(origin, clientOptions);
  const agent = new Agent({
    ...options,
    // No limit of connections: the caller holds a slot, and a queue in here would use up the attempt's time.
    factory: (origin) => new Pool(origin, { ...options, factory: openReuseAware }),
  });
  return { agent, openFresh: (origin) => new Client(origin, options) };
}

/** Refuses addresses after name resolution, and literals, which never reach a resolver; for http and https alike. */
function createGuardedConnector(policy: GuardPolicy, settings: HttpSenderSettings): buildConnector.connector {
  const { timeoutMs: timeout, resolveHost } = settings;
  const guardedBy = (isOwn: IsOwnAddress) => ({
    isOwn,
    connect: buildConnector({
      timeout,
      allowH2: false,
      lookup: createGuardedLookup(policy, resolveHost, isOwn),
    }),
  });
  const web = guardedBy(noOwnAddress);
  const other = guardedBy(settings.isOwn ?? isOwnAddress);
  return (options, callback) => {
    const host = plainHost(options.hostname);
    const { isOwn, connect } = isWebPort(options.port) ? web : other;
    const open = (): void =>
      connect(options, (...outcome) => {
        const [error, socket] = outcome;
        if (error === null) tolerateContinue(socket);
        callback(...outcome);
      });
    if (isIP(host) === 0) return open();
    const fail = (error: Error): void => callback(error, null);
    return void findRefusal(host, host, policy, isOwn)
      .then((refusal) => (refusal === null ? open() : fail(refusedAddress(host, host, refusal))))
      .catch(fail);
  };
}

/** Tells each request whether its connection is new or reused. */
class ReuseAwareClient extends Client {
  override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    if (handler instanceof OutgoingRequest) handler.isReused = this.stats.connected;
    return super.dispatch(options, handler);
  }
}

async function sendOnce(
  connections: Connections,
  request: SendRequest,
  timeoutMs: number,
): Promise<SendResult> {
  const deadline = new Deadline(timeoutMs);
  try {
    const answer = await sendRetryingStale(connections, request, deadline);
    return { kind: "answer", ...answer, durationMs: Math.round(deadline.elapsedMs) };
  } catch (error) {
    return { kind: "error", ...describeFailure(error), durationMs: Math.round(deadline.elapsedMs) };
  } finally {
    deadline.end();
  }
}

/** One deadline for all requests of an attempt. */
class Deadline {
  readonly #startedAt = performance.now();
  readonly #timer: NodeJS.Timeout;
  #covered: OutgoingRequest | null = null;
  #passed: Error | null = null;

  constructor(timeoutMs: number) {
    this.#timer = setTimeout(() => {
      const error = new Error(`no answer within ${timeoutMs} ms`);
      this.#passed = Object.assign(error, { code: "EDEADLINE" });
      this.#covered?.giveUp(this.#passed);
    }, timeoutMs);
  }

  get elapsedMs(): number {
    return performance.now() - this.#startedAt;
  }

  cover(request: OutgoingRequest): OutgoingRequest {
    this.#covered = request;
    if (this.#passed) request.giveUp(this.#passed);
    return request;
  }

  end(): void {
    clearTimeout(this.#timer);
  }
}

/**
 * A request is sent once more, over a new connection, if an idle connection turned out to be closed: the receiver answered
 * nothing, so this is not a failure of the receiver.
 */
async function sendRetryingStale(
  connections: Connections,
  request: SendRequest,
  deadline: Deadline,
): Promise<ReceiverAnswer> {
  const { destination, headers, body, method = "POST", keepsAnswer = false } = request;
  const options = { ...destination, method, headers, body };
  const begin = (dispatcher: Dispatcher): OutgoingRequest => {
    const running = deadline.cover(new OutgoingRequest(keepsAnswer));
    dispatcher.dispatch(options, running);
    return running;
  };
  const first = begin(connections.agent);
  try {
    return await first.answer;
  } catch (error) {
    const isSoon = deadline.elapsedMs < STALE_WITHIN_MS;
    if (!first.isReused || !isSoon || !STALE_CODES.has(codeOf(error))) throw error;
  }
  const fresh = connections.openFresh(destination.origin);
  const second = begin(fresh);
  void fresh.close();
  return second.answer;
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
