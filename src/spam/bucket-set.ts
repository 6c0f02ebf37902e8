/** Up to this number of buckets `clear` removes them one by one; beyond it, clearing the whole range is faster. */
const FEW_BUCKETS = 512;

/** A set of small numbers that is filled again and again without allocating memory. */
export class BucketSet {
  /** The different buckets in the order in which they were added; only the first {@link count} are valid. */
  readonly buckets: Uint32Array;
  count = 0;
  /** A bit for each number of the range: 1 if the set has the number. */
  readonly met: Uint32Array;

  /** @param range all buckets are below it. @param most the largest number of buckets that are ever added at once. */
  constructor(range: number, most: number) {
    this.buckets = new Uint32Array(most);
    this.met = new Uint32Array(range / 32);
  }

  /**
   * Replaces the contents of the set by the first `length` of these buckets. Every bucket is written, but only a new one is counted: the
   * processor cannot predict which one is new, and a wrong prediction costs more than a write.
   */
  hold(found: Readonly<Uint32Array>, length: number): this {
    const { met, buckets } = this.clear();
    let count = 0;
    for (let index = 0; index < length; index += 1) {
      const bucket = found[index] ?? 0;
      const bits = met[bucket >>> 5] ?? 0;
      met[bucket >>> 5] = bits | (1 << (bucket & 31));
      buckets[count] = bucket;
      count += ((bits >>> (bucket & 31)) & 1) ^ 1;
    }
    this.count = count;
    return this;
  }

  clear(): this {
    const { met, buckets, count } = this;
    if (count > FEW_BUCKETS) met.fill(0);
    else for (let index = 0; index < count; index += 1) met[(buckets[index] ?? 0) >>> 5] = 0;
    this.count = 0;
    return this;
  }
}
