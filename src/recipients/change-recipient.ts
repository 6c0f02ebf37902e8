import { writeSlice } from "../database/slices.ts";
import type { Endpoint } from "../endpoints/endpoint.ts";
import { changed, type Context, type OwnChange } from "../operations/operation.ts";
import { alignDeliveries } from "../outbox/queue/align-deliveries.ts";
import { deleteRecipient, setRecipientEnabled } from "../outbox/queue/recipient-store.ts";
import { reachRecipient } from "./reach-recipient.ts";
import type { AnyRecipient, RecipientType } from "./recipient-type.ts";

/** The entry about a recipient for the record of changes. */
export function changeOf<Of extends AnyRecipient>(
  { describe }: RecipientType<Of>,
  recipient: Of,
  { workspaceId }: Endpoint,
): OwnChange {
  return { subject: recipient.id, workspaceId, detail: describe(recipient) };
}

/** Enables or disables a recipient, and holds or releases its deliveries. @throws not_found, forbidden */
export async function switchRecipient<Of extends AnyRecipient>(
  context: Context,
  type: RecipientType<Of>,
  id: string,
  to: "enabled" | "disabled",
): Promise<Of> {
  const { db, now } = context;
  const switched = await context.transact(function* () {
    const { recipient: before, endpoint } = yield* reachRecipient(context, type, id);
    if (to === "enabled") type.requireEnabling?.(before);
    yield* setRecipientEnabled(id, to === "enabled");
    const { recipient } = yield* reachRecipient(context, type, id);
    return changed(recipient, changeOf(type, recipient, endpoint));
  });
  while (await writeSlice(db, () => alignDeliveries(now)));
  return switched;
}

/** Deletes a recipient with all its deliveries. @throws not_found, forbidden */
export async function removeRecipient<Of extends AnyRecipient>(
  context: Context,
  type: RecipientType<Of>,
  id: string,
): Promise<{ deleted: string[] }> {
  // Recorded before the deletion, because the deliveries are deleted in many transactions, and the recipient in the last one.
  await context.transact(function* () {
    const { recipient, endpoint } = yield* reachRecipient(context, type, id);
    return changed(null, changeOf(type, recipient, endpoint));
  });
  await deleteRecipient(context.db, id, context.now);
  return { deleted: [id] };
}
