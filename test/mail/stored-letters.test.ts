import { EventEmitter, once } from "node:events";
import type { Socket } from "node:net";
import type { SMTPServerOptions } from "smtp-server";
import { describe, expect, onTestFinished, test } from "vitest";
import { NOTHING_TO_CONFIRM } from "../../src/database/confirmations.ts";
import type { Database } from "../../src/database/database.ts";
import { type LiveServers, ONLY_SERVER } from "../../src/database/live-servers.ts";
import { createLog } from "../../src/foundation/log.ts";
import {
  findLetter,
  listLetters,
  type NewLetter,
  queueLetter,
  type StoredKind,
} from "../../src/mail/letters/letter-store.ts";
import { checkFailedLetters } from "../../src/mail/health/mail-health.ts";
import { createSmtpSender } from "../../src/mail/smtp/smtp-sender.ts";
import { StoredLetters } from "../../src/mail/letters/stored-letters.ts";
import { ENGINES, rowsOf, write } from "../support/engines.ts";
import { createFakeClock } from "../support/fake-clock.ts";
import { createFakeTiming } from "../support/fake-timing.ts";
import { plainSettings, startMailServer } from "../support/smtp-servers.ts";
import { until } from "../support/until.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../src/foundation/time-units.ts";

const ADA = "ada@example.org";

function letterOf(kind: StoredKind, topic: string, address = ADA): NewLetter {
  const content = { subject: `About ${topic}`, paragraphs: ["Something happened."], link: null };
  return { kind, topic, address, recipientId: null, content };
}

/** What answers each recipient with the next of these codes; after the last one it takes all. */
function refusing(...codes: number[]): SMTPServerOptions {
  return {
    onRcptTo(_address, _session, callback) {
      const code = codes.shift();
      callback(code === undefined ? null : Object.assign(new Error("no"), { responseCode: code }));
    },
  };
}

async function openWorld(db: Database, options: SMTPServerOptions = {}) {
  const mail = await startMailServer(options);
  const clock = createFakeClock();
  const events = new EventEmitter();
  const lines: Record<string, unknown>[] = [];
  const log = createLog("info", {
    write(line: string) {
      const entry = JSON.parse(line) as Record<string, unknown>;
      lines.push(entry);
      events.emit(String(entry["event"]));
    },
  });
  /** The letters of a process that has just begun. */
  const begin = (servers: LiveServers = ONLY_SERVER, perMinute = 1000) => {
    const sender = createSmtpSender(plainSettings(mail.port));
    const timing = createFakeTiming();
    const letters = new StoredLetters({
      confirmations: NOTHING_TO_CONFIRM,
      db,
      sender,
      perMinute,
      servers,
      clock,
      log,
      timing,
      from: "forms@example.com",
      scheduleSeconds: [60, 300],
      linkOf: async () => ({ label: "Answer", url: "https://forms.example.com/answer" }),
      count: () => {},
    });
    onTestFinished(async () => {
      await sender.close();
      await letters.stop();
    });
    return { letters, timing, sender };
  };
  const queue = (letter: NewLetter) => db.transaction(() => queueLetter(letter, clock.now()));
  const next = (event: string) => once(events, event);
  const subjects = () => mail.received.map(({ raw }) => /^Subject: (.*)$/m.exec(raw.toString())?.[1]?.trim());
  /** Time goes by, for the clock and for one process. */
  const advance = (timing: { advance(ms: number): void }, ms: number) => {
    clock.advance(ms);
    timing.advance(ms);
  };
  return { mail, clock, lines, begin, queue, next, subjects, advance };
}

const statesOf = (db: Database) =>
  rowsOf<{ topic: string; state: string; attempts: number; spent: number }>(
    db,
    "SELECT topic, state, attempts, spent FROM letter ORDER BY id",
  );

