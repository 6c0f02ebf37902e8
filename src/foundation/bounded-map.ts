/** A map of at most `max` entries (at least one). A new key beyond the limit drops the oldest. A key that is set again keeps its age. */
export class BoundedMap<Key, Value> extends Map<Key, Value> {
  readonly #max: number;
  /** An iterator that is always just before the oldest entry: each entry that it returns is dropped. */
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
   * One iterator serves many times, because a new one skips each slot that was freed before the oldest entry, which takes 150 µs in a map
   * of 100,000. But an iterator keeps the map's former tables in memory, so it is replaced after `max` deletions.
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
