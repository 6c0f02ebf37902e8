/** Up to this many buckets are taken out one by one, more by clearing the whole range. */
const FEW_BUCKETS = 512;

/** A set of small numbers that is filled again and again without allocating. */
export class BucketSet {
  /** The different buckets in the order in which they came; only the first {@link count} are valid. */
  readonly buckets: Uint32Array;
  count = 0;
  /** A bit for each number of the range. */
  readonly met: Uint32Array;

  /** @param range buckets are below it. @param most the largest number of buckets that it is ever filled with. */
  constructor(range: number, most: number) {
    this.buckets = new Uint32Array(most);
    this.met = new Uint32Array(range / 32);
  }

  /**
   * Holds the first `length` of these buckets, and nothing that it held before. Every bucket is written and only a new one counted:
   * the processor cannot guess which one is new, and a wrong guess costs more than a write.
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
