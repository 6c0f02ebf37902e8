import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { SqliteDatabase } from "../../src/database/sqlite/sqlite-database.ts";
import { insertEndpointRow } from "../../src/endpoints/endpoint-store.ts";
import { defaultEndpointSettings } from "../../src/endpoints/endpoint.ts";
import { FormsvcError } from "../../src/foundation/errors.ts";
import { type PreparedKey, prepareKey, revokeKey, storeKey } from "../../src/keys/issue-key.ts";
import { makeKey, type ParsedKey } from "../../src/keys/key-format.ts";
import { getKey, finishGrace, listKeys } from "../../src/keys/key-store.ts";
import { tagOf } from "../../src/keys/key-tag.ts";
import { createKeyVerifier, type KeyVerifier } from "../../src/keys/verify-key.ts";
import { exampleSchema } from "../support/example-schema.ts";
import { insertAccountRows } from "../../src/workspaces/workspace-store.ts";
import { createFakeClock, type FakeClock, NOON } from "../support/fake-clock.ts";
import { openForTest, temporaryDatabase } from "../support/temporary-database.ts";
import { replaceKey } from "../support/terminal.ts";
import { HOUR_MS } from "../../src/foundation/time-units.ts";

/** Hashing costs tens of milliseconds: the same two keys serve every test, each in a database of its own. */
let secret: PreparedKey;
let publishable: PreparedKey;
beforeAll(async () => {
  [secret, publishable] = await Promise.all([prepareKey("secret", "ws"), prepareKey("publishable", "ws")]);
});

interface Bench {
  readonly db: SqliteDatabase;
  readonly verifier: KeyVerifier;
  readonly clock: FakeClock;
  readonly keyId: string;
}

function bench(): Bench {
  const db = temporaryDatabase();
  const clock = createFakeClock();
  const { workspace } = db.now(() => insertAccountRows("ana@example.org", NOON));
  const plans = { hobby: { monthlySubmissions: null, endpoints: null, customSpam: false } };
  const made = { name: "Contact", definition: exampleSchema, settings: defaultEndpointSettings };
  const keyId = db.now(function* () {
    const endpoint = yield* insertEndpointRow(workspace, made, plans, NOON);
    yield* storeKey(endpoint.id, publishable, NOON);
    return (yield* storeKey(endpoint.id, secret, NOON)).key.id;
  });
  return { db, verifier: createKeyVerifier(db, clock), clock, keyId };
}

/** So that a key that is hashed again is found out, and one that is only remembered is not. */
function spoilHash(db: SqliteDatabase): void {
  db.execute(
    "UPDATE api_key SET hash = '$argon2id$v=19$m=19456,t=2,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'",
  );
}

/** A well-formed key that somebody made up around another one's 12 characters. */
function impostorOf({ kind, lookup }: ParsedKey): ParsedKey {
  return { ...makeKey(kind), lookup };
}

/** What floods began. Each waits for the time of some sixty hashes, one after the other, so all do it at the same time at the end. */
const begun: Promise<unknown>[] = [];
afterAll(() => Promise.all(begun));

/** More keys at once than may wait. */
function flood(verifier: KeyVerifier, make: () => ParsedKey) {
  let checked = 0;
  const count = (): void => void (checked += 1);
  begun.push(Promise.allSettled(Array.from({ length: 150 }, () => verifier.verify(make()).then(count))));
  return { checked: () => checked };
}

describe("at rest", () => {
  test("a key is its 12 characters and an argon2id hash with a salt of its own, in PHC format", async () => {
    const { db } = bench();
    const hashes = db.prepare("SELECT hash FROM api_key").pluck().all() as string[];
    expect(hashes).toHaveLength(2);
    for (const hash of hashes) {
      expect(hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22,}\$[A-Za-z0-9+/]{43}$/);
    }
    expect((await prepareKey("secret", "ws")).hash.split("$")[4]).not.toBe(hashes[0]?.split("$")[4]);
  });

  test("the text of a key is nowhere in the database file, nor in what lies beside it", async () => {
    const { db, verifier } = bench();
    await verifier.verify(secret.parsed);
    const bytes = ["", "-wal"].map((suffix) => readFileSync(db.path + suffix).toString("latin1")).join("");
    for (const { parsed } of [secret, publishable]) {
      expect(bytes).toContain(parsed.lookup);
      expect(bytes).not.toContain(parsed.text);
      expect(bytes).not.toContain(parsed.text.slice(16, 48));
    }
  });
});

