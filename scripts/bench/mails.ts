import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createTransport } from "nodemailer";
import { defaultConfig } from "../../src/config/config.ts";
import { query } from "../../src/database/database.ts";
import { migrate } from "../../src/database/migrate.ts";
import { COMMAND_BUSY_TIMEOUT_MS, openDatabase } from "../../src/database/sqlite/open-database.ts";
import type { SqliteDatabase } from "../../src/database/sqlite/sqlite-database.ts";
import { all } from "../../src/database/steps.ts";
import { insertEndpointRow } from "../../src/endpoints/endpoint-store.ts";
import { defaultEndpointSettings } from "../../src/endpoints/endpoint.ts";
import { systemClock } from "../../src/foundation/clock.ts";
import { newId } from "../../src/foundation/id.ts";
import { createLog } from "../../src/foundation/log.ts";
import { addMailRecipient } from "../../test/support/mail-recipients.ts";
import { composeNotification } from "../../src/mail/compose/compose-notification.ts";
import { defaultMailRecipientSettings } from "../../src/mail/recipients/mail-recipient.ts";
import { openMailTransports } from "../../src/mail/open-mail.ts";
import { createSmtpSender } from "../../src/mail/smtp/smtp-sender.ts";
import type { SmtpSettings } from "../../src/mail/smtp/smtp-settings.ts";
import { createClaims } from "../../src/outbox/engines/sqlite-claims.ts";
import { Deliverer } from "../../src/outbox/sending/deliverer.ts";
import { renderBody } from "../../src/outbox/queue/event.ts";
import { createSqliteOutbox, type SqliteOutbox } from "../../src/outbox/queue/outbox.ts";
import { insertAccountRows } from "../../src/workspaces/workspace-store.ts";
import { submissionAdder } from "../../test/support/add-submission.ts";
import { compareRates } from "./compare-rates.ts";
import { LOAD_CORE, startServer } from "./processes.ts";
import { measureRate, type Rate } from "./rate.ts";

/**
 * Compares the outbox with a bare loop of nodemailer that sends the same bytes to the same mail server over the same number of connections,
 * in interleaved rounds.
 * Usage: taskset -c 0 node scripts/bench/mails.ts [ROUNDS] [E-MAILS]
 */
const [rounds = 5, mails = 5000] = process.argv.slice(2).map(Number);
/** The number of e-mails that a recipient gets one by one within ten minutes. Further ones would be sent together as one. */
const MAILS_A_RECIPIENT = 10;
const RECIPIENTS_AN_ENDPOINT = 20;
const MAILS_AN_ENDPOINT = MAILS_A_RECIPIENT * RECIPIENTS_AN_ENDPOINT;
const UNLIMITED = { perMinute: 1_000_000_000, perRecipientPerHour: 1_000_000_000 };
const FROM = "forms@example.com";
const DATA = {
  name: "Ada Lovelace",
  email: "ada@example.com",
  message: "A dozen pages and a form. ".repeat(8),
};
const log = createLog("silent", { write: () => undefined });
const clock = systemClock;
let databases = 0;

const folder = mkdtempSync(join(tmpdir(), "formsvc-bench-"));
const receiverFile = fileURLToPath(new URL("mail-receiver.ts", import.meta.url));
const command = [process.execPath, receiverFile];
const receiver = await startServer(command, join(folder, "receiver.log"), {}, LOAD_CORE);
try {
  await compareRates({
    columns: [
      "connections",
      "bare nodemailer/s",
      "outbox/s",
      "outbox over bare, by round",
      "processor time of bare over outbox",
    ],
    values: [2, 10],
    rounds,
    one: bareLoop,
    other: drainOutbox,
    processor: "one over other",
  });
} finally {
  await receiver.stop();
  rmSync(folder, { recursive: true, force: true });
}

