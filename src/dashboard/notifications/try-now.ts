import { countAction } from "../../outbox/queue/account-limits.ts";
import { tryNow } from "../../outbox/queue/try-now.ts";
import { type Answer, redirect } from "../answer.ts";
import { applied, type DashboardParts } from "../parts.ts";
import type { Visit } from "../routes.ts";

/** What waits for a recipient of the viewer's is tried now. It counts as a test, so that nobody drives a receiver by it. */
export async function takeTryNow(
  parts: DashboardParts,
  { viewer, now }: Visit,
  recipientId: string,
  path: string,
): Promise<Answer> {
  await applied(parts, () =>
    parts.db.transaction(function* () {
      yield* countAction(viewer, "test", 1, now);
      yield* tryNow(recipientId, now);
    }),
  );
  return redirect(path, "tried-now");
}
