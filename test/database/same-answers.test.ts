import { describe, expect, test } from "vitest";
import { dropOldChanges, listChanges } from "../../src/audit/audit-store.ts";
import { defaultConfig } from "../../src/config/config.ts";
import { copyTables } from "../../src/database/copy-tables.ts";
import type { Database } from "../../src/database/database.ts";
import type { PostgresqlDatabase } from "../../src/database/postgresql/open-postgresql.ts";
import { fillPostgresqlTables } from "../../src/database/postgresql/postgresql-tables.ts";
import { readSqliteTables } from "../../src/database/sqlite/sqlite-tables.ts";
import { all, type Steps } from "../../src/database/steps.ts";
import { write } from "../support/engines.ts";
import { removeEndpoint } from "../support/terminal.ts";
import { listRetentions, listSchemaVersions } from "../../src/endpoints/endpoint-store.ts";
import { writeChoicesRow } from "../../src/endpoints/spam-choices-store.ts";
import {
  listEndpointNames,
  listEndpointsInWorkspaces,
  readEndpointNames,
} from "../../src/endpoints/viewable-endpoints.ts";
import { KeptLessons } from "../../src/history/kept-lessons.ts";
import { listMarks, unteach } from "../../src/history/teach.ts";
import { checkLeakedKeys } from "../../src/keys/key-health.ts";
import { finishGrace, listKeys } from "../../src/keys/key-store.ts";
import { createBackground } from "../../src/foundation/background.ts";
import { checkFailedMail, checkMailRecipients, checkMailServer } from "../../src/mail/health/mail-health.ts";
import { listMailRecipients, setUnsubscribed } from "../../src/mail/recipients/mail-recipient-store.ts";
import { findDestinationFault, forgetFaults } from "../../src/outbox/sending/destinations.ts";
import { dropOldMailedLinks } from "../../src/sessions/mailed-link.ts";
import { alignDeliveries } from "../../src/outbox/queue/align-deliveries.ts";
import {
  countFailed,
  countDeliveries,
  countFailedOf,
  hasMessagesFor,
  oldestDueAt,
  readQueue,
} from "../../src/outbox/queue/count-deliveries.ts";
import { BEFORE_ALL, dropOldDeliveries } from "../../src/outbox/queue/delivery-retention.ts";
import { findLastAttempt, getDelivery, listDeliveries } from "../../src/outbox/queue/delivery-store.ts";
import { countReplayable, replayRange } from "../../src/outbox/queue/replay-deliveries.ts";
import {
  deleteRecipient,
  listSomeRecipients,
  setRecipientEnabled,
} from "../../src/outbox/queue/recipient-store.ts";
import { recoverDeliveries, selectSending } from "../../src/outbox/sending/recover-deliveries.ts";
import { checkClock } from "../../src/submissions/stored/clock-health.ts";
import { spread, spreadLate } from "../../src/outbox/sending/spread-outbox.ts";
import { defaultSpamSettings } from "../../src/spam/spam-settings.ts";
import { createDayCounter } from "../../src/submissions/find/count-by-day.ts";
import { countSubmissions, lastSubmissionAt } from "../../src/submissions/find/count-submissions.ts";
import { eraseHeldRows, eraseSubmissionRows, findPerson } from "../../src/submissions/find/find-person.ts";
import { countHeldPosts } from "../../src/submissions/held/held-health.ts";
import {
  countHeldPostsOf,
  dropExpired,
  dropHeldPostsOf,
  listHeldPosts,
} from "../../src/submissions/held/held-post.ts";
import { forgetExpired, forgetKeysOf } from "../../src/submissions/commit/idempotency.ts";
import { previewChoices } from "../../src/submissions/manage/preview-choices.ts";
import { listRead, insertReadRows, deleteReadRows } from "../../src/submissions/stored/read-marks.ts";
import { expireSubmissions } from "../../src/submissions/stored/retention.ts";
import {
  deleteSubmissionsOf,
  EVERY_SUBMISSION,
  measureSubmissions,
  readSubmissions,
} from "../../src/submissions/stored/submission-store.ts";
import { browseSubmissions } from "../../src/submissions/find/browse-submissions.ts";
import { findUntrustedProxy } from "../../src/submissions/receive/untrusted-proxy.ts";
import { checkReceivers } from "../../src/webhooks/webhook-health.ts";
import { activeKeys, listWebhooks } from "../../src/webhooks/webhook-store.ts";
import { findWebhookTroubles } from "../../src/webhooks/webhook-troubles.ts";
import { checkMonthlyLimits } from "../../src/workspaces/workspace-health.ts";
import { countSubmission, listUsage } from "../../src/workspaces/usage-store.ts";
import { contentOf } from "../support/database-content.ts";
import { NOON } from "../support/fake-clock.ts";
import { type Filled, fillEveryTable } from "../support/full-database.ts";
import { temporaryDatabase } from "../support/temporary-database.ts";
import { hasPostgresql, temporaryPostgresql } from "../support/temporary-postgresql.ts";
import { DAY_MS } from "../../src/foundation/time-units.ts";