/** Measures nodemailer alone, without a database and without texts to compose. */
async function bareLoop(connections: number): Promise<Rate> {
  const transport = createTransport({
    pool: true,
    host: "127.0.0.1",
    port: receiver.port,
    secure: false,
    ignoreTLS: true,
    maxConnections: connections,
  });
  const raw = composeOne();
  const envelope = { from: FROM, to: ["ada@example.org"] };
  let sent = 0;
  const sendAll = async (): Promise<void> => {
    while (sent < mails) {
      sent += 1;
      await transport.sendMail({ envelope, raw });
    }
  };
  const rate = await measureRate(mails, async () => {
    await Promise.all(Array.from({ length: connections }, sendAll));
  });
  transport.close();
  return rate;
}

function composeOne(): Buffer {
  const now = clock.now();
  const submission = submissionOf(newId("ep", now));
  const body = renderBody(submission, JSON.stringify(DATA), "Bench", now);
  const mail = { id: newId("msg", now), from: FROM, to: "ada@example.org", unsubscribeUrl: null };
  const rest = {
    language: "en",
    timeZone: "UTC",
    dashboardUrl: null,
    subjectTemplate: null,
    emailFields: ["email"],
  } as const;
  return composeNotification({ ...mail, ...rest }, body);
}

async function drainOutbox(connections: number): Promise<Rate> {
  databases += 1;
  const db = openDatabase(join(folder, `${databases}.db`), { busyTimeoutMs: COMMAND_BUSY_TIMEOUT_MS });
  migrate(db);
  const outbox = createSqliteOutbox(db);
  fill(db, outbox);
  const smtp = settingsFor(connections);
  const transports = openMailTransports({
    db,
    smtp,
    sender: createSmtpSender(smtp),
    settings: { ...defaultConfig.mail, limits: { ...UNLIMITED, total: connections } },
    baseUrl: "https://forms.example.com",
    dashboardUrl: null,
    clock,
    log,
  });
  const parts = { db, claims: createClaims(db), outbox, transports, clock, log };
  const deliverer = new Deliverer({ ...parts, random: Math.random });
  const rate = await measureRate(mails, () => {
    deliverer.start();
    return deliverer.settled();
  });
  await deliverer.stop(1000);
  const rows = db.now(() => all(query.selectFrom("delivery").select(["state", "lead_id"])));
  db.close();
  const isSent = rows.every(({ state, lead_id: leadId }) => state === "delivered" && leadId === null);
  if (!isSent || rows.length !== mails) throw new Error("not everything was delivered, each by itself");
  return rate;
}

function settingsFor(connections: number): SmtpSettings {
  return {
    host: "127.0.0.1",
    port: receiver.port,
    security: "none",
    login: null,
    from: FROM,
    envelopeFrom: FROM,
    ownName: "forms.example.com",
    dkim: null,
    timeoutMs: 60_000,
    connections,
  };
}

/** Adds recipients to several endpoints, and posts that each recipient gets an e-mail about. */
function fill(db: SqliteDatabase, outbox: SqliteOutbox): void {
  const insert = submissionAdder(db);
  for (let count = 0; count < mails; count += MAILS_AN_ENDPOINT) {
    const endpointId = addEndpoint(db, count);
    for (let post = 0; post < MAILS_A_RECIPIENT; post += 1) {
      outbox.transactionNow((enqueue) => {
        const submission = submissionOf(endpointId);
        insert({ ...submission, data: DATA }, enqueue(submission, clock.now()));
      });
    }
  }
}

function submissionOf(endpointId: string) {
  const now = clock.now();
  const told = { id: newId("sub", now), endpointId, spamScore: 0, ipAddress: "192.0.2.1" };
  return { ...told, userAgent: "bench", createdAt: now };
}

function addEndpoint(db: SqliteDatabase, number: number): string {
  const now = clock.now();
  return db.now(function* () {
    const { workspace } = yield* insertAccountRows(`bench${number}@example.com`, now);
    const made = { name: "Bench", definition: {}, settings: defaultEndpointSettings };
    const { id: endpointId } = yield* insertEndpointRow(workspace, made, defaultConfig.plans, now);
    for (let index = 0; index < RECIPIENTS_AN_ENDPOINT; index += 1) {
      const settings = { ...defaultMailRecipientSettings, address: `r${index}@example.org` };
      yield* addMailRecipient({ endpointId, settings, isConfirmed: true }, now);
    }
    return endpointId;
  });
}
