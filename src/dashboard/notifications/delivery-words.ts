import { MAIL_KIND } from "../../mail/recipients/mail-recipient.ts";
import { type Attempt, type Delivery, type DeliveryState, isGathered } from "../../outbox/queue/delivery.ts";
import { REPLY_KIND } from "../../outbox/queue/recipient.ts";
import { NOT_SENT_ADVICE } from "./webhook-words.ts";

interface StateWords {
  readonly label: string;
  readonly tone: "done" | "medium" | "high" | "";
}

const STATES: Readonly<Record<DeliveryState, StateWords>> = {
  pending: { label: "Waiting", tone: "medium" },
  sending: { label: "Being sent", tone: "" },
  delivered: { label: "Delivered", tone: "done" },
  held: { label: "Kept", tone: "medium" },
  failed: { label: "Given up", tone: "high" },
};

export function stateWords(state: DeliveryState): StateWords {
  return STATES[state];
}

export function deliveryWords(delivery: Delivery, now: number): StateWords {
  return isGathered(delivery, now) ? GATHERED : STATES[delivery.state];
}

const GATHERED: StateWords = { label: "Gathered", tone: "" };

export function attemptWords(count: number): string {
  if (count === 0) return "not tried yet";
  return count === 1 ? "1 attempt" : `${count} attempts`;
}

export function togetherWords(others: number): string {
  return others === 1 ? "in a summary with 1 other" : `in a summary with ${others} others`;
}

type Failure = Pick<Attempt, "outcome" | "status">;

/**
 * What to do about a failed attempt, by its outcome; null if there is no advice.
 *
 * @param kind the recipient's kind
 * @param isLast whether the message was given up after this attempt
 */
export function adviceFor(kind: string, failure: Failure, isLast: boolean): string | null {
  if (kind === REPLY_KIND) return replyAdvice(failure);
  if (isLast && failure.outcome === "unsure") return GIVEN_UP_UNSURE;
  return kind === MAIL_KIND ? mailAdvice(failure) : webhookAdvice(failure);
}

const GIVEN_UP_UNSURE =
  "It may have arrived, so it is not sent again by itself. Look into the mailbox, among the spam too, before you send it again.";

/** Advice by the outcomes of `src/webhooks/classify.ts`. */
export function webhookAdvice({ outcome, status }: Failure): string | null {
  if (outcome === "refused_by_receiver") return status === null ? null : adviceForStatus(status);
  return Object.hasOwn(ADVICE, outcome) ? (ADVICE[outcome] ?? null) : null;
}

/** Advice by the outcomes of `src/mail/smtp/classify-mail.ts`. */
function mailAdvice({ outcome }: Failure): string | null {
  return Object.hasOwn(MAIL_ADVICE, outcome) ? (MAIL_ADVICE[outcome] ?? null) : null;
}

/**
 * Advice about an automatic reply. It is like that about other e-mail, but a reply is never sent again, and a refused address stops
 * nothing.
 */
function replyAdvice(failure: Failure): string | null {
  const { outcome } = failure;
  if (outcome === "unsure") return "It may have arrived. An automatic reply is never sent a second time.";
  // The attempt was stopped before it was sent, or its process was killed; its message says which.
  if (outcome === "interrupted") return "It is sent again only if it cannot have arrived.";
  if (outcome === "recipient_refused" || outcome === "relay_refused")
    return "The mail server says that nobody gets e-mail at this address. Whoever wrote it may have made a mistake.";
  return mailAdvice(failure);
}

const OPERATOR_MENDS =
  "The operator of this server has to mend its mail settings. Nothing is lost: e-mail waits until then.";

const MAIL_ADVICE: Readonly<Record<string, string>> = {
  deferred: "The mail server asks to wait. It is sent again by itself.",
  recipient_refused:
    "The mail server says that nobody gets e-mail at this address. Check its spelling, or ask its holder. After three such answers in a row nothing more is sent.",
  content_refused: "The mail server did not want this e-mail. It is tried again.",
  relay_refused: OPERATOR_MENDS,
  sender_refused: OPERATOR_MENDS,
  login_refused: OPERATOR_MENDS,
  tls_failed: OPERATOR_MENDS,
  unreachable: "The mail server could not be reached. It is tried again by itself.",
  unsure: "It may have arrived. It is sent once more, with the same number.",
  interrupted: "This server was stopped before anything was sent. It is sent again.",
};

const ADVICE: Readonly<Record<string, string>> = {
  redirect: "The receiver has moved. Change the webhook to the new address.",
  gone: "The receiver no longer wants messages. If it moved, change the address; otherwise delete the webhook.",
  timeout: "The receiver is too slow or unreachable. Let it answer at once and do its work afterwards.",
  connection_refused:
    "Nothing runs at this address. Look whether the receiver is started, and whether the port is right.",
  connection_lost: "The receiver ended the connection in the middle. Look into its log.",
  unreachable: "This server has no way to the receiver. Look at the network or a firewall between them.",
  name_not_found: "Check the spelling of the address: this host name does not exist.",
  name_lookup_failed: "The name server of this machine did not answer. Usually this passes by itself.",
  certificate_invalid: "The receiver’s certificate has to be renewed or corrected by whoever runs it.",
  tls_failed:
    "The receiver and this server found no common encryption. Check that the address should begin with https.",
  bad_answer: "What answered is no web server, or a broken one. Check the port in the address.",
  address_not_allowed:
    "This server does not send to addresses of private networks unless its operator allows it.",
  not_sent: NOT_SENT_ADVICE,
  interrupted: "This server was stopped in the middle. It is sent again.",
};

function adviceForStatus(status: number): string | null {
  if (status === 401 || status === 403)
    return "The receiver wants a password or token, or another one. Change the webhook’s own headers.";
  if (status === 404 || status === 405)
    return "The path of the address is wrong, or the receiver was removed.";
  if (status === 413) return "The submission is larger than the receiver accepts.";
  if (status === 429) return "The receiver is asked too often. It is sent later.";
  if (status >= 500) return "The receiver itself failed. Whoever runs it finds the reason in its log.";
  return "The receiver did not accept the message. Its answer may say why.";
}
