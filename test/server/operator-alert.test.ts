import { EventEmitter, once } from "node:events";
import { expect, onTestFinished, test } from "vitest";
import { defaultConfig } from "../../src/config/config.ts";
import { OperatorAlert } from "../../src/doctor/operator-alert.ts";
import type { Problems } from "../../src/doctor/told-problems.ts";
import { createBackground } from "../../src/foundation/background.ts";
import { type Finding, problem, sound } from "../../src/foundation/finding.ts";
import { createLog } from "../../src/foundation/log.ts";
import { type Letter, Letters } from "../../src/mail/letters.ts";
import { createSmtpSender } from "../../src/mail/smtp-sender.ts";
import { createSelfExamination } from "../../src/server/examine-self.ts";
import { createFakeClock } from "../support/fake-clock.ts";
import { createFakeTiming } from "../support/fake-timing.ts";
import { startReceiverWith } from "../support/receivers.ts";
import { readMail } from "../support/read-mail.ts";
import { plainSettings, startMailServer } from "../support/smtp-servers.ts";
import { WebhookWorld } from "../support/webhook-world.ts";

const OPERATOR = "ops@example.org";
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const NAMES = { to: OPERATOR, host: "forms.example.com", systemUrl: null };

/** What a process keeps for the next one. */
function keepTold() {
  let kept: Problems = new Map();
  return { read: async () => kept, write: (problems: Problems) => void (kept = problems) };
}

test("the operator gets one letter when a webhook starts to fail, none while it fails, and one when it is well again", async () => {
  const mailServer = await startMailServer();
  let status = 500;
  await using receiver = await startReceiverWith((response) => response.writeHead(status).end());
  await using world = new WebhookWorld();
  const told = new EventEmitter();
  const log = createLog("info", "json", () => ({
    write: (line) => void told.emit((JSON.parse(line) as { event: string }).event),
  }));
  const sender = createSmtpSender(plainSettings(mailServer.port));
  onTestFinished(() => sender.close());
  const { clock, db } = world;
  const timing = createFakeTiming();
  const from = "forms@example.com";
  const letters = new Letters({ sender, from, perMinute: 60, clock, log, count: () => {}, timing });
  onTestFinished(() => letters.stop());
  const background = createBackground(() => {});
  const config = { ...defaultConfig, database: { ...defaultConfig.database, path: db.path } };
  const examineSelf = createSelfExamination({ db, config, clock, log }, null, background);
  const isOfReceivers = ({ name }: Finding): boolean => name === "webhooks.receivers";
  const examine = async () => (await examineSelf("now")).filter(isOfReceivers);
  const alert = new OperatorAlert({ ...NAMES, examine, letters, clock, told: keepTold() });
  const lookAfter = async (ms: number): Promise<void> => {
    await world.runUntil(clock.now() + ms);
    await alert.look();
  };
  const lookAndAwaitLetter = async (ms: number): Promise<string> => {
    const sent = once(told, "letter.sent");
    await lookAfter(ms);
    await sent;
    return readMail(mailServer.received.at(-1)?.raw ?? Buffer.alloc(0)).text;
  };

  world.deliverer.start();
  world.addWebhook(receiver.url);
  await lookAfter(10 * MINUTE);
  expect(timing.nextAt()).toBeUndefined();
  world.post();
  expect(await lookAndAwaitLetter(2 * HOUR)).toContain("PROBLEM: webhooks.receivers: the receiver 127.0.0.1");
  for (let round = 0; round < 5; round += 1) await lookAfter(10 * MINUTE);
  expect([timing.nextAt(), mailServer.received.length]).toEqual([undefined, 1]);
  status = 200;
  expect(await lookAndAwaitLetter(24 * HOUR)).toContain("Ended: webhooks.receivers: the receiver 127.0.0.1");
  expect(mailServer.received.map(({ to }) => to)).toEqual([[OPERATOR], [OPERATOR]]);
  await background.close();
});

