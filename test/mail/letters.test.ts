import { EventEmitter, once } from "node:events";
import type { SMTPServerOptions } from "smtp-server";
import { expect, onTestFinished, test } from "vitest";
import { FormsvcError } from "../../src/foundation/errors.ts";
import { createLog } from "../../src/foundation/log.ts";
import { type TokenLetter, Letters, type WrittenLetter } from "../../src/mail/letters/letters.ts";
import { createSmtpSender } from "../../src/mail/smtp/smtp-sender.ts";
import { createFakeClock } from "../support/fake-clock.ts";
import { createFakeTiming } from "../support/fake-timing.ts";
import { plainSettings, startMailServer } from "../support/smtp-servers.ts";
import { HOUR_MS, MINUTE_MS } from "../../src/foundation/time-units.ts";

const ADA = "ada@example.org";

const written: WrittenLetter = {
  to: ADA,
  subject: "Confirm your address",
  paragraphs: ["Somebody asked for an account."],
  link: { label: "Confirm", url: "https://forms.example.com/dashboard/sign-up/confirm?token=abc" },
};

function letterTo(
  address: string,
  write: TokenLetter["write"] = async () => ({ ...written, to: address }),
): TokenLetter {
  return { kind: "sign-up", address, write };
}

/** Letters that go to a real mail server on loopback; only time is moved by hand. */
async function openLetters(options: SMTPServerOptions = {}, perMinute = 1000) {
  const server = await startMailServer(options);
  const sender = createSmtpSender(plainSettings(server.port));
  onTestFinished(() => sender.close());
  const lines: Record<string, unknown>[] = [];
  const told = new EventEmitter();
  const log = createLog("info", {
    write(line: string) {
      const entry = JSON.parse(line) as Record<string, unknown>;
      lines.push(entry);
      told.emit(String(entry["event"]));
    },
  });
  const counted: string[] = [];
  const count = (outcome: string) => void counted.push(outcome);
  const timing = createFakeTiming();
  const from = "forms@example.com";
  const letters = new Letters({ sender, from, perMinute, clock: createFakeClock(), log, count, timing });
  onTestFinished(() => letters.stop());
  const next = (event: string) => once(told, event);
  return { letters, server, timing, lines, counted, next };
}

/** Answers each recipient with the next of these codes; after the last one it takes all. */
function refusing(...codes: number[]): SMTPServerOptions {
  return {
    onRcptTo(_address, _session, callback) {
      const code = codes.shift();
      callback(code === undefined ? null : Object.assign(new Error("not now"), { responseCode: code }));
    },
  };
}

test("a letter arrives with its words and its link, and the log tells neither them nor the address", async () => {
  const { letters, server, lines, counted, next } = await openLetters();
  const sent = next("letter.sent");
  expect(letters.send(letterTo(ADA))).toBe("taken");
  await sent;
  const [{ to, from, raw } = { to: [], from: "", raw: Buffer.alloc(0) }] = server.received;
  expect([to, from]).toEqual([[ADA], "forms@example.com"]);
  expect(raw.toString()).toContain("Subject: Confirm your address");
  expect(raw.toString()).toContain("Auto-Submitted: auto-generated");
  expect(raw.toString().replaceAll("=\r\n", "")).toContain("/sign-up/confirm?token=3Dabc");
  expect(lines).toMatchObject([{ event: "letter.sent", kind: "sign-up", attempts: 1 }]);
  expect(JSON.stringify(lines)).not.toMatch(/ada@|token|account/);
  expect(counted).toEqual(["sent"]);
});

test("a letter is written after its sender was answered, and only if there is something to say is it sent", async () => {
  const { letters, server, next } = await openLetters();
  const order: string[] = [];
  const silent = async () => {
    order.push("asked");
    return null;
  };
  expect(letters.send(letterTo("nobody@example.org", silent))).toBe("taken");
  order.push("answered");
  const sent = next("letter.sent");
  letters.send(letterTo(ADA));
  await sent;
  expect(order).toEqual(["answered", "asked"]);
  expect(server.received.map(({ to }) => to)).toEqual([[ADA]]);
});

