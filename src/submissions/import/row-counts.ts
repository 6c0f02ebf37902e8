/** The number of slots of a new table. A table that is half full is doubled, so a large file takes 24 to 48 bytes for each row. */
const FIRST_PLACES = 1 << 12;

/** Counts how often each hash occurs, in tables of numbers, so that millions of hashes take little memory. */
export class RowCounts {
  #keys = new BigUint64Array(FIRST_PLACES);
  #counts = new Uint32Array(FIRST_PLACES);
  #used = 0;

  /** Counts a hash, and returns how often it has occurred so far. @param hash at least 8 bytes that are spread evenly */
  add(hash: Buffer): number {
    if (2 * this.#used >= this.#keys.length) this.#grow();
    const slot = slotOf(this.#keys, this.#counts, hash.readBigUInt64LE());
    if (this.#counts[slot] === 0) this.#used += 1;
    this.#keys[slot] = hash.readBigUInt64LE();
    const count = (this.#counts[slot] ?? 0) + 1;
    this.#counts[slot] = count;
    return count;
  }

  #grow(): void {
    const keys = new BigUint64Array(2 * this.#keys.length);
    const counts = new Uint32Array(keys.length);
    for (const [index, count] of this.#counts.entries()) {
      if (count === 0) continue;
      const key = this.#keys[index] ?? 0n;
      const slot = slotOf(keys, counts, key);
      keys[slot] = key;
      counts[slot] = count;
    }
    this.#keys = keys;
    this.#counts = counts;
  }
}

/** The slot of this key, or the empty slot that it gets. */
function slotOf(keys: BigUint64Array, counts: Uint32Array, key: bigint): number {
  let slot = Number(key % BigInt(keys.length));
  while (counts[slot] !== 0 && keys[slot] !== key) slot = (slot + 1) % keys.length;
  return slot;
}
