import { findEndpoint } from "../../endpoints/endpoint-store.ts";
import { parseMailAddress } from "../../foundation/mail-address.ts";
import { findLanguage } from "../../languages/language.ts";
import type { MayReply } from "../../outbox/queue/outbox.ts";
import { countUse, isWithin } from "../../outbox/queue/quotas.ts";
import { listMailFields } from "../compose/mail-fields.ts";
import { insertReplyLanguageRow, isSuppressed, readReplyField } from "./auto-reply-store.ts";
import { isAutomaticAddress, mailboxOf } from "./automatic-address.ts";
import { limitsOfWorkspace, postQuotas, type ReplyLimits, sharedQuotas } from "./reply-limits.ts";

/**
 * Decides, while a post is stored, whether its sender gets a reply, and counts the reply. The checks are needed because whoever filled in
 * the form may have written somebody else's address.
 *
 * @param own the addresses that replies are sent from. They get no reply, so that no reply ever answers another.
 */
export function createMayReply(own: readonly string[], limits: ReplyLimits): MayReply {
  const ownMailboxes = new Set(own.map(mailboxOf));
  return function* (recipientId, { submission, address, trapped, language }, now) {
    if (trapped) return false;
    const field = yield* readReplyField(recipientId);
    const to = field === undefined ? null : replyAddress(submission.data, field);
    if (field === undefined || to === null) return false;
    if (isAutomaticAddress(to) || ownMailboxes.has(mailboxOf(to))) return false;
    const quotas = postQuotas(recipientId, address, to);
    // These quotas come first, because they end a flood at the lowest cost.
    if (!(yield* isWithin(quotas, now))) return false;
    const endpoint = yield* findEndpoint(submission.endpointId);
    if (endpoint === undefined) return false;
    const { workspaceId } = endpoint;
    const shared = sharedQuotas(workspaceId, yield* limitsOfWorkspace(workspaceId, limits));
    if (!(yield* isWithin(shared, now))) return false;
    if (yield* isSuppressed(to)) return false;
    if (!(yield* listMailFields(endpoint)).includes(field)) return false;
    yield* countUse([...quotas, ...shared], submission.id, now);
    const spoken = findLanguage(language?.());
    if (spoken !== null) yield* insertReplyLanguageRow(submission.id, spoken);
    return true;
  };
}

/** The address in a field; null unless the value is exactly one address that every mail server accepts. */
export function replyAddress(data: Readonly<Record<string, unknown>>, field: string): string | null {
  const value = Object.hasOwn(data, field) ? data[field] : null;
  return typeof value === "string" ? parseMailAddress(value) : null;
}
