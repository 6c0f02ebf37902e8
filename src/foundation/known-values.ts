import { BoundedMap } from "./bounded-map.ts";

/**
 * A cache of at most `max` values by key; a new value beyond that drops the oldest. A value is read when it is first needed, and kept until
 * `forget` drops it.
 */
export class KnownValues<Value> {
  readonly #read: (key: string) => Promise<Value | undefined>;
  readonly #known: BoundedMap<string, Value>;
  /** Reads under way whose values will be kept. A read that began before the last `forget` is not among them. */
  readonly #reading = new Map<string, Promise<Value | undefined>>();

  constructor(read: (key: string) => Promise<Value | undefined>, max: number) {
    this.#read = read;
    this.#known = new BoundedMap(max);
  }

  /** The value if it is in memory, else undefined. */
  recall(key: string): Value | undefined {
    return this.#known.get(key);
  }

  /** The value from memory, or else a fresh read; undefined if there is none. Callers at the same time share one read. */
  async find(key: string): Promise<Value | undefined> {
    return this.#known.get(key) ?? this.#reading.get(key) ?? this.reread(key);
  }

  /** Reads the value again, even if it is in memory. */
  reread(key: string): Promise<Value | undefined> {
    const reading = this.#read(key);
    this.#reading.set(key, reading);
    const end = (value?: Value): void => {
      if (this.#reading.get(key) !== reading) return;
      this.#reading.delete(key);
      if (value !== undefined) this.#known.set(key, value);
    };
    reading.then(end, () => end());
    return reading;
  }

  /** Drops the values that a change concerns, or all. What is being read now is not kept in any case. */
  forget(isConcerned?: (value: Value) => boolean): void {
    this.#reading.clear();
    if (isConcerned === undefined) this.#known.clear();
    else for (const [key, value] of this.#known) if (isConcerned(value)) this.#known.delete(key);
  }
}
