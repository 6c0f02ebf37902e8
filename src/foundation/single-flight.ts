/** Runs one work at a time for each key. A call while one is running gets the result, or the error, of the running one. */
export class SingleFlight<Result = void> {
  readonly #running = new Map<string, Promise<Result>>();

  /** Whether any work is running. */
  get isRunning(): boolean {
    return this.#running.size > 0;
  }

  /** @param key what the work is about; calls without one share a single work. */
  run(work: () => Promise<Result>, key = ""): Promise<Result> {
    const running = this.#running.get(key);
    if (running !== undefined) return running;
    const begun = begin(work).finally(() => this.#running.delete(key));
    this.#running.set(key, begun);
    return begun;
  }

  /** Resolves when the work that is running now has ended. Never rejects. */
  async settle(): Promise<void> {
    await Promise.allSettled(this.#running.values());
  }
}

/** Turns an error that the work throws synchronously into a rejection. */
async function begin<Result>(work: () => Promise<Result>): Promise<Result> {
  return work();
}
