import { randomBytes } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { Database } from "../../src/database/database.ts";
import { createKeyring } from "../../src/secrets/keyring.ts";
import { sealedWith } from "../../src/secrets/seal.ts";
import { encryptSome } from "../../src/secrets/stored-secret.ts";
import {
  dropOldAddresses,
  KNOWN_ADDRESS_MS,
  listSignInKeys,
  recognise,
  rememberAddress,
  rememberClient,
} from "../../src/sessions/known-clients.ts";
import { insertAccountRows } from "../../src/workspaces/workspace-store.ts";
import { ENGINES, rowsOf } from "../support/engines.ts";
import { NOON } from "../support/fake-clock.ts";
import { DAY_MS } from "../../src/foundation/time-units.ts";

const PLAIN = createKeyring({ keyFile: null, key: null });
const HOME = "192.0.2.1";

async function addAccount(db: Database, email: string): Promise<string> {
  return (await db.transaction(() => insertAccountRows(email, NOON))).account.id;
}

describe.each(ENGINES)("on $name", ({ temporary }) => {
  test("a client that signed in is known by its cookie, else by its address, to that account alone", async () => {
    const db = await temporary();
    const [ana, ben] = [await addAccount(db, "ana@example.org"), await addAccount(db, "ben@example.org")];
    const by = async (accountId: string | undefined, address: string, knownCookie: string | null) =>
      (await db.read(() => recognise(PLAIN, accountId, { address, knownCookie }, NOON)))?.by ?? null;
    expect(await by(ana, HOME, null)).toBeNull();
    const first = { address: HOME, knownCookie: null };
    const cookie = await db.transaction(() => rememberClient(PLAIN, ana, first, NOON));
    const device = `device ${cookie.split(".")[0]}`;
    expect([await by(ana, "198.51.100.1", cookie), await by(ana, HOME, cookie)]).toEqual([device, device]);
    expect(await by(ana, HOME, null)).toBe(`address ${HOME}`);
    for (const wrong of ["", "x", `${cookie}x`, cookie.toLowerCase(), `${cookie}.${cookie}`])
      expect(await by(ana, "198.51.100.1", wrong), wrong).toBeNull();
    expect([await by(ben, HOME, cookie), await by(undefined, HOME, cookie)]).toEqual([null, null]);
    const second = await db.transaction(() =>
      rememberClient(PLAIN, ben, { ...first, knownCookie: cookie }, NOON),
    );
    expect([await by(ana, "::1", second), await by(ben, "::1", second)]).toEqual([device, device]);
  });

  test("an address is known for 30 days after its last use, as a whole IPv6 /64", async () => {
    const db = await temporary();
    const ana = await addAccount(db, "ana@example.org");
    const isKnown = async (address: string, now: number) =>
      (await db.read(() => recognise(PLAIN, ana, { address, knownCookie: null }, now))) !== null;
    const use = (address: string, now: number) =>
      db.transaction(() => rememberAddress(PLAIN, ana, address, now));
    await use("2001:db8:1:2::3", NOON);
    expect([await isKnown("2001:db8:1:2:ffff::1", NOON), await isKnown("2001:db8:1:3::3", NOON)]).toEqual([
      true,
      false,
    ]);
    await use("2001:db8:1:2::4", NOON + 10 * DAY_MS);
    expect(await isKnown("2001:db8:1:2::3", NOON + 10 * DAY_MS + KNOWN_ADDRESS_MS - 1)).toBe(true);
    expect(await isKnown("2001:db8:1:2::3", NOON + 10 * DAY_MS + KNOWN_ADDRESS_MS)).toBe(false);
    const drop = (now: number) => db.transaction(() => dropOldAddresses(now));
    expect(await drop(NOON + 10 * DAY_MS + KNOWN_ADDRESS_MS - 1)).toBe(0);
    expect(await drop(NOON + 10 * DAY_MS + KNOWN_ADDRESS_MS)).toBe(1);
  });

  test("fifty addresses of an account are kept, those that were used last", async () => {
    const db = await temporary();
    const [ana, ben] = [await addAccount(db, "ana@example.org"), await addAccount(db, "ben@example.org")];
    await db.transaction(() => rememberAddress(PLAIN, ben, HOME, NOON));
    for (let network = 0; network < 55; network += 1)
      await db.transaction(() => rememberAddress(PLAIN, ana, `198.51.${network}.1`, NOON + network));
    const rows = await rowsOf<{ account_id: string; seen_at: number }>(db, "SELECT * FROM known_address");
    const own = rows.filter((row) => row.account_id === ana).map((row) => row.seen_at - NOON);
    expect(own.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 50 }, (_, index) => index + 5));
    expect(rows).toHaveLength(51);
  });

  test("the key is sealed like other secrets, and those who were known stay so", async () => {
    const db = await temporary();
    const ana = await addAccount(db, "ana@example.org");
    const shown = { address: HOME, knownCookie: null };
    const knownCookie = await db.transaction(() => rememberClient(PLAIN, ana, shown, NOON));
    const keyring = createKeyring({ keyFile: null, key: randomBytes(32).toString("base64") });
    expect(await db.transaction(() => encryptSome([listSignInKeys], keyring))).toBe(1);
    const [secret] = await db.read(listSignInKeys);
    expect(sealedWith(secret?.stored ?? Buffer.alloc(0))).toBe(keyring.ids()[0]);
    for (const each of [shown, { address: "::1", knownCookie }])
      expect(await db.read(() => recognise(keyring, ana, each, NOON))).not.toBeNull();
  });
});
