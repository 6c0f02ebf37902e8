import { BoundedMap } from "./bounded-map.ts";

/** Values by key, each read when it is first needed and kept until all are forgotten. At most `max` of them; the oldest goes first. */
export class KnownValues<Value> {
  readonly #read: (key: string) => Promise<Value | undefined>;
  readonly #known: BoundedMap<string, Value>;
  /** Reads whose values will be kept. One that began before all was forgotten is not among them. */
  readonly #reading = new Map<string, Promise<Value | undefined>>();

  constructor(read: (key: string) => Promise<Value | undefined>, max: number) {
    this.#read = read;
    this.#known = new BoundedMap(max);
  }

  /** The value if it is in memory. */
  recall(key: string): Value | undefined {
    return this.#known.get(key);
  }

  /** The value from memory, or else read; undefined if there is none. Those who ask at the same time share one read. */
  async find(key: string): Promise<Value | undefined> {
    return this.#known.get(key) ?? this.#reading.get(key) ?? this.reread(key);
  }

  /** The value as it is now. */
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

  forget(): void {
    this.#known.clear();
    this.#reading.clear();
  }
}
