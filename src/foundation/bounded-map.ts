/** A map of at most `max` entries, at least one: a new key beyond them drops the oldest. A key that is set again keeps its age. */
export class BoundedMap<Key, Value> extends Map<Key, Value> {
  readonly #max: number;
  /** Stands before the oldest entry, because whatever it gives is dropped. */
  #ages: MapIterator<Key> | null = null;
  #deleted = 0;

  constructor(max: number) {
    super();
    this.#max = max;
  }

  override set(key: Key, value: Value): this {
    if (this.size >= this.#max && !this.has(key)) this.#dropOldest();
    return super.set(key, value);
  }

  /**
   * A new iterator passes over each place that was freed before the oldest entry, which costs 150 µs in a map of 100,000: so one
   * serves many times. It keeps the tables in memory that the map has left since, so it does not serve for ever.
   */
  override delete(key: Key): boolean {
    this.#deleted += 1;
    if (this.#deleted % this.#max === 0) this.#ages = null;
    return super.delete(key);
  }

  override clear(): void {
    this.#ages = null;
    super.clear();
  }

  #dropOldest(): void {
    this.#ages ??= this.keys();
    const oldest = this.#ages.next();
    if (oldest.done !== true) this.delete(oldest.value);
  }
}
