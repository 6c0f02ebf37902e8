/** A set of small numbers that is filled and emptied again and again without allocating. */
export class BucketSet {
  /** The different buckets in the order in which they came; only the first {@link count} are valid. */
  readonly buckets: Uint16Array;
  count = 0;
  readonly #met: Uint32Array;

  /** @param range buckets are below it; at most 65,536. @param most buckets kept; more are ignored. */
  constructor(range: number, most: number) {
    this.buckets = new Uint16Array(most);
    this.#met = new Uint32Array(range / 32);
  }

  clear(): void {
    this.#met.fill(0);
    this.count = 0;
  }

  add(bucket: number): void {
    const met = this.#met[bucket >>> 5] ?? 0;
    const bit = 1 << (bucket & 31);
    if ((met & bit) !== 0 || this.count === this.buckets.length) return;
    this.#met[bucket >>> 5] = met | bit;
    this.buckets[this.count] = bucket;
    this.count += 1;
  }
}
