import { EventEmitter, once } from "node:events";
import { expect, onTestFinished, test } from "vitest";
import { NOTHING_TO_CONFIRM } from "../../src/database/confirmations.ts";
import { defaultConfig } from "../../src/config/config.ts";
import { OperatorAlert } from "../../src/doctor/operator-alert.ts";
import type { ReportedProblems } from "../../src/doctor/reported-problems.ts";
import { createBackground } from "../../src/foundation/background.ts";
import { type Finding, problem, sound } from "../../src/foundation/finding.ts";
import { createLog } from "../../src/foundation/log.ts";
import { type LetterContent, queueLetter } from "../../src/mail/letters/letter-store.ts";
import { createSmtpSender } from "../../src/mail/smtp/smtp-sender.ts";
import { StoredLetters } from "../../src/mail/letters/stored-letters.ts";
import { ONLY_SERVER } from "../../src/database/live-servers.ts";
import { createSelfExamination } from "../../src/server/examine-self.ts";
import { createFakeClock } from "../support/fake-clock.ts";
import { createFakeTiming } from "../support/fake-timing.ts";
import { startReceiverWith } from "../support/receivers.ts";
import { readMail } from "../support/read-mail.ts";
import { plainSettings, startMailServer } from "../support/smtp-servers.ts";
import { WebhookWorld } from "../support/webhook-world.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../src/foundation/time-units.ts";

const OPERATOR = "ops@example.org";
const NAMES = { host: "forms.example.com", systemUrl: null };
const NOTHING_TOLD: ReportedProblems = new Map();

test("the operator gets one letter when a webhook starts to fail, none while it fails, and one when it is well again", async () => {
  const mailServer = await startMailServer();
  let status = 500;
  await using receiver = await startReceiverWith((response) => response.writeHead(status).end());
  await using world = new WebhookWorld();
  const events = new EventEmitter();
  const log = createLog("info", {
    write: (line) => void events.emit((JSON.parse(line) as { event: string }).event),
  });
  const sender = createSmtpSender(plainSettings(mailServer.port));
  onTestFinished(() => sender.close());
  const { clock, db } = world;
  const timing = createFakeTiming();
  const from = "forms@example.com";
  const letters = new StoredLetters({
    confirmations: NOTHING_TO_CONFIRM,
    db,
    sender,
    from,
    perMinute: 60,
    clock,
    log,
    timing,
    servers: ONLY_SERVER,
    scheduleSeconds: [],
    linkOf: async () => null,
    count: () => {},
  });
  letters.start();
  onTestFinished(() => letters.stop());
  const background = createBackground(() => {});
  const config = { ...defaultConfig, database: { ...defaultConfig.database, path: db.path } };
  const examineSelf = createSelfExamination({ db, config, clock, log }, null, background);
  const isOfReceivers = ({ name }: Finding): boolean => name === "webhooks.receivers";
  const examine = async () => (await examineSelf("now")).filter(isOfReceivers);
  const reported = {
    read: async () => NOTHING_TOLD,
    async report(content: LetterContent) {
      const letter = {
        kind: "operator",
        topic: "doctor",
        address: OPERATOR,
        recipientId: null,
        content,
      } as const;
      const id = await db.transaction(() => queueLetter(letter, clock.now()));
      letters.wake();
      return id !== null;
    },
  };
  const alert = new OperatorAlert({ ...NAMES, examine, clock, reported });
  const lookAfter = async (ms: number): Promise<void> => {
    await world.runUntil(clock.now() + ms);
    await alert.look();
  };
  const lookAndAwaitLetter = async (ms: number): Promise<string> => {
    const sent = once(events, "letter.sent");
    await lookAfter(ms);
    await sent;
    return readMail(mailServer.received.at(-1)?.raw ?? Buffer.alloc(0)).text;
  };

  world.deliverer.start();
  world.addWebhook(receiver.url);
  await lookAfter(10 * MINUTE_MS);
  expect(mailServer.received).toHaveLength(0);
  world.post();
  expect(await lookAndAwaitLetter(2 * HOUR_MS)).toContain(
    "PROBLEM: webhooks.receivers: the receiver 127.0.0.1",
  );
  for (let round = 0; round < 5; round += 1) await lookAfter(10 * MINUTE_MS);
  expect(mailServer.received).toHaveLength(1);
  status = 200;
  expect(await lookAndAwaitLetter(DAY_MS)).toContain("Ended: webhooks.receivers: the receiver 127.0.0.1");
  expect(mailServer.received.map(({ to }) => to)).toEqual([[OPERATOR], [OPERATOR]]);
  await background.close();
});

/** An alert whose findings and mail server the test decides. */
function scripted() {
  const clock = createFakeClock();
  const letters: LetterContent[] = [];
  let findings: readonly Finding[] = [];
  let isWaiting = false;
  const reported = {
    read: async () => NOTHING_TOLD,
    async report(letter: LetterContent) {
      if (isWaiting) return false;
      isWaiting = true;
      letters.push(letter);
      return true;
    },
  };
  const alert = new OperatorAlert({ ...NAMES, examine: async () => findings, clock, reported });
  return {
    clock,
    letters,
    find: (...found: readonly Finding[]) => void (findings = found),
    lookAfter: async (ms: number): Promise<void> => {
      clock.advance(ms);
      await alert.look();
    },
    /** The mail server took the last letter. */
    end: () => void (isWaiting = false),
    read: () => letters.at(-1) ?? { subject: "", paragraphs: [] },
  };
}

