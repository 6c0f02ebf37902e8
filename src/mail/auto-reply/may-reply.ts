import { findEndpoint } from "../../endpoints/endpoint-store.ts";
import { shortenAddress } from "../../foundation/ip-address.ts";
import { parseMailAddress } from "../../foundation/mail-address.ts";
import type { MayReply, PostedSubmission } from "../../outbox/outbox.ts";
import { countUse, isWithin, type Quota, quotaKey } from "../../outbox/quotas.ts";
import { listMailFields } from "../mail-fields.ts";
import { isSuppressed, readReplyField } from "./auto-reply-store.ts";
import { isAutomaticAddress, mailboxOf } from "./automatic-address.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/**
 * Decides, while a post is stored, whether its sender gets a reply, and counts it. Whoever wrote the address into the form may have
 * written that of somebody else: that is what all of this is for.
 *
 * @param own addresses that replies are sent from: none is answered, so that no reply ever answers another.
 */
export function createMayReply(own: readonly string[]): MayReply {
  const ownMailboxes = new Set(own.map(mailboxOf));
  return function* (recipientId, posted, now) {
    const { submission, trapped } = posted;
    if (trapped) return false;
    const field = yield* readReplyField(recipientId);
    const to = field === undefined ? null : replyAddress(submission.data, field);
    if (field === undefined || to === null) return false;
    if (isAutomaticAddress(to) || ownMailboxes.has(mailboxOf(to))) return false;
    const quotas = quotasOf(recipientId, posted, to);
    // First, for this is what ends a flood.
    if (!(yield* isWithin(quotas, now))) return false;
    if (yield* isSuppressed(to)) return false;
    const endpoint = yield* findEndpoint(submission.endpointId);
    if (endpoint === undefined || !(yield* listMailFields(endpoint)).includes(field)) return false;
    yield* countUse(quotas, submission.id, now);
    return true;
  };
}

function quotasOf(recipientId: string, { address }: PostedSubmission, to: string): Quota[] {
  return [
    { key: quotaKey("mailbox", mailboxOf(to)), most: 1, ms: DAY_MS },
    { key: quotaKey("reply", recipientId), most: 20, ms: HOUR_MS },
    { key: quotaKey("network", shortenAddress(address)), most: 3, ms: HOUR_MS },
  ];
}

/** The address in a field; null unless it is exactly one that every mail server takes. */
export function replyAddress(data: Readonly<Record<string, unknown>>, field: string): string | null {
  const value = Object.hasOwn(data, field) ? data[field] : null;
  return typeof value === "string" ? parseMailAddress(value) : null;
}