/** An alert whose findings and mail server the test decides. */
function scripted() {
  const clock = createFakeClock();
  const letters: Letter[] = [];
  let findings: readonly Finding[] = [];
  const send = (letter: Letter) => {
    letters.push(letter);
    return "taken" as const;
  };
  const alert = new OperatorAlert({
    ...NAMES,
    examine: async () => findings,
    letters: { send },
    clock,
    told: keepTold(),
  });
  return {
    clock,
    letters,
    find: (...found: readonly Finding[]) => void (findings = found),
    lookAfter: async (ms: number): Promise<void> => {
      clock.advance(ms);
      await alert.look();
    },
    /** The last letter was sent, or was given up. */
    end: (isSent: boolean) => letters.at(-1)?.onEnd?.(isSent),
    read: async () => (await letters.at(-1)?.write()) ?? { subject: "", paragraphs: [] },
  };
}

const FULL_DISK = problem("disk.space", "3 MB are free", "make room");
const OLD_BACKUP = problem("backups.age", "the newest is of May", "make one");

test("nothing is told in the first five minutes; then everything in one letter, and a changed message is not news", async () => {
  const { lookAfter, letters, find, read, end } = scripted();
  find(FULL_DISK, OLD_BACKUP, sound("held.room", "fine"));
  await lookAfter(4 * MINUTE);
  expect(letters).toHaveLength(0);
  await lookAfter(MINUTE);
  const { subject, paragraphs } = await read();
  expect(subject).toBe("formsvc at forms.example.com: 2 problems began");
  expect(paragraphs.slice(0, 2)).toEqual([
    "PROBLEM: disk.space: 3 MB are free",
    "PROBLEM: backups.age: the newest is of May",
  ]);
  end(true);
  find({ ...FULL_DISK, message: "2 MB are free" }, OLD_BACKUP);
  await lookAfter(HOUR);
  expect(letters).toHaveLength(1);
});

test("at most one letter is written in ten minutes, which has what is left of all changes meanwhile", async () => {
  const { lookAfter, letters, find, read, end } = scripted();
  find(FULL_DISK);
  await lookAfter(5 * MINUTE);
  end(true);
  find(OLD_BACKUP, problem("held.room", "full", "drop some"));
  await lookAfter(5 * MINUTE);
  expect(letters).toHaveLength(1);
  find(OLD_BACKUP);
  await lookAfter(5 * MINUTE);
  expect((await read()).subject).toBe("formsvc at forms.example.com: 1 problem began, 1 problem ended");
  expect(letters).toHaveLength(2);
});

test("a letter that did not go out is written again an hour later, with what there is then", async () => {
  const { lookAfter, letters, find, read, end } = scripted();
  find(FULL_DISK);
  await lookAfter(5 * MINUTE);
  await lookAfter(HOUR);
  // The first one is still under way.
  expect(letters).toHaveLength(1);
  end(false);
  find(OLD_BACKUP);
  await lookAfter(5 * MINUTE);
  expect(letters).toHaveLength(2);
  expect((await read()).subject).toBe("formsvc at forms.example.com: 1 problem began");
  end(false);
  await lookAfter(55 * MINUTE);
  expect(letters).toHaveLength(2);
  await lookAfter(5 * MINUTE);
  expect(letters).toHaveLength(3);
});

test("while the database cannot be examined nothing is said to have ended", async () => {
  const { lookAfter, letters, find, read, end } = scripted();
  find(FULL_DISK);
  await lookAfter(5 * MINUTE);
  end(true);
  find(problem("database.file", "busy", { kind: "heed_or_restore" }));
  await lookAfter(10 * MINUTE);
  expect((await read()).paragraphs).toEqual([
    "PROBLEM: database.file: busy",
    "As before: 1 that you were told of.",
    "The command doctor says what to do.",
  ]);
  expect(letters).toHaveLength(2);
});

test("two webhooks are two problems; many are counted, and what they quote is cut to one plain line", async () => {
  const { lookAfter, find, read } = scripted();
  const failing = (number: number) =>
    problem("webhooks.receivers", `host ${number} \u001b[31m\r\nBcc: ${"x".repeat(9000)}`, {
      kind: "look_at_webhook",
      webhookId: `wh_${number}`,
    });
  find(...Array.from({ length: 50 }, (_, number) => failing(number)));
  await lookAfter(5 * MINUTE);
  const { subject, paragraphs } = await read();
  expect(subject).toContain("50 problems began");
  expect(paragraphs).toHaveLength(22);
  expect(paragraphs[20]).toBe("30 more are not named here.");
  expect(paragraphs.every((text) => /^[\u0020-\u007e…]{1,450}$/.test(text))).toBe(true);
});