describe.each(ENGINES)("letters in $name", ({ temporary }) => {
  test("what protects an account goes first, and what strangers cause last", async () => {
    const db = await temporary();
    const { begin, queue, subjects } = await openWorld(db);
    for (const [kind, topic] of [
      ["operator", "two"],
      ["security", "one"],
      ["operator", "three"],
    ] as const)
      await queue(letterOf(kind, topic));
    begin().letters.start();
    await until(() => subjects().length === 3);
    expect(subjects()).toEqual(["About one", "About two", "About three"]);
  });

  test("a letter that waits at the end of a process is sent by the next one, with its id", async () => {
    const db = await temporary();
    const { begin, queue, mail, next, clock } = await openWorld(db, refusing(421));
    const id = await queue(letterOf("security", "one"));
    const first = begin();
    const delayed = next("letter.delayed");
    first.letters.start();
    await delayed;
    await first.letters.stop();
    clock.advance(MINUTE_MS);
    const second = begin();
    second.letters.start();
    await until(() => mail.received.length === 1);
    expect(mail.received[0]?.raw.toString()).toContain(`Message-ID: <${String(id)}@example.com>`);
    await until(async () => (await statesOf(db))[0]?.state === "delivered");
  });

  test("a process that is killed in the middle of an attempt loses no letter", async () => {
    const db = await temporary();
    const { begin, queue, mail, advance } = await openWorld(db);
    const id = await queue(letterOf("security", "one"));
    // As a killed process leaves it: claimed, and no end recorded.
    await write(db, "UPDATE letter SET claimed_by = 'only', attempts = 1");
    const { letters, timing } = begin();
    letters.start();
    advance(timing, 0);
    await until(() => mail.received.length === 1);
    expect(await db.read(() => findLetter(String(id)))).toMatchObject({ attempts: 2 });
  });

  test("a letter of which the mail server never says that it took it goes once more and is then given up", async () => {
    const db = await temporary();
    let received = 0;
    const dropping: SMTPServerOptions = {
      onData(this: { connections: Set<{ _socket: Socket }> }, stream) {
        received += 1;
        stream.resume().on("end", () => {
          for (const { _socket } of this.connections) _socket.destroy();
        });
      },
    };
    const { begin, queue, next, advance } = await openWorld(db, dropping);
    await queue(letterOf("security", "one"));
    const { letters, timing } = begin();
    letters.start();
    await next("letter.delayed");
    expect(received).toBe(1);
    const given = next("letter.failed");
    advance(timing, HOUR_MS);
    await given;
    advance(timing, DAY_MS);
    expect([received, await statesOf(db)]).toEqual([
      2,
      [{ topic: "one", state: "failed", attempts: 2, spent: 2 }],
    ]);
  });

  test("while the mail server is away nothing is spent and nothing is dropped, for however long", async () => {
    const db = await temporary();
    const away = Object.assign(new Error("come back later"), { responseCode: 421 });
    let isAway = true;
    const { begin, queue, mail, next, advance } = await openWorld(db, {
      onConnect: (_session, callback) => callback(isAway ? away : null),
    });
    for (const topic of ["one", "two"]) await queue(letterOf("security", topic));
    const { letters, timing } = begin();
    for (let days = 0; days < 8; days += 1) {
      const delayed = next("letter.delayed");
      if (days === 0) letters.start();
      else advance(timing, DAY_MS);
      await delayed;
      await until(() => timing.nextAt() !== undefined);
    }
    expect(await statesOf(db)).toMatchObject([
      { state: "pending", spent: 0 },
      { state: "pending", spent: 0 },
    ]);
    isAway = false;
    advance(timing, HOUR_MS);
    await until(() => mail.received.length === 2);
  });

  test("a refusal of the address is tried again as the schedule says, with the same bytes, and then given up", async () => {
    const db = await temporary();
    const { begin, queue, next, lines, advance, mail, clock } = await openWorld(db, refusing(450, 550, 450));
    await queue(letterOf("operator", "one"));
    const { letters, timing } = begin();
    let delayed = next("letter.delayed");
    letters.start();
    await delayed;
    await until(() => timing.nextAt() !== undefined);
    delayed = next("letter.delayed");
    advance(timing, MINUTE_MS);
    await delayed;
    await until(() => timing.nextAt() !== undefined);
    const failed = next("letter.failed");
    for (let minutes = 0; minutes < 5; minutes += 1) {
      advance(timing, MINUTE_MS);
      await until(
        () => timing.nextAt() !== undefined || lines.some(({ event }) => event === "letter.failed"),
      );
    }
    await failed;
    expect(await statesOf(db)).toEqual([{ topic: "one", state: "failed", attempts: 3, spent: 3 }]);
    const finding = await db.read(() => checkFailedLetters(clock.now()));
    expect(finding).toMatchObject({ name: "mail.letters", ok: false });
    expect(await db.read(() => checkFailedLetters(clock.now() + 8 * 24 * HOUR_MS))).toMatchObject({
      ok: true,
    });
    expect(mail.received).toEqual([]);
    expect(JSON.stringify(lines)).not.toContain("ada@");
  });

  test("one topic waits once for an address, and a fourth letter of an hour waits for the next hour", async () => {
    const db = await temporary();
    const { begin, queue, subjects, advance } = await openWorld(db);
    expect(await queue(letterOf("security", "one"))).toMatch(/^msg_/);
    expect(await queue(letterOf("security", "one"))).toBeNull();
    expect(await queue(letterOf("security", "one", "ben@example.org"))).toMatch(/^msg_/);
    for (const topic of ["two", "three", "four"])
      expect(await queue(letterOf("security", topic))).not.toBeNull();
    const { letters, timing } = begin();
    letters.start();
    await until(() => subjects().length === 4);
    await until(() => timing.nextAt() !== undefined);
    expect(subjects()).not.toContain("About four");
    for (let minutes = 0; minutes < 60; minutes += 1) {
      advance(timing, MINUTE_MS);
      await until(() => timing.nextAt() !== undefined);
    }
    await until(() => subjects().length === 5);
    expect(subjects().at(-1)).toBe("About four");
  });

  test("letters that a clock far ahead wrote hold up no letter of a later hour", async () => {
    const db = await temporary();
    const { begin, clock, queue, subjects } = await openWorld(db);
    clock.advance(365 * DAY_MS);
    for (const topic of ["one", "two", "three"]) await queue(letterOf("security", topic));
    clock.advance(-365 * DAY_MS);
    await queue(letterOf("security", "four"));
    begin().letters.start();
    await until(() => subjects().length === 4);
    expect(subjects()).toContain("About four");
  });

  test("each kind has its own part of a minute: confirmations never slow what protects", async () => {
    const db = await temporary();
    const { begin, queue, subjects } = await openWorld(db);
    const { letters, timing } = begin(ONLY_SERVER, 8);
    letters.start();
    for (const topic of ["one", "two"]) await queue(letterOf("confirmation", topic, `${topic}@example.org`));
    letters.wake();
    await until(() => subjects().length === 1);
    await until(() => timing.nextAt() !== undefined);
    for (const topic of ["three", "four"]) await queue(letterOf("security", topic));
    letters.wake();
    await until(() => subjects().length === 3);
    expect(subjects()).toEqual(["About one", "About three", "About four"]);
  });

  test("of several servers one sends a letter, and another takes over only what a lost one had", async () => {
    const db = await temporary();
    const { begin, queue, mail, subjects } = await openWorld(db);
    let live = ["a", "b"];
    const as = (self: string): LiveServers => ({ self, list: () => live });
    for (let number = 0; number < 20; number += 1)
      await queue(letterOf("security", `${number}`, `a${number}@example.org`));
    const servers = [begin(as("a")), begin(as("b"))];
    for (const { letters } of servers) letters.start();
    await until(() => {
      // Who met another server's transaction looks again a second later.
      for (const { timing } of servers) timing.advance(1000);
      return mail.received.length === 20;
    });
    await until(async () => (await statesOf(db)).every(({ state }) => state === "delivered"));
    expect(new Set(subjects()).size).toBe(20);
    expect(mail.received).toHaveLength(20);

    await queue(letterOf("security", "late"));
    await write(db, "UPDATE letter SET claimed_by = 'b', attempts = 1 WHERE state = 'pending'");
    await servers[1]?.letters.stop();
    servers[0]?.letters.wake();
    await until(() => servers[0]?.timing.nextAt() !== undefined);
    expect(mail.received).toHaveLength(20);
    live = ["a"];
    servers[0]?.letters.wake();
    await until(() => mail.received.length === 21);
  });

  test("are listed for more recipients than a statement takes parameters", async () => {
    const db = await temporary();
    const recipientIds = Array.from({ length: 70_000 }, (_, index) => `rcpt_${index}`);
    const found = await db.read(() => listLetters({ recipientIds, state: null, before: null, limit: 10 }));
    expect(found).toEqual([]);
  });
});
