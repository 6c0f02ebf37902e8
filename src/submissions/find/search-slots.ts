import { FormsvcError } from "../../foundation/errors.ts";

/** The account or client that a search runs for. */
export interface Asker {
  /** The id of an account, or another text that identifies the client. */
  readonly name: string;
  /** Aborted when nobody waits for the answer any more. */
  readonly gone: AbortSignal;
}

/** The largest number of searches at a time, each of another account: they share the processor time that posts leave. */
const MAX_SEARCHES = 2;
/** The largest numbers of waiting searches, of one account and of all accounts. Further searches are refused at once. */
const MAX_WAITING_OF_ONE = 3;
const MAX_WAITING = 100;
const LONGEST_WAIT_MS = 10_000;

interface Waiting {
  readonly name: string;
  readonly admit: () => void;
}

/** Slots for work that looks at submissions one by one, so that one account cannot keep all others from searching. */
export class SearchSlots {
  readonly #searching = new Set<string>();
  readonly #waiting: Waiting[] = [];

  /**
   * Runs the work when there is a slot.
   *
   * @throws rate_limited if three searches of the same account wait, or its own search lasts too long; unavailable if too many wait, or
   * searches of others last too long; the reason of `gone`.
   */
  async run<Result>(asker: Asker, work: () => Promise<Result>): Promise<Result> {
    await this.#enter(asker);
    try {
      return await work();
    } finally {
      this.#searching.delete(asker.name);
      this.#admitNext();
    }
  }

  /** Takes a slot anew for each part of a stream, so that a slow reader holds no slot between the parts. */
  async *runEach<Part>(asker: Asker, parts: AsyncGenerator<Part>): AsyncGenerator<Part> {
    for (;;) {
      const part = await this.run(asker, () => parts.next());
      if (part.done === true) return;
      yield part.value;
    }
  }

  #hasSlot(name: string): boolean {
    return this.#searching.size < MAX_SEARCHES && !this.#searching.has(name);
  }

  async #enter({ name, gone }: Asker): Promise<void> {
    gone.throwIfAborted();
    if (!this.#hasSlot(name)) await this.#wait(name, gone);
    else this.#searching.add(name);
  }

  #wait(name: string, gone: AbortSignal): Promise<void> {
    if (this.#waiting.filter((each) => each.name === name).length >= MAX_WAITING_OF_ONE) throw ownGoesOn();
    if (this.#waiting.length >= MAX_WAITING) throw othersGoOn();
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        clearTimeout(limit);
        gone.removeEventListener("abort", giveUp);
        this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
      };
      const refuse = (reason: unknown): void => {
        leave();
        reject(reason);
      };
      const giveUp = (): void => refuse(gone.reason);
      const waiting: Waiting = {
        name,
        admit: () => {
          leave();
          this.#searching.add(name);
          resolve();
        },
      };
      const limit = setTimeout(
        () => refuse(this.#searching.has(name) ? ownGoesOn() : othersGoOn()),
        LONGEST_WAIT_MS,
      );
      gone.addEventListener("abort", giveUp);
      this.#waiting.push(waiting);
    });
  }

  #admitNext(): void {
    this.#waiting.find(({ name }) => this.#hasSlot(name))?.admit();
  }
}

function ownGoesOn(): FormsvcError {
  return new FormsvcError(
    "rate_limited",
    "another search of yours goes on; wait until it has ended, or close its page, and try again",
    { retryAfterSeconds: 5 },
  );
}

function othersGoOn(): FormsvcError {
  return new FormsvcError("unavailable", "searches of others go on; try again shortly", {
    retryAfterSeconds: 5,
  });
}
