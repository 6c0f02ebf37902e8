import type { Dispatcher } from "undici";

/** Bytes of an answer's body that are read before the connection is given up. */
const ANSWER_READ_BYTES = 4096;
/** Bytes of a failure's body that are kept to show the owner. */
const ANSWER_KEPT_BYTES = 1024;
/** The outcome is known with the status line; this is the longest time that the rest may keep a slot. */
const BODY_WAIT_MS = 1000;
/** The largest number of answers like `103 Early Hints` before the final one; a receiver that sends more has failed. */
const MAX_INTERIM_ANSWERS = 256;

/** A receiver's answer. */
export interface ReceiverAnswer {
  readonly status: number;
  readonly retryAfter: string | null;
  readonly location: string | null;
  /** Up to {@link ANSWER_KEPT_BYTES} of the body; empty for a 2xx, unless it was to be kept. */
  readonly bodyStart: string;
}

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/**
 * One request on its way, which undici calls back. This takes a third of the processor time of undici's own promise and stream
 * for an answer, and reads no more of the answer than is kept.
 */
export class OutgoingRequest implements Dispatcher.DispatchHandler {
  /** Whether the request went out on a connection that had served before. */
  isReused = false;
  readonly #outcome = Promise.withResolvers<ReceiverAnswer>();
  #controller: Dispatcher.DispatchController | null = null;
  #head: { readonly status: number; readonly headers: Headers } | null = null;
  readonly #chunks: Buffer[] = [];
  #size = 0;
  #bodyTimer: NodeJS.Timeout | undefined;
  #hasEnded = false;
  #givenUp: Error | null = null;
  #interimAnswers = 0;
  readonly #keepsAnswer: boolean;

  /** @param keepsAnswer whether the start of a successful answer is kept too. */
  constructor(keepsAnswer = false) {
    this.#keepsAnswer = keepsAnswer;
  }

  /** Settles with the status line and the start of the body; errors after that change nothing. */
  get answer(): Promise<ReceiverAnswer> {
    return this.#outcome.promise;
  }

  /** Ends the wait now. A request that still waits for its connection ends when undici comes to it. */
  giveUp(reason: Error): void {
    this.#givenUp = reason;
    if (this.#head) this.#finish(this.#head);
    else this.#outcome.reject(reason);
    this.#controller?.abort(reason);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#givenUp) controller.abort(this.#givenUp);
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: Headers): void {
    if (status < 200) {
      this.#interimAnswers += 1;
      if (this.#interimAnswers > MAX_INTERIM_ANSWERS) this.giveUp(endlessInterimAnswers());
      return;
    }
    this.#head = { status, headers };
    queueMicrotask(() => this.#limitBody());
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#size += chunk.length;
    if (this.#size >= ANSWER_READ_BYTES) this.giveUp(new Error("enough of the body was read"));
  }

  onResponseEnd(): void {
    if (this.#head) this.#finish(this.#head);
  }

  onResponseError(_: unknown, error: Error): void {
    if (this.#head) this.#finish(this.#head);
    else this.#outcome.reject(error);
  }

  /** A body usually comes in one piece with its head, and then needs no timer. */
  #limitBody(): void {
    if (this.#hasEnded) return;
    this.#bodyTimer = setTimeout(() => this.giveUp(new Error("the body takes too long")), BODY_WAIT_MS);
  }

  #finish({ status, headers }: { readonly status: number; readonly headers: Headers }): void {
    this.#hasEnded = true;
    clearTimeout(this.#bodyTimer);
    this.#outcome.resolve({
      status,
      retryAfter: firstValue(headers["retry-after"]),
      location: firstValue(headers["location"]),
      bodyStart:
        isSuccess(status) && !this.#keepsAnswer
          ? ""
          : Buffer.concat(this.#chunks).toString("utf8", 0, ANSWER_KEPT_BYTES),
    });
  }
}

function endlessInterimAnswers(): Error {
  const error = new Error(`more than ${MAX_INTERIM_ANSWERS} interim answers (1xx) and no other`);
  return Object.assign(error, { code: "EINTERIM" });
}

function firstValue(header: string | string[] | undefined): string | null {
  return (Array.isArray(header) ? header[0] : header) ?? null;
}

/** Whether a status means that the message arrived. */
export function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}
