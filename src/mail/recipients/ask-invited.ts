import type { Database } from "../../database/database.ts";
import type { Steps } from "../../database/steps.ts";
import type { Clock } from "../../foundation/clock.ts";
import { FormsvcError } from "../../foundation/errors.ts";
import type { LimitedAccount } from "../../outbox/queue/account-limits.ts";
import { countUse, isWithin } from "../../outbox/queue/quotas.ts";
import { makeInvitationToken } from "../../workspaces/invitation-store.ts";
import { questionQuotas } from "./ask-holder.ts";
import { type LetterContent, queueLetter } from "../letters/letter-store.ts";

/** Writes the letter of an invitation. Its reader may know nothing of this server, so nobody may write to them with it. */

export interface InvitationLetter {
  readonly invitationId: string;
  /** As `parseMailAddress` returned it. */
  readonly address: string;
  readonly asker: LimitedAccount;
  /** The dashboard's address from the configuration, never from a request. */
  readonly dashboardUrl: string;
  /** `mail.limits.confirmationsPerHour` */
  readonly perHour: number;
}

const TOPIC = "invitation ";
const RETRY_AFTER_SECONDS = 3600;

/**
 * Writes the letter, in the transaction that makes the invitation.
 *
 * @throws rate_limited if the hourly limit of this mailbox, of this account or of all accounts together is reached.
 */
export function* writeInvitation(letter: InvitationLetter, now: number): Steps<void> {
  const { invitationId, address, dashboardUrl } = letter;
  const quotas = questionQuotas(address, letter);
  if (!(yield* isWithin(quotas, now)))
    throw new FormsvcError("rate_limited", "too many invitations were sent within an hour; try again later", {
      retryAfterSeconds: RETRY_AFTER_SECONDS,
    });
  const topic = `${TOPIC}${invitationId}`;
  const content = contentOf(dashboardUrl);
  const id = yield* queueLetter({ kind: "confirmation", topic, address, recipientId: null, content }, now);
  yield* countUse(quotas, id ?? invitationId, now);
}

/** The letter names neither workspace nor account: the inviting account chose both, and could write to strangers with them. */
function contentOf(dashboardUrl: string): LetterContent {
  const { host } = new URL(dashboardUrl);
  return {
    subject: `You are invited to ${host}`,
    paragraphs: [
      `Somebody who uses ${host} invites you to work on forms with them there.`,
      "The link leads to a page that says who it is, and what you would see. It works once, within 7 days, and for this address only.",
      "If you know of nothing, there is nothing to do.",
    ],
    link: null,
  };
}

interface LinkParts {
  readonly db: Database;
  readonly clock: Clock;
  /** The dashboard's address; null if it is not known: then no links are made. */
  readonly dashboardUrl: string | null;
}

/**
 * Returns a function that makes the link of a letter just before it is sent, so that the token is in no table. The function returns null if
 * the invitation was accepted, withdrawn or replaced meanwhile, or has expired.
 */
export function createInvitationLinks({ db, clock, dashboardUrl }: LinkParts) {
  return async (topic: string): Promise<LetterContent["link"]> => {
    if (dashboardUrl === null || !topic.startsWith(TOPIC)) return null;
    const id = topic.slice(TOPIC.length);
    const token = await db.transaction(() => makeInvitationToken(id, "mailed_hash", clock.now()));
    return token === null
      ? null
      : { label: "See the invitation", url: `${dashboardUrl}/invitation#${token}` };
  };
}