describe("verifying", () => {
  test("proves a genuine key once and remembers it: no second hash is computed", async () => {
    const { db, verifier } = bench();
    expect(await verifier.find(secret.parsed.text)).toBeNull();
    expect((await verifier.verify(secret.parsed))?.kind).toBe("secret");
    spoilHash(db);
    verifier.forgetRecords(null);
    expect((await verifier.find(secret.parsed.text))?.kind).toBe("secret");
    expect(await createKeyVerifier(db, createFakeClock()).verify(secret.parsed)).toBeNull();
  });

  test("refuses an unknown key, a key whose 12 characters are another's, and one that is not remembered for it", async () => {
    const { verifier } = bench();
    const stranger = makeKey("secret");
    expect(await verifier.verify(stranger)).toBeNull();
    const impostor = { ...stranger, lookup: secret.parsed.lookup };
    expect(await verifier.verify(impostor)).toBeNull();
    await verifier.verify(secret.parsed);
    expect(await verifier.find(impostor.text)).toBeNull();
  });

  test("takes one hash for unknown, wrong, revoked and genuine keys alike", async () => {
    const { db, verifier, keyId, clock } = bench();
    db.now(() => revokeKey(keyId, clock.now()));
    await verifier.verify(makeKey("secret"));
    const stranger = makeKey("secret");
    const cases = [
      stranger,
      { ...stranger, lookup: publishable.parsed.lookup },
      secret.parsed,
      publishable.parsed,
    ];
    for (const parsed of cases) {
      const running = verifier.verify(parsed);
      // What needs no hash is over once the promises that are there are settled.
      let over = false;
      void running.then(() => (over = true));
      for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
      expect(over).toBe(false);
      await running;
    }
  });

  test("computes hashes for keys that may be genuine, and not for each one that is surely not", async () => {
    const { verifier } = bench();
    await verifier.verify(makeKey("secret"));
    const cost = async (work: () => Promise<unknown>): Promise<number> => {
      const before = process.cpuUsage();
      await work();
      const { user, system } = process.cpuUsage(before);
      return user + system;
    };
    const hashes = await cost(async () => {
      for (let count = 0; count < 10; count += 1) await prepareKey("secret", "ws");
    });
    const madeUp = await cost(() =>
      Promise.all(Array.from({ length: 40 }, () => verifier.verify(makeKey("secret")))),
    );
    // Forty hashes would cost four times as much as ten.
    expect(madeUp).toBeLessThan(hashes);
  });

  test("is shared by all who ask for the same key at once", async () => {
    const { db, verifier } = bench();
    const first = verifier.verify(secret.parsed);
    // The line holds 64: a thousand fit only because they share one place.
    const rest = Array.from({ length: 1000 }, () => verifier.verify(secret.parsed));
    expect(
      (await Promise.all([first, ...rest])).every(
        (key) => key?.id === db.now(() => getKey(secret.parsed.lookup)).id,
      ),
    ).toBe(true);
  });

  test("refuses with 'unavailable' when too many different keys wait, and takes keys again afterwards", async () => {
    const { verifier } = bench();
    const results = await Promise.allSettled(
      Array.from({ length: 80 }, () => verifier.verify(makeKey("secret"))),
    );
    const refused = results.filter((result) => result.status === "rejected");
    expect(refused).toHaveLength(80 - 1 - 64);
    for (const { reason } of refused) {
      expect(reason).toBeInstanceOf(FormsvcError);
      expect([(reason as FormsvcError).code, (reason as FormsvcError).facts.retryAfterSeconds]).toEqual([
        "unavailable",
        1,
      ]);
    }
    expect(await verifier.verify(secret.parsed)).not.toBeNull();
  });

  test("verifies a genuine key before all keys that do not exist, however many of those came first", async () => {
    const { verifier } = bench();
    const strangers = flood(verifier, () => makeKey("secret"));
    expect(await verifier.verify(secret.parsed)).not.toBeNull();
    expect(strangers.checked()).toBeLessThan(20);
  });

  test("verifies a genuine key before all revoked ones, and those that are of the other kind", async () => {
    const { db, verifier, clock } = bench();
    db.now(() => revokeKey(publishable.parsed.lookup, clock.now()));
    const revoked = flood(verifier, () => impostorOf(publishable.parsed));
    const ofOtherKind = flood(verifier, () => impostorOf({ ...secret.parsed, kind: "publishable" }));
    expect(await verifier.verify(secret.parsed)).not.toBeNull();
    expect(revoked.checked() + ofOtherKind.checked()).toBeLessThan(20);
  });

  test("of an earlier version works without a tag, and made-up texts delay it only until it was used", async () => {
    const { db, verifier, clock } = bench();
    db.execute("UPDATE api_key SET tag = NULL");
    const found = await verifier.verify(secret.parsed);
    expect(found?.tag).toEqual(tagOf(secret.parsed.text));
    expect(db.prepare("SELECT count(*) FROM api_key WHERE tag IS NOT NULL").pluck().get()).toBe(1);
    const next = createKeyVerifier(db, clock);
    const impostors = flood(next, () => impostorOf(secret.parsed));
    expect(await next.verify(secret.parsed)).toMatchObject({ id: found?.id });
    expect(impostors.checked()).toBeLessThan(10);
  });

  test("is verified although its tag cannot be written", async () => {
    const { db, clock } = bench();
    db.execute("UPDATE api_key SET tag = NULL");
    const failing = { ...db, relaxedTransaction: () => Promise.reject(new Error("the disk is full")) };
    expect(await createKeyVerifier(failing, clock).verify(secret.parsed)).not.toBeNull();
    expect(db.prepare("SELECT count(*) FROM api_key WHERE tag IS NOT NULL").pluck().get()).toBe(0);
  });

  test("lets made-up texts with the 12 characters of one key delay no other key", async () => {
    const { verifier } = bench();
    const impostors = flood(verifier, () => impostorOf(publishable.parsed));
    expect(await verifier.verify(secret.parsed)).not.toBeNull();
    expect(impostors.checked()).toBeLessThan(20);
  });
});

