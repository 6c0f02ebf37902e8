/** Attempts under way, by the names that a slot is counted under: a transport, a place and a recipient each have one. */
export class Slots {
  readonly #taken: Map<string, number>;

  constructor(taken: Iterable<readonly [name: string, count: number]> = []) {
    this.#taken = new Map(taken);
  }

  copy(): Slots {
    return new Slots(this.#taken);
  }

  taken(name: string): number {
    return this.#taken.get(name) ?? 0;
  }

  isEmpty(): boolean {
    return this.#taken.size === 0;
  }

  /** @param count negative gives slots back. */
  take(names: readonly string[], count: number): void {
    for (const name of names) {
      const next = this.taken(name) + count;
      if (next === 0) this.#taken.delete(name);
      else this.#taken.set(name, next);
    }
  }
}
