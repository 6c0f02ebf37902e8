import type { Dispatcher } from "undici";
import type { ReceiverConnections, HttpSenderSettings } from "./receiver-connections.ts";
import { type ReceiverAnswer, OutgoingRequest } from "./outgoing-request.ts";

/** A reused connection that fails within this time had most likely been closed by the receiver already. */
const STALE_WITHIN_MS = 1000;
const STALE_CODES = new Set(["ECONNRESET", "EPIPE", "UND_ERR_SOCKET"]);

/** The parts of an address that a request needs. */
export interface Destination {
  readonly origin: string;
  /** The path with the query. */
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
  /** Whether the start of a successful answer is kept too: some services report a refusal there. */
  readonly keepsAnswer?: boolean;
}

/** The facts about one attempt, which `classify` reads. */
export type SendResult = AnswerFacts | ErrorFacts;

interface AnswerFacts extends ReceiverAnswer {
  readonly kind: "answer";
  readonly durationMs: number;
}

interface ErrorFacts {
  readonly kind: "error";
  /** A code of Node, OpenSSL or undici; `EDEADLINE`, `EBLOCKED` and `EINTERIM` are our own. */
  readonly code: string;
  readonly detail: string;
  readonly durationMs: number;
}

export interface HttpSender {
  /** Makes one attempt; never rejects. The deadline begins now, so call it only when a slot is free. */
  send(request: SendRequest): Promise<SendResult>;
  /** Ends every connection; attempts in flight end with the code `UND_ERR_DESTROYED`. */
  destroy(): Promise<void>;
}

/**
 * Sends over HTTP/1.1, and keeps connections alive. Webhooks that may reach private addresses have connections of their own: a connection
 * that was opened with this permission must never serve a webhook without it.
 */
export function createHttpSender(settings: HttpSenderSettings): HttpSender {
  const connections = new SenderConnections(settings);
  return {
    send: (request) => sendOnce(connections, request, settings.timeoutMs),
    destroy: () => connections.destroy(),
  };
}

/** Opens the connections with the first request, so that a server that sends none does not load undici, which takes 3 MB. */
class SenderConnections {
  readonly #settings: HttpSenderSettings;
  #opening: Promise<Record<"guarded" | "trusted", ReceiverConnections>> | null = null;
  #isDestroyed = false;

  constructor(settings: HttpSenderSettings) {
    this.#settings = settings;
  }

  async of({ allowPrivate }: SendRequest): Promise<ReceiverConnections> {
    const { guarded, trusted } = await (this.#opening ??= this.#open());
    return allowPrivate ? trusted : guarded;
  }

  async #open(): Promise<Record<"guarded" | "trusted", ReceiverConnections>> {
    const { allowed } = this.#settings;
    const { openConnections } = await import("./receiver-connections.ts");
    const opened = {
      guarded: openConnections({ allowed, allowPrivate: false }, this.#settings),
      trusted: openConnections({ allowed, allowPrivate: true }, this.#settings),
    };
    if (this.#isDestroyed) await destroyAll(opened);
    return opened;
  }

  /** Destroys the connections, also those that are opened later. */
  async destroy(): Promise<void> {
    this.#isDestroyed = true;
    if (this.#opening !== null) await destroyAll(await this.#opening);
  }
}

async function destroyAll({
  guarded,
  trusted,
}: Record<"guarded" | "trusted", ReceiverConnections>): Promise<void> {
  await Promise.all([guarded.agent.destroy(), trusted.agent.destroy()]);
}

async function sendOnce(
  connections: SenderConnections,
  request: SendRequest,
  timeoutMs: number,
): Promise<SendResult> {
  const deadline = new Deadline(timeoutMs);
  try {
    const answer = await sendRetryingStale(await connections.of(request), request, deadline);
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
 * Sends a request, and sends it once more over a new connection if a reused connection turned out to be closed. The receiver had answered
 * nothing, so this is not a failure of the receiver.
 */
async function sendRetryingStale(
  connections: ReceiverConnections,
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

/** The code nearest to the cause. An error that wraps others, like a failed race of addresses, has it further in. */
function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return "";
  if (error instanceof AggregateError && error.errors.length > 0) return codeOf(error.errors[0]);
  const { code } = error as NodeJS.ErrnoException;
  if (typeof code === "string" && code !== "") return code;
  return error.cause === undefined ? error.name : codeOf(error.cause);
}
