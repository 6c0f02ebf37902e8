import { sql } from "kysely";
import { query } from "../database/database.ts";
import { all, first, type Steps } from "../database/steps.ts";
import { toIsoTime } from "../foundation/clock.ts";
import { type Finding, problem, sound } from "../foundation/finding.ts";

/** Where it gets probes only, it keeps failing already; else a receiver may fail for a moment while it is deployed. */
const LONG_FAILING_MS = 3_600_000;

/** A finding for each webhook that is stopped, gets probes only or fails for an hour; one in all where none does. */
export function* checkReceivers(now: number): Steps<Finding[]> {
  const ill = yield* all(
    query
      .selectFrom("webhook")
      .select(["id", "url", "state", "breaker", "failing_since"])
      .where((row) =>
        row.or([
          row("state", "=", "stopped"),
          row.and([
            row("state", "=", "enabled"),
            row.or([row("breaker", "=", "open"), row("failing_since", "<", now - LONG_FAILING_MS)]),
          ]),
        ]),
      )
      .orderBy("id"),
  );
  if (ill.length === 0) return [sound("webhooks.receivers", "no receiver keeps failing")];
  return ill.map(({ id, url, state, breaker, failing_since: since }) =>
    problem(
      "webhooks.receivers",
      state === "stopped"
        ? `${id} is stopped: ${new URL(url).host} said that it is gone`
        : `${id} fails since ${toIsoTime(since ?? now)}${breaker === "open" ? " and gets probes only" : ""}: ${new URL(url).host}`,
      { kind: "look_at_webhook", webhookId: id },
    ),
  );
}

/** Deliveries that ran out of attempts and wait for somebody to replay them. */
export function* checkFailedDeliveries(): Steps<Finding> {
  const failed = yield* countFailed();
  if (failed === 0) return sound("webhooks.failed", "no delivery ran out of attempts");
  return problem("webhooks.failed", `${failed} deliveries ran out of attempts`, {
    kind: "replay_failed_deliveries",
  });
}

function* countFailed(): Steps<number> {
  const counted = yield* first(
    query
      .selectFrom("delivery")
      .select(({ fn }) => fn.countAll<number>().as("deliveries"))
      .where("state", "=", sql.lit("failed")),
  );
  return counted?.deliveries ?? 0;
}