describe("revoking", () => {
  test("refuses a remembered key as soon as its record is read again", async () => {
    const { db, verifier, keyId, clock } = bench();
    await verifier.verify(secret.parsed);
    openForTest(db.path).now(() => revokeKey(keyId, clock.now()));
    expect(verifier.recall(secret.parsed.text)).not.toBeNull();
    verifier.forgetRecords(null);
    expect(verifier.recall(secret.parsed.text)).toBeNull();
    expect(await verifier.find(secret.parsed.text)).toBeNull();
    expect(await verifier.verify(secret.parsed)).toBeNull();
  });

  test("a key while it is hashed is not remembered as good", async () => {
    const { db, verifier, keyId, clock } = bench();
    const running = verifier.verify(secret.parsed);
    openForTest(db.path).now(() => revokeKey(keyId, clock.now()));
    verifier.forgetRecords(null);
    expect(await running).toBeNull();
    expect(await verifier.find(secret.parsed.text)).toBeNull();
  });

  test("twice changes nothing, and an earlier end is kept", () => {
    const { db, keyId } = bench();
    db.now(() => revokeKey(keyId, NOON));
    db.now(() => revokeKey(keyId, NOON + 5));
    expect(db.now(() => getKey(keyId)).revokedAt).toBe(NOON);
  });

  test("ahead of time refuses from that millisecond on, without any notice", async () => {
    const { db, verifier, keyId, clock } = bench();
    await replaceKey(db, { key: keyId, graceMs: 1000 }, NOON);
    expect(await verifier.verify(secret.parsed)).not.toBeNull();
    clock.advance(999);
    expect(await verifier.find(secret.parsed.text)).not.toBeNull();
    clock.advance(1);
    expect(await verifier.find(secret.parsed.text)).toBeNull();
  });
});