test("a letter that the server cannot take now is tried again with the same bytes, and is written once", async () => {
  const { letters, server, timing, lines, next } = await openLetters(refusing(451, 450));
  let times = 0;
  const delayed = next("letter.delayed");
  letters.send(
    letterTo(ADA, async () => {
      times += 1;
      return written;
    }),
  );
  await delayed;
  const again = next("letter.delayed");
  timing.advance(MINUTE_MS);
  await again;
  const sent = next("letter.sent");
  timing.advance(5 * MINUTE_MS);
  await sent;
  expect([times, server.received.length]).toEqual([1, 1]);
  expect(lines).toMatchObject([
    { event: "letter.delayed", attempts: 1, reason: "recipient: 451" },
    { event: "letter.delayed", attempts: 2, reason: "recipient: 450" },
    { event: "letter.sent", attempts: 3 },
  ]);
});

test("a letter that the server refuses for good is given up at once, and the next one goes on", async () => {
  const { letters, server, lines, counted, next } = await openLetters(refusing(550));
  const sent = next("letter.sent");
  letters.send(letterTo("gone@example.org"));
  letters.send(letterTo(ADA));
  await sent;
  expect(server.received.map(({ to }) => to)).toEqual([[ADA]]);
  expect(lines[0]).toMatchObject({ event: "letter.failed", attempts: 1, reason: "recipient: 550" });
  expect(JSON.stringify(lines)).not.toContain("gone@");
  expect(counted).toEqual(["failed", "sent"]);
});

test("while the mail server is away all letters wait together, and after an hour they are given up", async () => {
  const away = Object.assign(new Error("come back later"), { responseCode: 421 });
  let attempts = 0;
  const { letters, timing, lines, next } = await openLetters({
    onConnect(_session, callback) {
      attempts += 1;
      callback(away);
    },
  });
  const delayed = next("letter.delayed");
  letters.send(letterTo(ADA));
  letters.send(letterTo("ben@example.org"));
  await delayed;
  await new Promise((resolve) => setImmediate(resolve));
  // The second one is due, and is not tried either.
  expect([timing.nextAt(), attempts]).toEqual([MINUTE_MS, 1]);
  const second = next("letter.delayed");
  timing.advance(MINUTE_MS);
  await second;
  expect(attempts).toBe(2);
  const given = next("letter.failed");
  timing.advance(HOUR_MS);
  await given;
  expect(attempts).toBe(2);
  expect(lines.find(({ event }) => event === "letter.failed")).toMatchObject({ reason: "too old" });
});

test("one address gets three letters of a kind an hour, in whatever spelling, and no other address pays for it", async () => {
  const { letters, timing, lines } = await openLetters();
  const silent = (address: string, kind: TokenLetter["kind"] = "sign-up") =>
    letters.send({ kind, address, write: async () => null });
  expect([ADA, "ADA@example.org", "ada+1@example.org"].map((each) => silent(each))).toEqual([
    "taken",
    "taken",
    "taken",
  ]);
  expect(silent(ADA)).toBe("too many");
  expect(lines).toMatchObject([{ event: "letter.refused", kind: "sign-up", why: "too many" }]);
  expect([silent("ben@example.org"), silent(ADA, "reset")]).toEqual(["taken", "taken"]);
  timing.advance(HOUR_MS);
  expect(silent(ADA)).toBe("taken");
});

test("fifty letters of a kind may wait; one more is refused, and does not count for its address", async () => {
  const { letters, timing, counted, next } = await openLetters(refusing(451), 4);
  const delayed = next("letter.delayed");
  for (let number = 0; number < 50; number += 1) letters.send(letterTo(`a${number}@example.org`));
  await delayed;
  const more = () => letters.send(letterTo("more@example.org", async () => null));
  expect([more(), more(), more(), more()]).toEqual(["full", "full", "full", "full"]);
  expect(counted).toEqual(["refused", "refused", "refused", "refused"]);
  const sent = next("letter.sent");
  timing.advance(MINUTE_MS);
  await sent;
  expect([more(), more()]).toEqual(["taken", "full"]);
});

