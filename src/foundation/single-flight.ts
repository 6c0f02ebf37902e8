/** Work of which one runs at a time for each key. Whoever asks meanwhile gets the result, or the error, of the one that runs. */
export class SingleFlight<Result = void> {
  readonly #running = new Map<string, Promise<Result>>();

  /** Whether any runs. */
  get isRunning(): boolean {
    return this.#running.size > 0;
  }

  /** @param key what the work is about; there is one work without it. */
  run(work: () => Promise<Result>, key = ""): Promise<Result> {
    const running = this.#running.get(key);
    if (running !== undefined) return running;
    const begun = begin(work).finally(() => this.#running.delete(key));
    this.#running.set(key, begun);
    return begun;
  }

  /** Resolves when what runs now has ended. Never rejects. */
  async settle(): Promise<void> {
    await Promise.allSettled(this.#running.values());
  }
}

/** What throws at once rejects too. */
async function begin<Result>(work: () => Promise<Result>): Promise<Result> {
  return work();
}