const fail = (error: unknown): never => {
  throw error;
};
const LATER = NOON + 40 * DAY_MS;
const { plans } = defaultConfig;

interface Twins {
  readonly sqlite: Database;
  readonly postgresql: PostgresqlDatabase;
  readonly filled: Filled;
}

/** The same rows in both engines. */
async function makeTwins(): Promise<Twins> {
  const [sqlite, postgresql] = [temporaryDatabase(), await temporaryPostgresql()];
  const filled = await fillEveryTable(sqlite);
  await readSqliteTables(sqlite, (reader) =>
    fillPostgresqlTables(postgresql, (writer) => copyTables(reader, writer, () => undefined)),
  );
  return { sqlite, postgresql, filled };
}

type Ask = (db: Database, filled: Filled) => Promise<unknown>;

const read =
  (steps: (filled: Filled) => Steps<unknown>): Ask =>
  (db, filled) =>
    db.read(() => steps(filled));

const operator = { accountId: "acct_none", isOperator: true };
const viewing = ({ accountId }: Filled) => ({ accountId, isOperator: false });
const newest = "held_~";

/** Everything that commands and pages ask the database, in which an engine could give another answer. */
const QUESTIONS: Readonly<Record<string, Ask>> = {
  "the changes": read(() => listChanges(10)),
  "the versions of schemas": read(({ endpointIds }) => listSchemaVersions(endpointIds, null, 100)),
  "the versions of schemas behind the first": read(function* ({ endpointIds }) {
    const [first = null] = yield* listSchemaVersions(endpointIds, null, 1);
    return yield* listSchemaVersions(null, first, 100);
  }),
  "how long endpoints keep": read(() => listRetentions()),
  "endpoints with their workspaces": read((filled) => listEndpointsInWorkspaces(viewing(filled), 2)),
  "the names of endpoints": read((filled) => listEndpointNames(viewing(filled), 2)),
  "named endpoints": read(({ endpointIds }) => readEndpointNames(endpointIds)),
  "the marks": read(({ submissionIds }) => listMarks(submissionIds)),
  "leaked keys": read(() => checkLeakedKeys(NOON)),
  "the keys of an endpoint": read(({ endpointIds: [id = ""] }) => listKeys(id)),
  "the number of deliveries": read(() => countDeliveries("webhook")),
  "failed deliveries of endpoints": read(({ endpointIds }) => countFailedOf(endpointIds)),
  "all failed deliveries": read(() => countFailedOf(null)),
  "the oldest delivery": read(() => oldestDueAt("webhook")),
  "the queue of a recipient": read(({ recipientIds: [id = ""] }) => readQueue(id)),
  "a page of deliveries": read(({ recipientIds: [recipientId = ""] }) =>
    listDeliveries({ kinds: null, recipientId, submissionId: null, state: null, cursor: null, limit: 5 }),
  ),
  "the deliveries of a submission": read(({ submissionIds }) =>
    listDeliveries({
      kinds: null,
      recipientId: null,
      submissionId: submissionIds[25] ?? "",
      state: null,
      cursor: null,
      limit: 5,
    }),
  ),
  "failed deliveries": read(() =>
    listDeliveries({
      kinds: ["webhook"],
      recipientId: null,
      submissionId: null,
      state: "failed",
      cursor: null,
      limit: 5,
    }),
  ),
  "one delivery and its last attempt": read(function* () {
    const filter = {
      kinds: null,
      recipientId: null,
      submissionId: null,
      state: null,
      cursor: null,
      limit: 100,
    };
    const { deliveries } = yield* listDeliveries(filter);
    const id = deliveries.at(-1)?.id ?? "";
    return [yield* getDelivery(id), yield* findLastAttempt(id)];
  }),
  "some recipients": read(({ endpointIds }) =>
    listSomeRecipients({ kind: "webhook", endpointIds, idleOrFailing: true }, null, 10),
  ),
  "failed messages of a kind": read(() => countFailed("webhook")),
  "whether messages of a kind wait": read(() => hasMessagesFor("webhook")),
  "what is wrong with a place": read(() => findDestinationFault("mail", "mail.example.org:587")),
  "recipients by e-mail": read(() => listMailRecipients(null)),
  "the webhooks": read(() => listWebhooks(null)),
  "the keys of webhooks": read(() => activeKeys(NOON)),
  "the health of receivers": read(() => checkReceivers(LATER)),
  "the troubles of webhooks": read((filled) => findWebhookTroubles(viewing(filled), LATER)),
  "submissions by day": (db, { endpointIds }) =>
    createDayCounter(db, createBackground(fail))(endpointIds, 3, NOON + DAY_MS),
  "all submissions by day": (db) => createDayCounter(db, createBackground(fail))(null, 3, NOON + DAY_MS),
  "how many submissions": (db, { endpointIds: [endpointId = ""] }) =>
    countSubmissions(db, { endpointId, since: NOON, until: LATER }, 1000),
  "when the last submission came": read(({ endpointIds: [id = ""] }) => lastSubmissionAt(id)),
  "the clock": read(() => checkClock(NOON)),
  "named submissions": read(({ submissionIds }) => readSubmissions(submissionIds.slice(3, 9))),
  "the size of submissions": read(({ submissionIds }) => measureSubmissions(submissionIds)),
  "a page of submissions": (db) =>
    browseSubmissions(db, EVERY_SUBMISSION, { limit: 7, cursor: null, maxBytes: Infinity }),
  "submissions with a text": (db, { endpointIds }) =>
    browseSubmissions(
      db,
      { ...EVERY_SUBMISSION, endpointIds, text: "quiet table zoë" },
      { limit: 30, cursor: null, maxBytes: Infinity },
    ),
  "unread submissions": (db, { accountId, endpointIds }) =>
    browseSubmissions(
      db,
      { ...EVERY_SUBMISSION, endpointIds, unreadBy: accountId },
      { limit: 9, cursor: null, maxBytes: Infinity },
    ),
  "what was read": read(({ accountId, submissionIds }) => listRead(accountId, submissionIds)),
  "a person's records": (db) => findPerson(db, { field: "index", value: "4", endpointIds: null }),
  "a page of held posts": read(({ endpointIds }) =>
    listHeldPosts({ endpointIds: endpointIds.slice(0, 2), since: NOON, until: LATER }, 3, null),
  ),
  "a person's records in some endpoints": (db, { endpointIds }) =>
    findPerson(db, { field: "index", value: "4", endpointIds: endpointIds.slice(0, 2) }),
  "how many held posts": read(({ workspaceId }) => countHeldPosts([workspaceId])),
  "held posts of endpoints": read(({ endpointIds }) => countHeldPostsOf(endpointIds, newest)),
  "a preview of settings": (db, { workspaceId }) =>
    previewChoices(
      db,
      { scope: { kind: "workspace", workspaceId }, workspace: { plan: "free" } } as never,
      {},
      {
        plans: { free: { monthlySubmissions: null, endpoints: null, customSpam: true } },
        defaults: defaultSpamSettings(10),
      },
    ).catch((error: unknown) => String(error)),
  "the untrusted proxy": read(() => findUntrustedProxy()),
  "the health of mail": read(function* () {
    const server = yield* checkMailServer({ host: null, port: 25 });
    return [server, yield* checkMailRecipients(), yield* checkFailedMail()];
  }),
  "monthly limits": read(() => checkMonthlyLimits(plans, NOON)),
  "the use of months": read(({ workspaceId }) => listUsage(workspaceId, "2026-01")),
  "what a replay would send": (db) =>
    countReplayable(
      db,
      { kind: "webhook", recipientId: null, failedOnly: false, since: NOON, until: LATER },
      { asNew: true, now: LATER },
    ),
  "webhooks that nobody may see": read(() => findWebhookTroubles(operator, LATER)),
};

