import type { Dispatcher } from "undici";

/** The largest number of bytes of an answer's body that are read; then the connection is closed. */
const ANSWER_READ_BYTES = 4096;
/** The largest number of bytes of a failure's body that are kept, to show them to the owner. */
const ANSWER_KEPT_BYTES = 1024;
/** The longest time that the rest of an answer may keep a slot. The outcome is already known from the status line. */
const BODY_WAIT_MS = 1000;
/** The largest number of interim answers, like `103 Early Hints`, before the final one. A receiver that sends more has failed. */
const MAX_INTERIM_ANSWERS = 256;

/** A receiver's answer. */
export interface ReceiverAnswer {
  readonly status: number;
  readonly retryAfter: string | null;
  readonly location: string | null;
  /** Up to {@link ANSWER_KEPT_BYTES} of the body; empty for a 2xx unless `keepsAnswer` was set. */
  readonly bodyStart: string;
}

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/**
 * One request, as a handler that undici calls back. This takes a third of the processor time of undici's own promise and stream for an
 * answer, and reads no more of the answer than is kept.
 */
export class OutgoingRequest implements Dispatcher.DispatchHandler {
  /** Whether the request went out on a reused connection. */
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

  /** Ends the wait now. If the request still waits for a connection, it ends when undici comes to it. */
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

  /** Limits the time for the body. A body that comes in one piece with its head, as most do, needs no timer. */
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
