import { defaultConfig } from "../../src/config/config.ts";
import { openDatabase } from "../../src/database/sqlite/open-database.ts";
import type { SqliteDatabase } from "../../src/database/sqlite/sqlite-database.ts";
import { systemClock } from "../../src/foundation/clock.ts";
import { newId } from "../../src/foundation/id.ts";
import { silentLog } from "./silent-log.ts";
import { createKeyring } from "../../src/secrets/keyring.ts";
import { parseAllowedNetworks } from "../../src/webhooks/address-guard.ts";
import { Deliverer } from "../../src/outbox/sending/deliverer.ts";
import { createSqliteOutbox } from "../../src/outbox/queue/outbox.ts";
import { createClaims } from "../../src/outbox/engines/sqlite-claims.ts";
import { createHostResolver } from "../../src/webhooks/resolve-host.ts";
import { createHttpSender, type HttpSender } from "../../src/webhooks/send.ts";
import { createWebhookTransport } from "../../src/webhooks/webhook-transport.ts";
import { submissionAdder } from "./add-submission.ts";

/**
 * The points on the way of a delivery at which this process ends itself with SIGKILL.
 * Usage: node crashing-deliverer.ts DATABASE POINT ENDPOINT
 */
export const CRASH_POINTS = [
  "post written, not committed",
  "post committed, not announced",
  "recovered, not committed",
  "recovery committed",
  "claimed, not committed",
  "claim committed, nothing sent",
  "sent, not answered",
  "answered, not recorded",
  "more sent of what was claimed ahead",
  "recorded, not committed",
  "record committed",
] as const;

export type CrashPoint = (typeof CRASH_POINTS)[number];

/** The number of quick answers before the crash, if deliveries must be claimed ahead by then. */
const ANSWERS_UNTIL_AHEAD = 25;

if (import.meta.main) {
  const [file = "", point = "", endpointId = ""] = process.argv.slice(2);
  await run(file, point as CrashPoint, endpointId);
}

async function run(file: string, point: CrashPoint, endpointId: string): Promise<void> {
  const db = openDatabase(file, { busyTimeoutMs: 5000 });
  const dieAt = (here: CrashPoint): void => {
    if (here === point) process.kill(process.pid, "SIGKILL");
  };
  let isRecovered = false;
  let answered = 0;
  const isSending = db.prepare("SELECT 1 FROM delivery WHERE state = 'sending'");
  const crashing: SqliteDatabase = {
    ...db,
    relaxedTransaction: async (work) =>
      dieAround(
        ...pointsNow(),
        () => db.now(work),
        (inner) => db.relaxedTransactionNow(inner),
      ),
  };
  const pointsNow = (): [inside: CrashPoint, after: CrashPoint | null] => {
    if (!isRecovered) return ["recovered, not committed", "recovery committed"];
    if (answered > 0) return ["recorded, not committed", "record committed"];
    return ["claimed, not committed", null];
  };
  const dieAround = <Result>(
    inside: CrashPoint,
    after: CrashPoint | null,
    work: () => Result,
    transaction: (work: () => Result) => Result,
  ): Result => {
    const result = transaction(() => {
      const made = work();
      // A transaction that only reads the recipients claims nothing.
      if (inside !== "claimed, not committed" || isSending.get() !== undefined) dieAt(inside);
      return made;
    });
    if (after !== null) dieAt(after);
    return result;
  };
  const settings = defaultConfig.webhooks;
  const real = createHttpSender({
    allowed: parseAllowedNetworks(["127.0.0.1"]),
    timeoutMs: settings.timeoutMs,
    resolveHost: createHostResolver(),
  });
  const sender: HttpSender = {
    async send(request) {
      dieAt("claim committed, nothing sent");
      const result = await real.send(request);
      answered += 1;
      dieAt("answered, not recorded");
      if (answered >= ANSWERS_UNTIL_AHEAD) dieAt("more sent of what was claimed ahead");
      return result;
    },
    destroy: () => real.destroy(),
  };
  const keyring = createKeyring(defaultConfig.secrets);
  const clock = systemClock;
  const transport = createWebhookTransport({
    db,
    keyring,
    sender,
    dashboardUrl: null,
    settings,
    clock,
    log: silentLog,
  });
  const outbox = createSqliteOutbox(db);
  const parts = {
    claims: createClaims(db),
    outbox,
    transports: [transport],
    clock,
    log: silentLog,
    random: Math.random,
  };
  const deliverer = new Deliverer({ db: crashing, ...parts });
  if (point.startsWith("post")) {
    const now = systemClock.now();
    const id = newId("sub", now);
    const crashingOutbox = createSqliteOutbox({
      ...db,
      transactionNow: (work) =>
        db.transactionNow(() => {
          const result = work();
          dieAt("post written, not committed");
          return result;
        }),
    });
    crashingOutbox.transactionNow((enqueue) => {
      const told = { id, endpointId, spamScore: 0, ipAddress: "", userAgent: "", createdAt: now };
      submissionAdder(db)(told, enqueue(told, now));
    });
    dieAt("post committed, not announced");
  }
  await deliverer.recover();
  isRecovered = true;
  deliverer.start();
}