const change =
  (steps: (filled: Filled) => Steps<unknown>): Ask =>
  (db, filled) =>
    db.transaction(() => steps(filled));

/** Everything that changes many rows by a condition, in which an engine could change others. */
const CHANGES: Readonly<Record<string, Ask>> = {
  "old changes go": change(() => dropOldChanges(NOON + 401 * DAY_MS)),
  "grace ends": change(() => finishGrace(LATER)),
  "keys of an endpoint are forgotten": change(({ endpointIds: [id = ""] }) => forgetKeysOf(id, 5)),
  "keys of posts are forgotten": change(() => forgetExpired(LATER)),
  "a lesson is undone": change(({ workspaceId, submissionIds: [submissionId = ""] }) =>
    unteach([{ workspaceId, submissionId }], new KeptLessons()),
  ),
  "choices are replaced": change(({ workspaceId }) =>
    writeChoicesRow({ kind: "workspace", workspaceId }, {}),
  ),
  "old links in letters go": change(() => dropOldMailedLinks(LATER)),
  "faults are forgotten": change(() => forgetFaults(Number.MAX_SAFE_INTEGER)),
  "a recipient agrees no more": change(({ recipientIds }) => setUnsubscribed(recipientIds[0] ?? "", LATER)),
  "submissions are read": change(({ accountId, submissionIds }) =>
    insertReadRows(accountId, submissionIds.slice(0, 9)),
  ),
  "submissions are unread": change(({ accountId, submissionIds }) =>
    deleteReadRows(accountId, submissionIds.slice(2, 5)),
  ),
  "a submission counts": change(({ workspaceId }) => countSubmission(workspaceId, "2026-06", plans)),
  "held posts are dropped": change(({ endpointIds: [id = ""] }) => dropHeldPostsOf([id], newest)),
  "held posts expire": change(() => dropExpired(30, LATER)),
  "some messages become deliveries": change(() => spread(3, LATER)),
  "late messages become deliveries": (db) => spreadLate(db, LATER),
  "what was sent is recovered": change(function* () {
    const transport = { kind: "webhook", policy: { scheduleSeconds: [60], afterUnsure: null } } as never;
    return yield* recoverDeliveries(yield* all(selectSending()), [transport], LATER);
  }),
  "a recipient is enabled": change(({ recipientIds }) => setRecipientEnabled(recipientIds[1] ?? "", true)),
  "deliveries follow their recipients": change(() => alignDeliveries(LATER)),
  "deliveries are sent again": (db) =>
    replayRange(
      db,
      { kind: "webhook", recipientId: null, failedOnly: true, since: null, until: null },
      { asNew: false, now: LATER },
    ),
  "old deliveries go": change(() => dropOldDeliveries({ kind: "webhook", days: 7 }, BEFORE_ALL, LATER)),
  "a recipient goes": (db, { recipientIds: [id = ""] }) => deleteRecipient(db, id, LATER),
  "old submissions go": change(() => expireSubmissions(30, NOON + 30 * DAY_MS + 5000)),
  "submissions of an endpoint go": change(({ endpointIds: [id = ""] }) => deleteSubmissionsOf(id, 3)),
  "a person is erased": async (db) => {
    const { submissions, held } = await findPerson(db, { field: "index", value: "7", endpointIds: null });
    await db.transaction(function* () {
      yield* eraseSubmissionRows(submissions.map(({ id }) => id));
      yield* eraseHeldRows(held.map(({ id }) => id));
    });
  },
  "an endpoint goes": async (db, { endpointIds }) => {
    await removeEndpoint(db, endpointIds[1] ?? "");
    // A transaction that PostgreSQL ran again has left a gap in its numbers.
    await write(db, "DELETE FROM audit_event");
  },
};

describe.skipIf(!hasPostgresql)(
  "PostgreSQL, asked the same over the same rows, gives SQLite's answer",
  () => {
    test("to every question", async () => {
      const { sqlite, postgresql, filled } = await makeTwins();
      for (const [what, ask] of Object.entries(QUESTIONS)) {
        const answer = await ask(sqlite, filled);
        expect(answer, what).toBeDefined();
        expect(await ask(postgresql, filled), what).toEqual(answer);
      }
    });

    test("and the same rows after every change", async () => {
      const { sqlite, postgresql, filled } = await makeTwins();
      for (const [what, make] of Object.entries(CHANGES)) {
        const before = JSON.stringify(await contentOf(sqlite));
        const answer = await make(sqlite, filled);
        expect(await make(postgresql, filled), what).toEqual(answer);
        const content = await contentOf(sqlite);
        expect(JSON.stringify(content), `${what} changes something`).not.toBe(before);
        expect(await contentOf(postgresql), what).toEqual(content);
      }
    });
  },
);
