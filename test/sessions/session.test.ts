import { randomBytes } from "node:crypto";
import { describe, expect, test } from "vitest";
import { defaultConfig } from "../../src/config/config.ts";
import type { Database } from "../../src/database/database.ts";
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
import { insertAccountRows } from "../../src/workspaces/workspace-store.ts";
import { NOON } from "../support/fake-clock.ts";
import { ENGINES, rowsOf } from "../support/engines.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../src/foundation/time-units.ts";

const SETTINGS = defaultConfig.dashboard;
const BROWSER = { userAgent: "Firefox", ipAddress: null };

describe.each(ENGINES)("on $name", ({ temporary }) => {
  async function signedIn(now = NOON) {
    const db = await temporary();
    const { account } = await db.transaction(() => insertAccountRows("ana@example.org", NOON));
    return { db, account, ...(await db.transaction(() => startSession(account.id, BROWSER, now))) };
  }

  async function view(db: Database, cookie: string, now = NOON) {
    return db.transaction(() => findViewer(cookie, now, SETTINGS));
  }

  async function note(db: Database, cookie: string, now: number) {
    const viewer = (await view(db, cookie, now))!;
    await db.transaction(() => noteSeen(viewer, now));
  }

  test("a cookie tells who its session belongs to", async () => {
    const { db, account, id, cookie } = await signedIn();
    const { email, isOperator } = account;
    const viewer = { accountId: account.id, email, isOperator, sessionId: id, seenAt: NOON };
    expect(await view(db, cookie)).toEqual(viewer);
  });

  test("nothing but the whole cookie of a session tells anything", async () => {
    const { db, id, cookie } = await signedIn();
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
      expect(await view(db, wrong), wrong).toBeUndefined();
  });

  test("the database does not hold the secret of a cookie", async () => {
    const { db, cookie } = await signedIn();
    const secret = cookie.split(".")[1] ?? "";
    const [row] = await rowsOf<{ secret_hash: Buffer }>(db, "SELECT * FROM session");
    expect(JSON.stringify(row)).not.toContain(secret);
    expect(row?.secret_hash.includes(Buffer.from(secret, "base64url"))).toBe(false);
  });

  test("a session ends 7 days after its last use, to the minute", async () => {
    const { db, cookie } = await signedIn();
    expect(await view(db, cookie, NOON + 7 * DAY_MS - 1)).toBeDefined();
    expect(await view(db, cookie, NOON + 7 * DAY_MS)).toBeUndefined();
    const used = NOON + 6 * DAY_MS;
    await note(db, cookie, used);
    expect(await view(db, cookie, NOON + 7 * DAY_MS)).toBeDefined();
    expect(await view(db, cookie, used + 7 * DAY_MS)).toBeUndefined();
  });

  test("a session ends 30 days after its sign-in, however much it is used", async () => {
    const { db, cookie } = await signedIn();
    for (let day = 1; day < 30; day += 1) await note(db, cookie, NOON + day * DAY_MS);
    expect(await view(db, cookie, NOON + 30 * DAY_MS - 1)).toBeDefined();
    expect(await view(db, cookie, NOON + 30 * DAY_MS)).toBeUndefined();
  });

  test("the configuration sets both times", async () => {
    const { db, cookie } = await signedIn();
    const at = (now: number, settings: { sessionIdleHours: number; sessionMaxDays: number }) =>
      db.transaction(() => findViewer(cookie, now, settings));
    expect(await at(NOON + HOUR_MS, { sessionIdleHours: 1, sessionMaxDays: 30 })).toBeUndefined();
    expect(await at(NOON + HOUR_MS, { sessionIdleHours: 2, sessionMaxDays: 30 })).toBeDefined();
    expect(await at(NOON + DAY_MS, { sessionIdleHours: 168, sessionMaxDays: 1 })).toBeUndefined();
    expect(await at(NOON + DAY_MS, { sessionIdleHours: 168, sessionMaxDays: 2 })).toBeDefined();
  });

  test("the use of a session is written at most once a minute", async () => {
    const { db, cookie } = await signedIn();
    const viewer = (await view(db, cookie))!;
    expect(isSeenDue(viewer, NOON + MINUTE_MS - 1)).toBe(false);
    expect(isSeenDue(viewer, NOON + MINUTE_MS)).toBe(true);
    const seenAt = async () =>
      (await rowsOf<{ seen_at: number }>(db, "SELECT seen_at FROM session"))[0]?.seen_at;
    await db.transaction(() => noteSeen(viewer, NOON + MINUTE_MS - 1));
    expect(await seenAt()).toBe(NOON);
    await db.transaction(() => noteSeen(viewer, NOON + MINUTE_MS));
    expect(await seenAt()).toBe(NOON + MINUTE_MS);
  });

  test("one session, the others or all of them can be ended, and nobody ends somebody else's", async () => {
    const { db, account, id, cookie } = await signedIn();
    const start = (accountId: string) => db.transaction(() => startSession(accountId, BROWSER, NOON));
    const ben = (await db.transaction(() => insertAccountRows("ben@example.org", NOON))).account;
    const [second, third, his] = [await start(account.id), await start(account.id), await start(ben.id)];
    expect(await db.transaction(() => endSession(account.id, his.id))).toBe(false);
    expect(await db.transaction(() => endSession(account.id, second.id))).toBe(true);
    expect(await db.transaction(() => endSession(account.id, second.id))).toBe(false);
    expect(await view(db, second.cookie)).toBeUndefined();
    expect(await db.transaction(() => endOtherSessions(account.id, id))).toBe(1);
    expect([await view(db, cookie), await view(db, third.cookie)]).toEqual([expect.anything(), undefined]);
    expect(await db.transaction(() => endSessions(account.id))).toBe(1);
    expect([await view(db, cookie), await view(db, his.cookie)]).toEqual([undefined, expect.anything()]);
  });

  test("the list shows the sessions that go on, the one used last first", async () => {
    const { db, account, id } = await signedIn();
    const later = NOON + 6 * DAY_MS;
    const browser = { userAgent: "B".repeat(5000), ipAddress: "192.0.2.7" };
    const newest = await db.transaction(() => startSession(account.id, browser, later));
    const listed = async (now: number) =>
      (await db.transaction(() => listSessions(account.id, now, SETTINGS))).map((session) => session.id);
    expect(await listed(later)).toEqual([newest.id, id]);
    expect(await listed(NOON + 7 * DAY_MS)).toEqual([newest.id]);
    expect((await db.transaction(() => listSessions(account.id, later, SETTINGS)))[0]).toEqual({
      id: newest.id,
      createdAt: later,
      seenAt: later,
      userAgent: "B".repeat(200),
      ipAddress: "192.0.2.7",
    });
  });

  test("the 51st session of an account ends the one that was not used for longest", async () => {
    const { db, account, cookie } = await signedIn();
    const cookies: string[] = [];
    for (let index = 1; index <= 50; index += 1)
      cookies.push((await db.transaction(() => startSession(account.id, BROWSER, NOON + index))).cookie);
    expect(await view(db, cookie)).toBeUndefined();
    for (const each of cookies) expect(await view(db, each)).toBeDefined();
  });

  test("sessions that ended by themselves are deleted, and no others", async () => {
    const { db, account } = await signedIn();
    const kept = (await db.transaction(() => startSession(account.id, BROWSER, NOON + DAY_MS))).id;
    expect(await db.transaction(() => dropEndedSessions(NOON + 7 * DAY_MS, SETTINGS))).toBe(1);
    expect(await rowsOf(db, "SELECT id FROM session")).toEqual([{ id: kept }]);
  });
});
