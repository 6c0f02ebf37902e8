import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { type Database, query } from "../database/database.ts";
import { deleteSome } from "../database/some-rows.ts";
import { first, run, type Steps, textByEngine } from "../database/steps.ts";
import { addressUnit } from "../foundation/ip-address.ts";
import type { Keyring } from "../secrets/keyring.ts";
import type { StoredSecret } from "../secrets/stored-secret.ts";
import type { KnownTrier } from "./attempt-limits.ts";
import { DAY_MS } from "../foundation/time-units.ts";

/*
 * Browsers and addresses that signed in to an account before. A stranger's wrong passwords neither delay nor refuse them. Being known
 * proves nothing else: a known client still needs the password.
 */

/** What a client shows about itself. */
export interface Shown {
  /** The IP address in canonical form. */
  readonly address: string;
  /** The cookie of a known browser as it came; null if there was none. */
  readonly knownCookie: string | null;
}
/** The time after its last use for which an address stays known. */
export const KNOWN_ADDRESS_MS = 30 * DAY_MS;
/** The largest number of known addresses of one account; those that were used last are kept. */
const MAX_ADDRESSES = 50;
/** The shortest time between two writes of an address's use. */
const SEEN_INTERVAL_MS = DAY_MS;
/** The largest number of accounts that one browser is known to. Beyond it, a new sign-in replaces the account that signed in first. */
const MAX_ACCOUNTS = 5;
const KEY_BYTES = 32;
const DEVICE_BYTES = 16;
/** The largest number of rows that one transaction deletes. */
const BATCH_SIZE = 500;

const KEY = ["account_id", "address_hash"];
const DROP_OLD_SQL = deleteSome(
  "known_address",
  KEY,
  (key) => `SELECT ${key} FROM known_address WHERE seen_at <= ? LIMIT ?`,
);
const DROP_SURPLUS_SQL = deleteSome(
  "known_address",
  KEY,
  (key) => `SELECT ${key} FROM known_address WHERE account_id = ? ORDER BY seen_at DESC LIMIT ? OFFSET ?`,
);

/** The number of the device, then a proof for each account, the newest first; at most 242 characters. */
const COOKIE = /^([\w-]{22})((?:\.[\w-]{43}){1,5})$/;
/** The context that the key is encrypted with. It is part of the encryption, so the text must never change. */
const KEY_PLACE = "sign_in_key.key";

/**
 * How an account knows a client; null if it does not. It makes the same queries whether the account exists or not.
 *
 * @param accountId undefined if there is no such account.
 */
export function* recognise(
  keyring: Keyring,
  accountId: string | undefined,
  shown: Shown,
  now: number,
): Steps<KnownTrier | null> {
  const key = yield* readKey(keyring);
  const sought = addressHash(key ?? Buffer.alloc(KEY_BYTES), accountId ?? "", shown.address);
  const rows = query
    .selectFrom("known_address")
    .select("seen_at")
    .where("account_id", "=", accountId ?? "");
  const row = yield* first(rows.where("address_hash", "=", sought));
  if (key === undefined || accountId === undefined) return null;
  const device = deviceOf(key, accountId, shown.knownCookie);
  if (device !== null) return { accountId, by: `device ${device}` };
  const isKnown = row !== undefined && now - row.seen_at < KNOWN_ADDRESS_MS;
  return isKnown ? { accountId, by: `address ${addressUnit(shown.address)}` } : null;
}

/** Remembers a client that signed in. @returns the cookie for its browser, which keeps the proofs for other accounts. */
export function* rememberClient(
  keyring: Keyring,
  accountId: string,
  { address, knownCookie }: Shown,
  now: number,
): Steps<string> {
  const key = yield* chooseKey(keyring);
  yield* storeAddress(key, accountId, address, now);
  const { device, proofs } = readCookie(knownCookie) ?? { device: newDevice(), proofs: [] };
  const own = proofOf(key, accountId, device);
  const others = proofs.filter((proof) => proof !== own);
  return [device, own, ...others].slice(0, 1 + MAX_ACCOUNTS).join(".");
}

