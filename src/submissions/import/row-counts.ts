/** Rows that a file may have: each takes 12 to 48 bytes here. */
const FIRST_PLACES = 1 << 12;

/** Counts how often each of millions of hashes came, in a table of numbers. */
export class RowCounts {
  #keys = new BigUint64Array(FIRST_PLACES);
  #counts = new Uint32Array(FIRST_PLACES);
  #used = 0;

  /** How often it came with this time. @param hash at least 8 bytes that are spread evenly */
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

/** Its own place, or the empty one that it gets. */
function slotOf(keys: BigUint64Array, counts: Uint32Array, key: bigint): number {
  let slot = Number(key % BigInt(keys.length));
  while (counts[slot] !== 0 && keys[slot] !== key) slot = (slot + 1) % keys.length;
  return slot;
}
