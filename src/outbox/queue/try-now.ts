import { query } from "../../database/database.ts";
import { run, type Steps } from "../../database/steps.ts";
import { raiseSettingsVersion } from "../../database/settings-version.ts";

/** The largest number of messages that one call makes due: each of them spends an attempt. */
const MOST = 20;

/**
 * Makes what waits for an enabled recipient after a failure due now: the next probe if the recipient gets only probes, else the messages
 * whose next attempt comes first. Gathered messages stay gathered.
 */
export function* tryNow(recipientId: string, now: number): Steps<void> {
  const recipient = query.updateTable("recipient").set({ not_before: now }).where("id", "=", recipientId);
  yield* run(recipient.where("state", "=", "enabled").where("not_before", ">", now));
  const failed = query
    .selectFrom("delivery")
    .innerJoin("recipient", "recipient.id", "delivery.recipient_id")
    .select("delivery.id")
    .where("delivery.recipient_id", "=", recipientId)
    .where("delivery.state", "=", "pending")
    .where("delivery.attempts", ">", 0)
    .where("delivery.due_at", ">", now)
    // If the breaker is open, no message is made due: a probe does not wait until its message is due.
    .where("recipient.breaker", "<>", "open")
    .orderBy("delivery.due_at")
    .limit(MOST);
  yield* run(
    query
      .updateTable("delivery")
      .set({ due_at: now })
      .where("id", "in", failed)
      .where("state", "=", "pending"),
  );
  yield* raiseSettingsVersion("rows");
}
