import type { Steps } from "../../database/steps.ts";
import { findEndpoint } from "../../endpoints/endpoint-store.ts";
import { type Brand, NO_BRAND } from "../../foundation/brand.ts";
import type { Clock } from "../../foundation/clock.ts";
import type { Language } from "../../languages/language.ts";
import type { Door } from "../../operations/perform.ts";
import { readBrand, readTimeZone } from "../../workspaces/workspace-settings.ts";
import { readAsked, readSubscribed } from "./agree-to-mail.ts";
import { UTC } from "../compose/mailed-event.ts";
import type { MailRecipient } from "./mail-recipient.ts";
import { readConfirmation } from "./mail-recipient-store.ts";

/** What a link in an e-mail to a recipient does: `confirm` agrees to these e-mails, `unsubscribe` ends them. */
export type MailLinkKind = "confirm" | "unsubscribe";

/** The recipient that a link is about, as its page shows it. */
export interface LinkedRecipient {
  readonly address: string;
  readonly endpointName: string;
  /** The language of the endpoint; null means the language of the reader's browser. */
  readonly language: Language | null;
  /** Whether its holder has ended the e-mails. */
  readonly isUnsubscribed: boolean;
  /** When the link expires, in milliseconds since 1970; null if it never does. */
  readonly goodUntil: number | null;
  /** The time zone of the form's workspace, by its name in the IANA database. */
  readonly timeZone: string;
  /** The brand of that workspace. Before the recipient has agreed it is empty, because its owner chose the texts. */
  readonly brand: Brand;
}

/** The pages that the links lead to. Reading one changes nothing, because malware scanners open every link of an e-mail. */
export interface MailLinks {
  /** @throws not_found, in the same words whatever is wrong with the link. */
  read(kind: MailLinkKind, id: string, token: string): Promise<LinkedRecipient>;
  /** @throws not_found as `read` does; database_busy. */
  act(kind: MailLinkKind, id: string, token: string): Promise<LinkedRecipient>;
}

interface MailLinksParts extends Pick<Door<null>, "db" | "config" | "onChange"> {
  readonly clock: Clock;
}

export function createMailLinks({ clock, ...door }: MailLinksParts): MailLinks {
  const { db } = door;
  const read: MailLinks["read"] = (kind, id, token) =>
    db.read(function* () {
      if (kind === "unsubscribe") return yield* linked(yield* readSubscribed(id, token));
      const asked = yield* linked(yield* readAsked(id, token, clock.now()));
      return { ...asked, goodUntil: (yield* readConfirmation(id))?.expiresAt ?? null };
    });
  return {
    read,
    async act(kind, id, token) {
      // The link is checked with a read first: a wrong or repeated one then takes no lock, and the server need not drop what it holds in
      // memory.
      const known = await read(kind, id, token);
      if (kind === "unsubscribe" && known.isUnsubscribed) return known;
      // Loaded only now: a server starts without operations, and few servers ever need them for a link.
      const [{ perform }, { confirmRecipient, unsubscribeRecipient }] = await Promise.all([
        import("../../operations/perform.ts"),
        import("./follow-link.ts"),
      ]);
      const follow = kind === "confirm" ? confirmRecipient : unsubscribeRecipient;
      const visitor = { ...door, now: clock.now(), actor: { kind: "visitor" }, parts: null } as const;
      const done = await perform(visitor, follow, { recipient: id, token });
      return {
        address: done.address,
        endpointName: done.endpoint_name,
        language: known.language,
        isUnsubscribed: done.unsubscribed,
        goodUntil: null,
        timeZone: known.timeZone,
        brand: known.brand,
      };
    },
  };
}

function* linked({
  settings,
  endpointId,
  unsubscribedAt,
  confirmedAt,
}: MailRecipient): Steps<LinkedRecipient> {
  const endpoint = yield* findEndpoint(endpointId);
  const hasBrand = endpoint !== undefined && confirmedAt !== null;
  return {
    address: settings.address,
    endpointName: endpoint?.name ?? "",
    language: endpoint?.settings.language ?? null,
    isUnsubscribed: unsubscribedAt !== null,
    goodUntil: null,
    timeZone: endpoint === undefined ? UTC : ((yield* readTimeZone(endpoint.workspaceId)) ?? UTC),
    brand: hasBrand ? yield* readBrand(endpoint.workspaceId) : NO_BRAND,
  };
}

/** The address of a link. @param baseUrl `server.baseUrl`, never an address from a request. */
export function mailLinkUrl(baseUrl: string, kind: MailLinkKind, id: string, token: string): string {
  return `${baseUrl}/mail/${kind}/${id}/${token}`;
}

/** The page on which a recipient ends its e-mails. */
export function unsubscribeUrl(baseUrl: string, { id, unsubscribeToken }: MailRecipient): string {
  return mailLinkUrl(baseUrl, "unsubscribe", id, unsubscribeToken);
}
