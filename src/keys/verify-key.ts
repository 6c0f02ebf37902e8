import { hash as digest } from "node:crypto";
import type { SqliteDatabase } from "../database/sqlite/sqlite-database.ts";
import type { Clock } from "../foundation/clock.ts";
import { createHashGate } from "./hash-gate.ts";
import { DECOY_HASH, matchesHash } from "./hash-key.ts";
import type { ParsedKey } from "./key-format.ts";
import { hasEnded, type Key, findKey } from "./key-store.ts";

/** Keys that one process remembers as proved; beyond this the oldest is forgotten, and proved again when it is used. */
const MAX_REMEMBERED_KEYS = 10_000;
/** For keys that may be genuine: half of the thread pool, which leaves the rest to other work. */
const LIKELY_KEYS = { maxRunning: 2, maxWaiting: 64 };
/** For keys that are surely not genuine: a flood of them uses one thread, and takes none from those that may be genuine. */
const HOPELESS_KEYS = { maxRunning: 1, maxWaiting: 64 };

export interface KeyVerifier {
  /** The key, if this process proved it before and it is still good; else null. Takes microseconds. */
  recall(parsed: ParsedKey): Key | null;
  /**
   * The key if it is genuine and not revoked, else null. Either way it takes the time of one hash. Callers with the same key
   * share one hash. Keys that may be genuine wait apart from those that are surely not.
   * @throws unavailable when too many wait.
   */
  verify(parsed: ParsedKey): Promise<Key | null>;
  /** Reads key records anew from now on; proofs stay. */
  forgetRecords(): void;
}

export function createKeyVerifier(db: SqliteDatabase, clock: Clock): KeyVerifier {
  const proofs = new Set<string>();
  const records = new Map<string, Key>();
  const running = new Map<string, Promise<Key | null>>();
  const likely = createHashGate(LIKELY_KEYS);
  const hopeless = createHashGate(HOPELESS_KEYS);

  const readRecord = (lookup: string): Key | undefined => {
    const known = records.get(lookup) ?? db.now(() => findKey(lookup));
    if (known !== undefined && records.size < MAX_REMEMBERED_KEYS) records.set(lookup, known);
    return known;
  };
  let latest = 0;
  /** A key that has ended stays ended when the clock goes back, also in the minute until this is on disk. */
  const isGood = (key: Key): boolean => {
    latest = Math.max(latest, clock.now());
    return !hasEnded(key, latest);
  };

  const prove = async (parsed: ParsedKey, digest: string): Promise<Key | null> => {
    const key = await db.read(() => findKey(parsed.lookup));
    if (key === undefined || key.kind !== parsed.kind || !isGood(key)) {
      // Unknown and revoked keys take as long as others, and wait for each other only.
      await hopeless.enter("", () => matchesHash(DECOY_HASH, parsed.text));
      return null;
    }
    // A line for each key: invented texts around the 12 characters of one key delay only that key.
    if (!(await likely.enter(key.lookup, () => matchesHash(key.hash, parsed.text)))) return null;
    // Read again: the key may have been revoked while it was hashed.
    const current = await db.read(() => findKey(parsed.lookup));
    if (current === undefined || !isGood(current)) return null;
    if (proofs.size >= MAX_REMEMBERED_KEYS) proofs.delete(proofs.values().next().value ?? "");
    proofs.add(digest);
    records.set(current.lookup, current);
    return current;
  };

  return {
    recall(parsed) {
      const digest = digestOf(parsed.text);
      if (!proofs.has(digest)) return null;
      const key = readRecord(parsed.lookup);
      if (key !== undefined && isGood(key)) return key;
      // Forgets the proof, so that a revoked key takes the same time as an unknown one.
      proofs.delete(digest);
      return null;
    },
    verify(parsed) {
      const digest = digestOf(parsed.text);
      const shared = running.get(digest);
      if (shared !== undefined) return shared;
      const proof = prove(parsed, digest).finally(() => running.delete(digest));
      running.set(digest, proof);
      return proof;
    },
    forgetRecords: () => records.clear(),
  };
}

function digestOf(text: string): string {
  return digest("sha256", text, "base64");
}