describe("a key that was refused once is refused for ever, though the clock is set back", () => {
  test("when it was revoked, in this process and the next", async () => {
    const { db, verifier, keyId, clock } = bench();
    await verifier.verify(secret.parsed);
    db.now(() => revokeKey(keyId, clock.now()));
    verifier.forgetRecords(null);
    clock.advance(-HOUR_MS);
    expect(await verifier.find(secret.parsed.text)).toBeNull();
    expect(await createKeyVerifier(db, clock).verify(secret.parsed)).toBeNull();
    await expect(replaceKey(db, { key: keyId, graceMs: 0 }, clock.now())).rejects.toMatchObject({
      code: "conflict",
    });
  });

  test("when it was rotated without grace", async () => {
    const { db, keyId, clock } = bench();
    await replaceKey(db, { key: keyId, graceMs: 0 }, clock.now());
    clock.advance(-HOUR_MS);
    expect(await createKeyVerifier(db, clock).verify(secret.parsed)).toBeNull();
  });

  test("when its grace was over: at once in this process, from the next clean-up on in others", async () => {
    const { db, verifier, keyId, clock } = bench();
    await replaceKey(db, { key: keyId, graceMs: 5000 }, clock.now());
    expect(db.now(() => finishGrace(clock.now()))).toBe(0);
    expect(await verifier.verify(secret.parsed)).not.toBeNull();
    clock.advance(5000);
    expect(await verifier.find(secret.parsed.text)).toBeNull();
    expect([db.now(() => finishGrace(clock.now())), db.now(() => finishGrace(clock.now()))]).toEqual([1, 0]);
    clock.advance(-HOUR_MS);
    verifier.forgetRecords(null);
    expect(await verifier.verify(secret.parsed)).toBeNull();
    expect(await createKeyVerifier(db, clock).verify(secret.parsed)).toBeNull();
  });

  test("also before the clean-up came", async () => {
    const { db, verifier, keyId, clock } = bench();
    await verifier.verify(secret.parsed);
    await replaceKey(db, { key: keyId, graceMs: 5000 }, clock.now());
    verifier.forgetRecords(null);
    clock.advance(5000);
    expect(await verifier.find(secret.parsed.text)).toBeNull();
    clock.advance(-HOUR_MS);
    expect(await verifier.verify(secret.parsed)).toBeNull();
  });
});

describe("rotating", () => {
  test("issues a key of the same kind for the same endpoint and ends the old one after the grace", async () => {
    const { db, keyId } = bench();
    const old = db.now(() => getKey(keyId));
    const { key, text } = await replaceKey(db, { key: old.lookup, graceMs: 5000 }, NOON);
    expect([key.kind, key.endpointId, key.revokedAt]).toEqual([old.kind, old.endpointId, null]);
    expect(text).toContain(key.lookup);
    expect(db.now(() => getKey(keyId)).revokedAt).toBe(NOON + 5000);
    expect(db.now(() => listKeys(old.endpointId))).toHaveLength(3);
  });

  test("finds a key by its id, by its 12 characters and by the whole of it", async () => {
    const { db, keyId } = bench();
    const { id, lookup } = db.now(() => getKey(keyId));
    for (const reference of [id, lookup, secret.parsed.text])
      expect(db.now(() => getKey(reference)).id).toBe(id);
  });

  test("refuses a key that is revoked already, and names no key that does not exist", async () => {
    const { db, keyId } = bench();
    db.now(() => revokeKey(keyId, NOON));
    await expect(replaceKey(db, { key: keyId, graceMs: 0 }, NOON)).rejects.toMatchObject({
      code: "conflict",
    });
    const unknown = makeKey("secret").text;
    for (const nobody of ["key_nothing", "AAAAAAAAAAAA", "", unknown, `${secret.parsed.text}x`]) {
      await expect(replaceKey(db, { key: nobody, graceMs: 0 }, NOON)).rejects.toMatchObject({
        code: "not_found",
      });
      await expect(replaceKey(db, { key: nobody, graceMs: 0 }, NOON)).rejects.not.toThrow(/fsk_/);
    }
  });
});
