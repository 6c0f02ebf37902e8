import { all, type Steps, text } from "../database/steps.ts";
import { mix } from "../spam/hashing.ts";

/** The keys of the remembered texts of all workspaces, held in memory so that most posts need not ask the database. */
export interface RememberedKeys {
  /** Whether a text may have one of the keys. False is certain; true is not. */
  mayHold(keys: readonly number[]): Steps<boolean>;
  add(keys: readonly number[]): void;
  /**
   * Reads the texts that another process may have added.
   *
   * @param overlap the number of last ids that are read again, because several servers do not commit in the order of ids.
   */
  catchUp(overlap?: number): void;
}

/** The size of the Bloom filter, 256 KiB. With {@link MANY_KEYS} keys in it, one lookup in six asks the database without need. */
const BITS = 2 ** 21;
const MANY_KEYS = 200_000;
/** The number of texts that are read at a time, which takes about a millisecond. Until all are read, every lookup asks the database. */
const TEXTS_AT_A_TIME = 250;

const READ_ON_SQL = `SELECT id, workspace_id, keys FROM remembered_text WHERE id > ? ORDER BY id LIMIT ${TEXTS_AT_A_TIME}`;

interface KeysRow {
  readonly id: number;
  readonly workspace_id: string;
  readonly keys: string;
}

/** @param readKeys returns the keys of a stored text. */
export function createRememberedKeys(
  readKeys: (workspaceId: string, keys: string) => readonly number[],
): RememberedKeys {
  const bits = new Uint32Array(BITS / 32);
  let keyCount = 0;
  let mostKeys = Infinity;
  let lastId = 0;
  let isComplete = false;
  /** Increases whenever the texts that are being read become out of date. */
  let starts = 0;

  const holds = (key: number): boolean => hasBit(bits, firstBit(key)) && hasBit(bits, secondBit(key));
  const add = (keys: readonly number[]): void => {
    for (const key of keys) {
      if (holds(key)) continue;
      setBit(bits, firstBit(key));
      setBit(bits, secondBit(key));
      keyCount += 1;
    }
  };
  const startAnew = (): void => {
    bits.fill(0);
    keyCount = 0;
    mostKeys = Infinity;
    lastId = 0;
    isComplete = false;
    starts += 1;
  };
  const readOn = function* (): Steps<void> {
    const start = starts;
    const rows = yield* all(text<KeysRow>(READ_ON_SQL, lastId));
    for (const { workspace_id, keys } of rows) add(readKeys(workspace_id, keys));
    if (start !== starts) return;
    lastId = rows.at(-1)?.id ?? lastId;
    isComplete = rows.length < TEXTS_AT_A_TIME;
    // The bits of forgotten texts stay set, so the filter is filled again once it holds twice as many keys as after the first filling.
    if (isComplete && mostKeys === Infinity) mostKeys = Math.max(MANY_KEYS, 2 * keyCount);
  };
  return {
    *mayHold(keys) {
      if (!isComplete) yield* readOn();
      if (!isComplete) return true;
      return keys.some(holds);
    },
    add(keys) {
      add(keys);
      if (keyCount > mostKeys) startAnew();
    },
    catchUp(overlap = 0) {
      lastId = Math.max(0, lastId - overlap);
      isComplete = false;
      starts += 1;
    },
  };
}

function firstBit(key: number): number {
  return (key >>> 0) % BITS;
}

function secondBit(key: number): number {
  return mix((key >>> 0) ^ Math.floor(key / 2 ** 32)) % BITS;
}

function setBit(bits: Uint32Array, bit: number): void {
  bits[bit >>> 5] = (bits[bit >>> 5] ?? 0) | (1 << (bit & 31));
}

function hasBit(bits: Readonly<Uint32Array>, bit: number): boolean {
  return ((bits[bit >>> 5] ?? 0) & (1 << (bit & 31))) !== 0;
}
