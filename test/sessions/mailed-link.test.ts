import { expect, test } from "vitest";
import type { SqliteDatabase } from "../../src/database/sqlite/sqlite-database.ts";
import {
  dropOldMailedLinks,
  findMailedLink,
  type LinkPurpose,
  makeMailedLink,
  MAX_MAILED_LINKS,
  takeMailedLink,
} from "../../src/sessions/mailed-link.ts";
import { NOON } from "../support/fake-clock.ts";
import { openForTest, temporaryDatabase } from "../support/temporary-database.ts";
import { hasPostgresql, temporaryPostgresql } from "../support/temporary-postgresql.ts";
import { DAY_MS, HOUR_MS } from "../../src/foundation/time-units.ts";

const ADA = "ada@example.org";

function bench(db: SqliteDatabase = temporaryDatabase()) {
  return {
    db,
    make: (purpose: LinkPurpose, email = ADA, now = NOON) =>
      db.now(() => makeMailedLink(purpose, email, now)),
    find: (purpose: LinkPurpose, token: string, now = NOON) =>
      db.now(() => findMailedLink(purpose, token, now))?.email,
    take: (purpose: LinkPurpose, token: string, now = NOON) =>
      db.now(() => takeMailedLink(purpose, token, now))?.email,
    count: () => db.prepare("SELECT count(*) FROM mailed_link").pluck().get(),
  };
}

test("a link has 256 random bits, and the database holds only their hash", () => {
  const { db, make } = bench();
  const token = make("reset");
  expect(Buffer.from(token, "base64url")).toHaveLength(32);
  const row = JSON.stringify(db.prepare("SELECT hex(token_hash) AS hash, * FROM mailed_link").get());
  expect(row).not.toContain(token);
  expect(row).not.toContain(Buffer.from(token, "base64url").toString("hex").toUpperCase());
});

test("a link works once, and only for what it was made for", () => {
  const { make, find, take } = bench();
  const token = make("reset");
  expect([find("sign-up", token), take("sign-up", token)]).toEqual([undefined, undefined]);
  expect([find("reset", token), find("reset", token)]).toEqual([ADA, ADA]);
  expect([take("reset", token), take("reset", token), find("reset", token)]).toEqual([
    ADA,
    undefined,
    undefined,
  ]);
});

test("of two processes that use one link, one wins", () => {
  const one = bench();
  const other = bench(openForTest(one.db.path));
  const token = one.make("sign-up");
  expect([one, other].map((each) => each.take("sign-up", token))).toEqual([ADA, undefined]);
});

test.each([
  ["sign-up", DAY_MS],
  ["reset", HOUR_MS],
] as const)("a link for a %s works for %i ms and not one longer", (purpose, lifetime) => {
  const { make, find, take } = bench();
  const token = make(purpose);
  expect(find(purpose, token, NOON + lifetime)).toBeUndefined();
  expect(find(purpose, token, NOON + lifetime - 1)).toBe(ADA);
  expect(take(purpose, token, NOON + lifetime)).toBeUndefined();
});

test("a new link replaces the earlier one of the same address, in whatever case, and purpose only", () => {
  const { make, find, count } = bench();
  const first = make("reset");
  const signUp = make("sign-up");
  const his = make("reset", "ben@example.org");
  const second = make("reset", "ADA@example.org");
  expect([first, second].map((token) => find("reset", token))).toEqual([undefined, "ADA@example.org"]);
  expect([find("sign-up", signUp), find("reset", his)]).toEqual([ADA, "ben@example.org"]);
  expect(count()).toBe(3);
});

test("no text but a token is looked up", () => {
  const { make, find, take } = bench();
  const token = make("reset");
  for (const wrong of ["", `${token}A`, token.slice(1), "*".repeat(43), `${token}\n`])
    expect([find("reset", wrong), take("reset", wrong)]).toEqual([undefined, undefined]);
});

test("links are bounded in number: the oldest of the same purpose are forgotten", async () => {
  const { db, make, find, count } = bench();
  const reset = make("reset");
  const oldest = make("sign-up", "oldest@example.org");
  const second = make("sign-up", "second@example.org", NOON + 1);
  await db.transaction(function* () {
    for (let number = 2; number <= MAX_MAILED_LINKS; number += 1)
      yield* makeMailedLink("sign-up", `a${number}@example.org`, NOON + number);
  });
  expect(count()).toBe(MAX_MAILED_LINKS + 1);
  expect([find("sign-up", oldest), find("sign-up", second)]).toEqual([undefined, "second@example.org"]);
  expect(find("reset", reset)).toBe(ADA);
});

test("links that are too old are cleaned up, each after its own time", () => {
  const { db, make, count } = bench();
  make("reset");
  make("sign-up");
  const clean = (now: number) => db.now(() => dropOldMailedLinks(now));
  expect(clean(NOON + HOUR_MS - 1)).toBe(0);
  expect([clean(NOON + HOUR_MS), count()]).toEqual([1, 1]);
  expect([clean(NOON + DAY_MS), count()]).toEqual([1, 0]);
});

test.skipIf(!hasPostgresql)("PostgreSQL keeps links by the same rules", async () => {
  const db = await temporaryPostgresql();
  const make = (email: string) => db.transaction(() => makeMailedLink("reset", email, NOON));
  const first = await make(ADA);
  const second = await make("ADA@example.org");
  const take = async (token: string) =>
    (await db.transaction(() => takeMailedLink("reset", token, NOON)))?.email;
  expect([await take(first), await take(second), await take(second)]).toEqual([
    undefined,
    "ADA@example.org",
    undefined,
  ]);
  await make(ADA);
  expect(await db.transaction(() => dropOldMailedLinks(NOON + HOUR_MS))).toBe(1);
});
