import { type Database, query } from "../database/database.ts";
import { monthOf } from "../foundation/clock.ts";
import { FormsvcError } from "../foundation/errors.ts";
import { newId } from "../foundation/id.ts";
import type { Outbox } from "../webhooks/enqueue-delivery.ts";
import { findWorkspace, readUsage } from "../workspaces/workspace-store.ts";
import type { Plans } from "../workspaces/workspace.ts";
import { findHeld, type HeldPost } from "./held-post.ts";
import { teachGenuine } from "./mark-submission.ts";
import { insertSubmission } from "./submission-store.ts";
import type { Submission } from "./submission.ts";

/**
 * Turns a held post into a submission with the time it arrived. It counts in the month of its release, goes to the
 * webhooks, and teaches the filter where it was held as spam; all in one transaction.
 *
 * @throws not_found; plan_limit where the month is full.
 */
export function releaseHeld(
  db: Database,
  id: string,
  plans: Plans,
  outbox: Pick<Outbox, "enqueue" | "write" | "announce">,
  now: number,
): Submission {
  const release = (): Submission => {
    const held = findHeld(db, id);
    count(db, held, plans, now);
    const submission = asSubmission(held);
    insertSubmission(db, submission, outbox.enqueue(submission, now));
    if (held.why === "spam") teachGenuine(db, held.workspaceId, submission, now);
    outbox.write();
    db.run(query.deleteFrom("held").where("id", "=", id));
    return submission;
  };
  try {
    return db.transaction(release);
  } finally {
    outbox.announce();
  }
}

/** The owner's word stands above the score: what they release is as welcome as any other. */
function asSubmission(held: HeldPost): Submission {
  const released =
    held.why === "spam"
      ? [{ signal: "released", points: -held.spamScore, field: null, detail: "released by the owner" }]
      : [];
  const { workspaceId: _workspaceId, why, ...submission } = held;
  return {
    ...submission,
    id: newId("sub", held.createdAt),
    spamScore: why === "spam" ? 0 : held.spamScore,
    spamClass: why === "spam" ? "low" : held.spamClass,
    spamReasons: [...held.spamReasons, ...released],
  };
}

function count(db: Database, held: HeldPost, plans: Plans, now: number): void {
  const workspace = findWorkspace(db, held.workspaceId);
  const month = monthOf(now);
  const usage = readUsage(db, workspace, month, plans);
  if (usage.remaining === 0) {
    throw new FormsvcError(
      "plan_limit",
      `the plan ${workspace.plan} allows ${usage.limit} submissions a month and all are used; ` +
        `release it on a larger plan (formsvc workspace set-plan) or next month`,
    );
  }
  db.run(
    query
      .insertInto("usage")
      .values({ workspace_id: workspace.id, month, used: usage.used + 1 })
      .onConflict((conflict) => conflict.doUpdateSet({ used: usage.used + 1 })),
  );
}
