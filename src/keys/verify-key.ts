import { hash as digest } from "node:crypto";
import type { Database } from "../database/database.ts";
import type { Clock } from "../foundation/clock.ts";
import { FormsvcError } from "../foundation/errors.ts";
import { hashKey, matchesHash } from "./hash-key.ts";
import type { ParsedKey } from "./key-format.ts";
import { type Key, readKey } from "./key-store.ts";

/** Keys whose proof is remembered in one process; the oldest is forgotten beyond this and proved again. */
const MAX_REMEMBERED_KEYS = 10_000;
/** Hashes computed at once: half of the thread pool, so that a flood of keys leaves the rest to others. */
const MAX_CONCURRENT_HASHES = 2;
/** Keys waiting for a hash; more get 503. */
const MAX_WAITING_HASHES = 64;

export interface KeyVerifier {
  /** The key, if this process proved it before and it is still good; else null. Takes microseconds. */
  recall(parsed: ParsedKey): Key | null;
  /**
   * The key if it is genuine and not revoked, else null; either way after the time of one hash, known or unknown.
   * Callers with the same key share one hash. @throws unavailable when too many wait.
   */
  verify(parsed: ParsedKey): Promise<Key | null>;
  /** Reads key records anew from now on; proofs stay. */
  forgetRecords(): void;
}

export function createKeyVerifier(db: Database, clock: Clock): KeyVerifier {
  const proofs = new Set<string>();
  const records = new Map<string, Key>();
  const running = new Map<string, Promise<Key | null>>();
  const gate = createGate();
  let decoy: Promise<string> | undefined;

  const readRecord = (lookup: string): Key | undefined => {
    const known = records.get(lookup) ?? readKey(db, lookup);
    if (known !== undefined && records.size < MAX_REMEMBERED_KEYS) records.set(lookup, known);
    return known;
  };
  const isGood = (key: Key): boolean => key.revokedAt === null || key.revokedAt > clock.now();

  const prove = async (parsed: ParsedKey, digest: string): Promise<Key | null> => {
    const key = readKey(db, parsed.lookup);
    // An unknown key is measured against a decoy, so that it takes as long as a known one.
    decoy ??= hashKey("decoy");
    const hash = key?.hash ?? (await decoy);
    const matches = await gate(() => matchesHash(hash, parsed.text));
    if (key === undefined || !matches) return null;
    // Read again: the key may have been revoked while it was hashed, and that notice is past.
    const latest = readKey(db, parsed.lookup);
    if (latest === undefined || !isGood(latest)) return null;
    if (proofs.size >= MAX_REMEMBERED_KEYS) proofs.delete(proofs.values().next().value ?? "");
    proofs.add(digest);
    records.set(latest.lookup, latest);
    return latest;
  };

  return {
    recall(parsed) {
      const digest = digestOf(parsed.text);
      if (!proofs.has(digest)) return null;
      const key = readRecord(parsed.lookup);
      if (key !== undefined && isGood(key)) return key;
      // Forgotten, so that a revoked key takes the same time as an unknown one.
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

type Gate = <Result>(work: () => Promise<Result>) => Promise<Result>;

function createGate(): Gate {
  let active = 0;
  const waiting: (() => void)[] = [];
  return async (work) => {
    if (active >= MAX_CONCURRENT_HASHES) {
      if (waiting.length >= MAX_WAITING_HASHES) {
        throw new FormsvcError("unavailable", "too many keys are being checked; try again shortly", {
          retryAfterSeconds: 1,
        });
      }
      // The one that ends hands its place over, so `active` stays as it is.
      await new Promise<void>((resolve) => waiting.push(resolve));
    } else {
      active += 1;
    }
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) active -= 1;
      else next();
    }
  };
}