/** Remembers an address from which a session is used. */
export function* rememberAddress(
  keyring: Keyring,
  accountId: string,
  address: string,
  now: number,
): Steps<void> {
  yield* storeAddress(yield* chooseKey(keyring), accountId, address, now);
}

/** Deletes up to 500 addresses that are no longer known. Returns the number deleted. */
export function dropOldAddresses(now: number): Steps<number> {
  return run(textByEngine(DROP_OLD_SQL, now - KNOWN_ADDRESS_MS, BATCH_SIZE));
}

/** The key of this installation, as {@link StoredSecret}. */
export function* listSignInKeys(): Steps<StoredSecret[]> {
  const row = yield* first(query.selectFrom("sign_in_key").select("key"));
  if (row === undefined) return [];
  const replace = (stored: Buffer): Steps<unknown> =>
    run(query.updateTable("sign_in_key").set({ key: stored }));
  return [{ context: KEY_PLACE, stored: row.key, replace }];
}

function* storeAddress(key: Buffer, accountId: string, address: string, now: number): Steps<void> {
  const row = { account_id: accountId, address_hash: addressHash(key, accountId, address), seen_at: now };
  const written = yield* run(
    query
      .insertInto("known_address")
      .values(row)
      .onConflict((conflict) =>
        conflict
          .columns(["account_id", "address_hash"])
          .doUpdateSet({ seen_at: now })
          .where("known_address.seen_at", "<=", now - SEEN_INTERVAL_MS),
      ),
  );
  if (written === 0) return;
  yield* run(textByEngine(DROP_SURPLUS_SQL, accountId, Number.MAX_SAFE_INTEGER, MAX_ADDRESSES));
}

/** The key of this installation, which proves what browsers bring back; undefined before the first sign-in. */
export function* readKey(keyring: Keyring): Steps<Buffer | undefined> {
  const row = yield* first(query.selectFrom("sign_in_key").select("key"));
  return row && keyring.open(row.key, KEY_PLACE);
}

/** The key of this installation; it is made if there is none yet. */
function* chooseKey(keyring: Keyring): Steps<Buffer> {
  const known = yield* readKey(keyring);
  if (known !== undefined) return known;
  const made = { id: 1, key: keyring.seal(randomBytes(KEY_BYTES), KEY_PLACE) };
  yield* run(query.insertInto("sign_in_key").values(made));
  return keyring.open(made.key, KEY_PLACE);
}

/** The key for a step that a browser begins. It is made with the first step of all, and else only read. */
export async function flowKey(db: Database, keyring: Keyring): Promise<Buffer> {
  return (await db.read(() => readKey(keyring))) ?? db.transaction(() => chooseKey(keyring));
}

/** The number of the device if the account knows it; null if the cookie has no valid proof. */
function deviceOf(key: Buffer, accountId: string, cookie: string | null): string | null {
  const shown = readCookie(cookie);
  if (shown === null) return null;
  const sought = Buffer.from(proofOf(key, accountId, shown.device));
  const isKnown = shown.proofs.some((proof) => timingSafeEqual(Buffer.from(proof), sought));
  return isKnown ? shown.device : null;
}

interface DeviceCookie {
  /** A browser could choose the number, so it counts only with a proof. */
  readonly device: string;
  readonly proofs: readonly string[];
}

function readCookie(cookie: string | null): DeviceCookie | null {
  const [, device, proofs] = COOKIE.exec(cookie ?? "") ?? [];
  return device === undefined || proofs === undefined ? null : { device, proofs: proofs.slice(1).split(".") };
}

function newDevice(): string {
  return randomBytes(DEVICE_BYTES).toString("base64url");
}

function proofOf(key: Buffer, accountId: string, device: string): string {
  return createHmac("sha256", key).update(`device ${accountId} ${device}`).digest("base64url");
}

function addressHash(key: Buffer, accountId: string, address: string): Buffer {
  return createHmac("sha256", key)
    .update(`address ${accountId} ${addressUnit(address)}`)
    .digest();
}
