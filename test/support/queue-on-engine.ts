import { NOTHING_TO_CONFIRM } from "../../src/database/confirmations.ts";
import { defaultConfig } from "../../src/config/config.ts";
import { type Database, query } from "../../src/database/database.ts";
import type { SqliteDatabase } from "../../src/database/sqlite/sqlite-database.ts";
import { all, run } from "../../src/database/steps.ts";
import { defaultEndpointSettings } from "../../src/endpoints/endpoint.ts";
import { insertEndpointRow } from "../../src/endpoints/endpoint-store.ts";
import { newId } from "../../src/foundation/id.ts";
import type { Claims } from "../../src/outbox/sending/claims.ts";
import { createClaims as createPostgresqlClaims } from "../../src/outbox/engines/postgresql-claims.ts";
import { queueSubmission } from "../../src/outbox/queue/queue-submission.ts";
import { insertRecipient } from "../../src/outbox/queue/recipient-store.ts";
import { createClaims as createSqliteClaims } from "../../src/outbox/engines/sqlite-claims.ts";
import { insertSubmission } from "../../src/submissions/stored/submission-store.ts";
import { insertAccountRows } from "../../src/workspaces/workspace-store.ts";
import { asSubmission } from "./add-submission.ts";
import { NOON } from "./fake-clock.ts";

/** An endpoint and its recipients, on any engine, without a deliverer. */
export interface EngineQueue {
  readonly db: Database;
  readonly endpointId: string;
  /** Adds recipients and returns their ids. */
  recipients(count: number, kind?: string): Promise<string[]>;
  /** Stores submissions that every recipient wants, each with its own row in the outbox, and returns their ids. */
  post(count: number, now?: number, message?: string): Promise<string[]>;
  /** Merges the messages in the outbox into one row for each recipient, as one transaction would queue them. */
  gatherInOneRow(): Promise<void>;
  /** Counts the deliveries by state. */
  states(): Promise<Record<string, number>>;
}

/** Makes the claims of a server that is the only one on its database. */
export function claimsOn(db: Database, self = "one"): Claims {
  if (db.engine === "sqlite") return createSqliteClaims(db as SqliteDatabase);
  return createPostgresqlClaims({ self, list: () => [self] }, NOTHING_TO_CONFIRM);
}

/** Makes an account with an endpoint. @param owner the e-mail address of the account */
export async function queueOn(db: Database, owner = "owner@example.com"): Promise<EngineQueue> {
  const endpoint = await db.transaction(function* () {
    const { workspace } = yield* insertAccountRows(owner, NOON);
    const made = { name: "Contact", definition: {}, settings: defaultEndpointSettings };
    return yield* insertEndpointRow(workspace, made, defaultConfig.plans, NOON);
  });
  const endpointId = endpoint.id;
  return {
    db,
    endpointId,
    async recipients(count, kind = "pigeon") {
      const ids = Array.from({ length: count }, () => newId("wh", NOON));
      await db.transaction(function* () {
        for (const id of ids)
          yield* insertRecipient({ id, kind, endpointId, maxSpamScore: 100, confirmedAt: NOON }, NOON);
      });
      return ids;
    },
    post: (count, now = NOON, message = "héllo 🙂") =>
      db.transaction(function* () {
        const ids: string[] = [];
        for (let index = 0; index < count; index += 1) {
          const submission = asSubmission({ endpointId, createdAt: now, data: { message } });
          // The row of the outbox needs nothing from the submission's row, but the submission's row needs the event.
          yield* insertSubmission(submission, yield* queueSubmission(submission, now));
          ids.push(submission.id);
        }
        return ids;
      }),
    gatherInOneRow: () =>
      db.transaction(function* () {
        const rows = yield* all(query.selectFrom("outbox").selectAll().orderBy("number"));
        yield* run(query.deleteFrom("outbox"));
        for (const recipientId of new Set(rows.map((row) => row.recipient_id))) {
          const own = rows.filter((row) => row.recipient_id === recipientId);
          const messages = own.flatMap((row) => JSON.parse(row.messages) as unknown[]);
          const [{ number, queued_at }] = own as [(typeof own)[number]];
          const counted = { message_count: messages.length, messages: JSON.stringify(messages) };
          const row = { number, recipient_id: recipientId, queued_at, ...counted };
          yield* run(query.insertInto("outbox").values(row));
        }
      }),
    async states() {
      const counts: Record<string, number> = {};
      const rows = await db.read(() => all(query.selectFrom("delivery").select("state")));
      for (const { state } of rows) counts[state] = (counts[state] ?? 0) + 1;
      return counts;
    },
  };
}

/** Deletes a submission with everything that refers to it. */
export async function erase(db: Database, id: string): Promise<void> {
  await db.transaction(() => run(query.deleteFrom("submission").where("id", "=", id)));
}
