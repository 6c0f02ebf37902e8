import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { defaultConfig } from "../../src/config/config.ts";
import type { SqliteDatabase } from "../../src/database/sqlite/sqlite-database.ts";
import {
  dropEndedSessions,
  endOtherSessions,
  endSession,
  endSessions,
  findViewer,
  isSeenDue,
  listSessions,
  noteSeen,
  startSession,
} from "../../src/sessions/session.ts";
import { createAccount } from "../../src/workspaces/workspace-store.ts";
import { NOON } from "../support/fake-clock.ts";
import { temporaryDatabase } from "../support/temporary-database.ts";

const SETTINGS = defaultConfig.dashboard;
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const BROWSER = { userAgent: "Firefox", ipAddress: null };

function signedIn(now = NOON) {
  const db = temporaryDatabase();
  const { account } = db.now(() => createAccount("ana@example.org", NOON));
  return { db, account, ...db.now(() => startSession(account.id, BROWSER, now)) };
}

function view(db: SqliteDatabase, cookie: string, now = NOON) {
  return db.now(() => findViewer(cookie, now, SETTINGS));
}

test("a cookie tells who its session belongs to", () => {
  const { db, account, id, cookie } = signedIn();
  const { email, isOperator } = account;
  const viewer = { accountId: account.id, email, isOperator, sessionId: id, seenAt: NOON };
  expect(view(db, cookie)).toEqual(viewer);
});

test("nothing but the whole cookie of a session tells anything", () => {
  const { db, id, cookie } = signedIn();
  const other = `${id}.${randomBytes(32).toString("base64url")}`;
  for (const wrong of [
    "",
    id,
    `${id}.`,
    `${cookie} `,
    `${cookie}A`,
    cookie.slice(0, -1),
    other,
    `x${cookie}`,
  ])
    expect(view(db, wrong), wrong).toBeUndefined();
});

test("the database does not hold the secret of a cookie", () => {
  const { db, cookie } = signedIn();
  const secret = cookie.split(".")[1] ?? "";
  const stored = JSON.stringify(db.prepare("SELECT *, hex(secret_hash) AS hash FROM session").all());
  expect(stored).not.toContain(secret);
  expect(stored).not.toContain(Buffer.from(secret, "base64url").toString("hex").toUpperCase());
});

test("a session ends 7 days after its last use, to the minute", () => {
  const { db, cookie } = signedIn();
  expect(view(db, cookie, NOON + 7 * DAY - 1)).toBeDefined();
  expect(view(db, cookie, NOON + 7 * DAY)).toBeUndefined();
  const used = NOON + 6 * DAY;
  db.now(() => noteSeen(view(db, cookie, used)!, used));
  expect(view(db, cookie, NOON + 7 * DAY)).toBeDefined();
  expect(view(db, cookie, used + 7 * DAY)).toBeUndefined();
});

test("a session ends 30 days after its sign-in, however much it is used", () => {
  const { db, cookie } = signedIn();
  for (let day = 1; day < 30; day += 1)
    db.now(() => noteSeen(view(db, cookie, NOON + day * DAY)!, NOON + day * DAY));
  expect(view(db, cookie, NOON + 30 * DAY - 1)).toBeDefined();
  expect(view(db, cookie, NOON + 30 * DAY)).toBeUndefined();
});

test("the configuration sets both times", () => {
  const { db, cookie } = signedIn();
  const at = (now: number, settings: { sessionIdleHours: number; sessionMaxDays: number }) =>
    db.now(() => findViewer(cookie, now, settings));
  expect(at(NOON + HOUR, { sessionIdleHours: 1, sessionMaxDays: 30 })).toBeUndefined();
  expect(at(NOON + HOUR, { sessionIdleHours: 2, sessionMaxDays: 30 })).toBeDefined();
  expect(at(NOON + DAY, { sessionIdleHours: 168, sessionMaxDays: 1 })).toBeUndefined();
  expect(at(NOON + DAY, { sessionIdleHours: 168, sessionMaxDays: 2 })).toBeDefined();
});

test("the use of a session is written at most once a minute", () => {
  const { db, cookie } = signedIn();
  const viewer = view(db, cookie)!;
  expect(isSeenDue(viewer, NOON + MINUTE - 1)).toBe(false);
  expect(isSeenDue(viewer, NOON + MINUTE)).toBe(true);
  const seenAt = () => db.prepare("SELECT seen_at FROM session").pluck().get();
  db.now(() => noteSeen(viewer, NOON + MINUTE - 1));
  expect(seenAt()).toBe(NOON);
  db.now(() => noteSeen(viewer, NOON + MINUTE));
  expect(seenAt()).toBe(NOON + MINUTE);
});

test("one session, the others or all of them can be ended, and nobody ends somebody else's", () => {
  const { db, account, id, cookie } = signedIn();
  const start = (accountId: string) => db.now(() => startSession(accountId, BROWSER, NOON));
  const ben = db.now(() => createAccount("ben@example.org", NOON)).account;
  const [second, third, his] = [start(account.id), start(account.id), start(ben.id)];
  expect(db.now(() => endSession(account.id, his.id))).toBe(false);
  expect(db.now(() => endSession(account.id, second.id))).toBe(true);
  expect(db.now(() => endSession(account.id, second.id))).toBe(false);
  expect(view(db, second.cookie)).toBeUndefined();
  expect(db.now(() => endOtherSessions(account.id, id))).toBe(1);
  expect([view(db, cookie), view(db, third.cookie)]).toEqual([expect.anything(), undefined]);
  expect(db.now(() => endSessions(account.id))).toBe(1);
  expect([view(db, cookie), view(db, his.cookie)]).toEqual([undefined, expect.anything()]);
});

test("the list shows the sessions that go on, the one used last first", () => {
  const { db, account, id } = signedIn();
  const later = NOON + 6 * DAY;
  const browser = { userAgent: "B".repeat(5000), ipAddress: "192.0.2.7" };
  const newest = db.now(() => startSession(account.id, browser, later));
  const listed = (now: number) => db.now(() => listSessions(account.id, now, SETTINGS)).map(({ id }) => id);
  expect(listed(later)).toEqual([newest.id, id]);
  expect(listed(NOON + 7 * DAY)).toEqual([newest.id]);
  expect(db.now(() => listSessions(account.id, later, SETTINGS))[0]).toEqual({
    id: newest.id,
    createdAt: later,
    seenAt: later,
    userAgent: "B".repeat(200),
    ipAddress: "192.0.2.7",
  });
});

test("the 51st session of an account ends the one that was not used for longest", () => {
  const { db, account, cookie } = signedIn();
  const cookies = Array.from(
    { length: 50 },
    (_, index) => db.now(() => startSession(account.id, BROWSER, NOON + index + 1)).cookie,
  );
  expect(view(db, cookie)).toBeUndefined();
  expect(cookies.filter((each) => view(db, each) === undefined)).toEqual([]);
});

test("sessions that ended by themselves are deleted, and no others", () => {
  const { db, account } = signedIn();
  const kept = db.now(() => startSession(account.id, BROWSER, NOON + DAY)).id;
  expect(db.now(() => dropEndedSessions(NOON + 7 * DAY, SETTINGS))).toBe(1);
  expect(db.prepare("SELECT id FROM session").pluck().all()).toEqual([kept]);
});
