import { changed, type Context } from "../operations/operation.ts";
import { countAction } from "../outbox/queue/account-limits.ts";
import { tryNow } from "../outbox/queue/try-now.ts";
import { limitedAccountOf } from "./limited-account.ts";
import { reachRecipient } from "./reach-recipient.ts";
import type { AnyRecipient, RecipientType } from "./recipient-type.ts";

/**
 * Tries what waits for a recipient after a failure now. It counts as a test, so that nobody can use it to flood a receiver.
 *
 * @throws not_found, forbidden, rate_limited
 */
export function tryRecipient<Of extends AnyRecipient>(
  context: Context,
  type: RecipientType<Of>,
  id: string,
): Promise<Of> {
  const account = limitedAccountOf(context.actor);
  return context.transact(function* () {
    const { recipient } = yield* reachRecipient(context, type, id);
    if (account !== null) yield* countAction(account, "test", 1, context.now);
    yield* tryNow(id, context.now);
    return changed(recipient);
  });
}
