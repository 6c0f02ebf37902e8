import type { Database } from "../database/database.ts";
import type { Steps } from "../database/steps.ts";
import { findEndpoint } from "../endpoints/endpoint-store.ts";
import type { Clock } from "../foundation/clock.ts";
import { confirmMailRecipient, readAsked, readSubscribed, unsubscribe } from "./agree-to-mail.ts";
import type { MailRecipient } from "./mail-recipient.ts";
import { readConfirmation } from "./mail-recipient-store.ts";

/** What a link in an e-mail to a recipient does: it agrees to these e-mails, or ends them. */
export type MailLinkKind = "confirm" | "unsubscribe";

/** Whom and what a link is about. */
export interface LinkedRecipient {
  readonly address: string;
  readonly endpointName: string;
  /** Whether it gets no e-mail any more, because its holder ended them. */
  readonly isUnsubscribed: boolean;
  /** When the link stops working; null if it never does. */
  readonly goodUntil: number | null;
}

/** The pages behind the links. Reading changes nothing, because programs that look for malware open every link of an e-mail. */
export interface MailLinks {
  /** @throws not_found, in the same words whatever is wrong with the link */
  read(kind: MailLinkKind, id: string, token: string): Promise<LinkedRecipient>;
  /** @throws not_found as `read` does, database_busy */
  act(kind: MailLinkKind, id: string, token: string): Promise<LinkedRecipient>;
}

interface MailLinksParts {
  readonly db: Database;
  readonly clock: Clock;
  /** Tells the server that settings changed. */
  readonly onChange: () => void;
}

export function createMailLinks({ db, clock, onChange }: MailLinksParts): MailLinks {
  const read: MailLinks["read"] = (kind, id, token) =>
    db.read(function* () {
      if (kind === "unsubscribe") return yield* linked(yield* readSubscribed(id, token));
      const asked = yield* linked(yield* readAsked(id, token, clock.now()));
      return { ...asked, goodUntil: (yield* readConfirmation(id))?.expiresAt ?? null };
    });
  return {
    read,
    async act(kind, id, token) {
      // A wrong link, or one that is used again and again, takes no lock, and the server need not forget what it knows.
      const known = await read(kind, id, token);
      if (kind === "unsubscribe" && known.isUnsubscribed) return known;
      const verb = kind === "confirm" ? confirmMailRecipient : unsubscribe;
      const done = await db.transaction(function* () {
        return yield* linked(yield* verb(id, token, clock.now()));
      });
      onChange();
      return done;
    },
  };
}

function* linked({ settings, endpointId, unsubscribedAt }: MailRecipient): Steps<LinkedRecipient> {
  const endpoint = yield* findEndpoint(endpointId);
  return {
    address: settings.address,
    endpointName: endpoint?.name ?? "",
    isUnsubscribed: unsubscribedAt !== null,
    goodUntil: null,
  };
}

/** @param baseUrl `server.baseUrl`, never what a request says of itself. */
export function mailLinkUrl(baseUrl: string, kind: MailLinkKind, id: string, token: string): string {
  return `${baseUrl}/mail/${kind}/${id}/${token}`;
}

/** Where a recipient ends its e-mails. */
export function unsubscribeUrl(baseUrl: string, { id, unsubscribeToken }: MailRecipient): string {
  return mailLinkUrl(baseUrl, "unsubscribe", id, unsubscribeToken);
}
