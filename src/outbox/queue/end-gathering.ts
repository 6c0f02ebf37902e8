import { sql } from "kysely";
import { query } from "../../database/database.ts";
import { raiseSettingsVersion } from "../../database/settings-version.ts";
import { run, type Steps } from "../../database/steps.ts";

/** Sends the gathered messages of a recipient now, as one. Call when the way in which it wants its messages has changed. */
export function* endGathering(recipientId: string, now: number): Steps<void> {
  yield* run(
    query
      .updateTable("recipient_pace")
      .set({ gathers_until: now })
      .where("recipient_id", "=", recipientId)
      .where("gathers_until", ">", now),
  );
  yield* run(
    query
      .updateTable("delivery")
      .set({ due_at: now })
      .where("recipient_id", "=", recipientId)
      .where("state", "=", sql.lit("pending"))
      .where("lead_id", "is", null)
      .where("due_at", ">", now)
      .where("attempts", "=", 0),
  );
  yield* raiseSettingsVersion("rows");
}