const FULL_DISK = problem("disk.space", "3 MB are free", "make room");
const OLD_BACKUP = problem("backups.age", "the newest is of May", "make one");

test("nothing is told in the first five minutes; then everything in one letter, and a changed message is not news", async () => {
  const { lookAfter, letters, find, read, end } = scripted();
  find(FULL_DISK, OLD_BACKUP, sound("held.room", "fine"));
  await lookAfter(4 * MINUTE_MS);
  expect(letters).toHaveLength(0);
  await lookAfter(MINUTE_MS);
  const { subject, paragraphs } = read();
  expect(subject).toBe("formsvc at forms.example.com: 2 problems began");
  expect(paragraphs.slice(0, 2)).toEqual([
    "PROBLEM: disk.space: 3 MB are free",
    "PROBLEM: backups.age: the newest is of May",
  ]);
  end();
  find({ ...FULL_DISK, message: "2 MB are free" }, OLD_BACKUP);
  await lookAfter(HOUR_MS);
  expect(letters).toHaveLength(1);
});

test("at most one letter is written in ten minutes, which has what is left of all changes meanwhile", async () => {
  const { lookAfter, letters, find, read, end } = scripted();
  find(FULL_DISK);
  await lookAfter(5 * MINUTE_MS);
  end();
  find(OLD_BACKUP, problem("held.room", "full", "drop some"));
  await lookAfter(5 * MINUTE_MS);
  expect(letters).toHaveLength(1);
  find(OLD_BACKUP);
  await lookAfter(5 * MINUTE_MS);
  expect(read().subject).toBe("formsvc at forms.example.com: 1 problem began, 1 problem ended");
  expect(letters).toHaveLength(2);
});

test("while a letter waits for the mail server no other is written; the next one has what changed meanwhile", async () => {
  const { lookAfter, letters, find, read, end } = scripted();
  find(FULL_DISK);
  await lookAfter(5 * MINUTE_MS);
  find(OLD_BACKUP);
  for (let hours = 0; hours < 3; hours += 1) await lookAfter(HOUR_MS);
  expect(letters).toHaveLength(1);
  end();
  await lookAfter(5 * MINUTE_MS);
  expect(letters).toHaveLength(2);
  expect(read().subject).toBe("formsvc at forms.example.com: 1 problem began, 1 problem ended");
});

test("while the database cannot be examined nothing is said to have ended", async () => {
  const { lookAfter, letters, find, read, end } = scripted();
  find(FULL_DISK);
  await lookAfter(5 * MINUTE_MS);
  end();
  find(problem("database.file", "busy", { kind: "heed_or_restore" }));
  await lookAfter(10 * MINUTE_MS);
  expect(read().paragraphs).toEqual([
    "PROBLEM: database.file: busy",
    "As before: 1 that you were told of.",
    "The command doctor says what to do.",
  ]);
  expect(letters).toHaveLength(2);
});

test.each(["database.durability", "database.log", "database.standby"])(
  "what ends beside a lasting problem %s is said, because it hides nothing",
  async (name) => {
    const { lookAfter, find, read, end } = scripted();
    const lasting = problem(name, "as it was", "mend it");
    find(lasting, FULL_DISK);
    await lookAfter(5 * MINUTE_MS);
    end();
    find(lasting);
    await lookAfter(10 * MINUTE_MS);
    expect(read().paragraphs).toEqual([
      "Ended: disk.space: 3 MB are free",
      "As before: 1 that you were told of.",
      "The command doctor says what to do.",
    ]);
  },
);

test.each([
  "config.file",
  "database.file",
  "database.schema",
  "database.server",
  "database.structure",
  "doctor.check",
])("what is gone beside a problem %s is not said to have ended", async (name) => {
  const { lookAfter, letters, find, end } = scripted();
  find(FULL_DISK);
  await lookAfter(5 * MINUTE_MS);
  end();
  find(problem(name, "busy", { kind: "heed_or_restore" }));
  await lookAfter(10 * MINUTE_MS);
  expect(letters.map(({ subject }) => subject)).toEqual([
    "formsvc at forms.example.com: 1 problem began",
    "formsvc at forms.example.com: 1 problem began",
  ]);
});

test("two webhooks are two problems; many are counted, and what they quote is cut to one plain line", async () => {
  const { lookAfter, find, read } = scripted();
  const failing = (number: number) =>
    problem("webhooks.receivers", `host ${number} \u001b[31m\r\nBcc: ${"x".repeat(9000)}`, {
      kind: "look_at_webhook",
      webhookId: `wh_${number}`,
    });
  find(...Array.from({ length: 50 }, (_, number) => failing(number)));
  await lookAfter(5 * MINUTE_MS);
  const { subject, paragraphs } = read();
  expect(subject).toContain("50 problems began");
  expect(paragraphs).toHaveLength(22);
  expect(paragraphs[20]).toBe("30 more are not named here.");
  expect(paragraphs.every((text) => /^[\u0020-\u007e…]{1,450}$/.test(text))).toBe(true);
});