test("who forgot the password is neither kept out nor kept waiting by people who sign up", async () => {
  const { letters, server, timing, next } = await openLetters(refusing(421), 1000);
  const send = (kind: TokenLetter["kind"], number: number) =>
    letters.send({
      kind,
      address: `${kind}${number}@example.org`,
      write: async () => ({ ...written, to: `${kind}${number}@example.org` }),
    });
  const delayed = next("letter.delayed");
  const signUps = Array.from({ length: 60 }, (_, number) => send("sign-up", number));
  expect(signUps.lastIndexOf("taken")).toBe(49);
  await delayed;
  expect(send("reset", 0)).toBe("taken");
  const sent = next("letter.sent");
  timing.advance(MINUTE_MS);
  await sent;
  expect(server.received[0]?.to).toEqual(["reset0@example.org"]);
});

test("letters take a quarter of what may be sent in a minute", async () => {
  const { letters, server, timing, next } = await openLetters({}, 8);
  const third = Promise.withResolvers<void>();
  const addresses = ["a@example.org", "b@example.org", "c@example.org"];
  for (const address of addresses)
    letters.send(
      letterTo(address, async () => {
        if (address === addresses[2]) third.resolve();
        return { ...written, to: address };
      }),
    );
  await third.promise;
  timing.advance(MINUTE_MS - 1000);
  expect(server.received).toHaveLength(2);
  const sent = next("letter.sent");
  timing.advance(1000);
  await sent;
  expect(server.received).toHaveLength(3);
});

test("a letter waits for a database that another process holds, and is given up after any other error", async () => {
  const { letters, server, timing, lines, next } = await openLetters();
  const busy = Promise.withResolvers<void>();
  const errors: Error[] = [new FormsvcError("database_busy")];
  letters.send(
    letterTo(ADA, async () => {
      const error = errors.shift();
      if (error === undefined) return written;
      busy.resolve();
      throw error;
    }),
  );
  await busy.promise;
  const sent = next("letter.sent");
  // The letter is planned again once its promise has settled.
  await new Promise((resolve) => setImmediate(resolve));
  timing.advance(1000);
  await sent;
  expect(server.received).toHaveLength(1);
  const failed = next("letter.failed");
  letters.send(letterTo(ADA, () => Promise.reject(new Error("a defect"))));
  await failed;
  expect(lines.at(-1)).toMatchObject({ event: "letter.failed", attempts: 0, reason: "a defect" });
});

test("a stop gives up what waits, and what is under way if the mail server does not take it; nothing is sent after it", async () => {
  const asked = Promise.withResolvers<() => void>();
  let isFirst = true;
  const { letters, server, timing, lines, next } = await openLetters({
    onRcptTo(_address, _session, callback) {
      const error = Object.assign(new Error("not now"), { responseCode: 451 });
      if (isFirst) callback(error);
      else asked.resolve(() => callback(error));
      isFirst = false;
    },
  });
  const delayed = next("letter.delayed");
  letters.send(letterTo(ADA));
  await delayed;
  letters.send(letterTo("ben@example.org"));
  const answer = await asked.promise;
  letters.stop();
  const failed = next("letter.failed");
  answer();
  await failed;
  expect(lines.slice(1)).toMatchObject([
    { event: "letter.failed", attempts: 1, reason: "the server stopped" },
    { event: "letter.failed", attempts: 1, reason: "the server stopped" },
  ]);
  timing.advance(HOUR_MS);
  expect([letters.send(letterTo("cem@example.org")), timing.nextAt()]).toEqual(["full", undefined]);
  expect(server.received).toEqual([]);
});
