import { hash as digest } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Database } from "../database/database.ts";
import { BoundedMap } from "../foundation/bounded-map.ts";
import type { Clock } from "../foundation/clock.ts";
import { KnownValues } from "../foundation/known-values.ts";
import { Semaphore } from "../foundation/semaphore.ts";
import { SingleFlight } from "../foundation/single-flight.ts";
import type { MaybeLater } from "../foundation/maybe-later.ts";
import { DECOY_HASH, matchesHash } from "../hashing/argon2.ts";
import type { ParsedKey } from "./key-format.ts";
import { addTag, hasEnded, type Key, findKey } from "./key-store.ts";
import { fitsTag } from "./key-tag.ts";

/**
 * The largest number of verified keys that one process remembers; beyond it the oldest is forgotten, and verified again at its next use.
 */
const MAX_REMEMBERED_KEYS = 10_000;
const TOO_MANY = "too many keys are being checked; try again shortly";
/** The limits for keys that may be genuine: half of the thread pool, which leaves the rest to other work. */
const LIKELY_KEYS = { maxRunning: 2, maxWaiting: 64, refusal: TOO_MANY };
/**
 * The limits for keys that are surely not genuine, which only wait for the time of a hash. So a flood of them takes no thread from keys
 * that may be genuine.
 */
const HOPELESS_KEYS = { maxRunning: 1, maxWaiting: 64, refusal: TOO_MANY };
/** The time for which the measured duration of a hash is used for keys that are surely not genuine. */
const DECOY_FOR_MS = 60_000;

export interface KeyVerifier {
  /**
   * The key with this text if this process has verified it, has its record in memory, and it still works; else null. Takes a microsecond.
   */
  recall(text: string): Key | null;
  /** Like `recall`, but reads the record if it is not in memory. Computes no hash. */
  find(text: string): Promise<Key | null>;
  /** The present record of a key that worked a moment ago, at once if it is in memory; null if the key has ended. */
  renew(key: Key): MaybeLater<Key | null>;
  /**
   * Verifies a key. Returns null if it is not genuine or is revoked. In both cases this takes the time of one hash. Callers with the same
   * key share one hash. Keys that may be genuine do not wait for those that are surely not.
   *
   * @throws unavailable if too many wait.
   */
  verify(parsed: ParsedKey): Promise<Key | null>;
  /**
   * Reads key records again from now on; verified texts stay verified. @param endpoints contains the endpoints whose keys are meant; null
   * means all
   */
  forgetRecords(endpoints: ReadonlySet<string> | null): void;
}

export function createKeyVerifier(db: Database, clock: Clock): KeyVerifier {
  /** The public characters of each verified key, by the digest of its text. */
  const proofs = new BoundedMap<string, string>(MAX_REMEMBERED_KEYS);
  const records = new KnownValues<Key>((lookup) => db.read(() => findKey(lookup)), MAX_REMEMBERED_KEYS);
  const proving = new SingleFlight<Key | null>();
  const likely = new Semaphore(LIKELY_KEYS);
  const hopeless = new Semaphore(HOPELESS_KEYS);
  const takeAsLong = createDecoy();

  let latest = 0;
  /** A key that has ended stays ended if the clock goes back, even in the minute until its end is on disk. */
  const isGood = (key: Key): boolean => {
    latest = Math.max(latest, clock.now());
    return !hasEnded(key, latest);
  };
  const onlyGood = (key: Key | undefined): Key | null => (key !== undefined && isGood(key) ? key : null);

  const prove = async (parsed: ParsedKey, digest: string): Promise<Key | null> => {
    const key = await records.find(parsed.lookup);
    if (key === undefined || !mayBe(key, parsed) || !isGood(key)) {
      // Unknown, made-up and revoked keys take as long as others, and wait only for each other.
      await hopeless.run(() => takeAsLong(parsed.text));
      return null;
    }
    // Each key has a line of its own: texts that were made up around the public characters of a key without a tag delay only that key.
    if (!(await likely.run(() => matchesHash(key.hash, parsed.text), key.lookup))) return null;
    if (key.tag === null) await giveTag(db, key, parsed.text);
    // The record is read again, because the key may have been revoked while it was hashed.
    const current = onlyGood(await records.reread(parsed.lookup));
    if (current === null) return null;
    proofs.set(digest, current.lookup);
    return current;
  };
  /** Forgets that a text was verified if its key does not work any more, so that it takes the same time as an unknown key. */
  const proved = (digest: string, record: Key | undefined): Key | null => {
    const key = onlyGood(record);
    if (key === null) proofs.delete(digest);
    return key;
  };

  return {
    recall(text) {
      const digest = digestOf(text);
      const record = records.recall(proofs.get(digest) ?? "");
      return record === undefined ? null : proved(digest, record);
    },
    async find(text) {
      const digest = digestOf(text);
      const lookup = proofs.get(digest);
      return lookup === undefined ? null : proved(digest, await records.find(lookup));
    },
    renew({ lookup }) {
      const record = records.recall(lookup);
      return record === undefined ? records.find(lookup).then(onlyGood) : onlyGood(record);
    },
    verify(parsed) {
      const digest = digestOf(parsed.text);
      return proving.run(() => prove(parsed, digest), digest);
    },
    forgetRecords: (endpoints) =>
      records.forget(endpoints === null ? undefined : ({ endpointId }) => endpoints.has(endpointId)),
  };
}

/** Takes the time of a hash, but rarely computes one, so that a flood of keys that surely do not match costs no processor time. */
function createDecoy(): (text: string) => Promise<unknown> {
  let measured = { atMs: -Infinity, tookMs: 0 };
  return async (text) => {
    const startedAt = performance.now();
    if (startedAt - measured.atMs < DECOY_FOR_MS) return sleep(measured.tookMs);
    const matches = await matchesHash(DECOY_HASH, text);
    const atMs = performance.now();
    measured = { atMs, tookMs: atMs - startedAt };
    return matches;
  };
}

function mayBe(key: Key, { kind, text }: ParsedKey): boolean {
  return key.kind === kind && fitsTag(key.tag, text);
}

/** Stores the tag. If that fails now, the tag is stored when the key is verified again. */
async function giveTag(db: Database, key: Key, text: string): Promise<void> {
  await db.relaxedTransaction(() => addTag(key, text)).catch(() => undefined);
}

function digestOf(text: string): string {
  return digest("sha256", text, "base64");
}
