import { query } from "../../src/database/database.ts";
import { run, type Steps } from "../../src/database/steps.ts";
import { NOON } from "./fake-clock.ts";

/** Stores an invitation to become a member of the workspace. */
export function* fillInvitations(workspaceId: string, accountId: string): Steps<void> {
  yield* run(
    query.insertInto("invitation").values({
      id: "inv_01h455vb4pex5vsknk084sn02q",
      workspace_id: workspaceId,
      email: "guest@example.org",
      role: "reader",
      endpoints: JSON.stringify(["' OR 1=1 --"]),
      may_export: 0,
      sees_spam_details: 1,
      handed_hash: Buffer.alloc(32, 12),
      mailed_hash: null,
      created_at: NOON,
      by_account_id: accountId,
      by_operator: 1,
    }),
  );
}
