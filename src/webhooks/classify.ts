import { programWords } from "../foundation/program-words.ts";
import type { Blame } from "../outbox/sending/transport.ts";
import { isSuccess } from "./outgoing-request.ts";
import type { SendResult } from "./send.ts";

/** The outcome under which an attempt is recorded. */
type WebhookOutcome =
  | "delivered"
  | "refused_by_receiver"
  | "redirect"
  | "gone"
  | "timeout"
  | "connection_refused"
  | "connection_lost"
  | "unreachable"
  | "name_not_found"
  | "name_lookup_failed"
  | "certificate_invalid"
  | "tls_failed"
  | "bad_answer"
  | "address_not_allowed"
  | "interrupted"
  | "failed";

export interface Verdict {
  readonly outcome: WebhookOutcome;
  /** Whom a failure speaks about. A 4xx speaks about the recipient too, because a mistyped path or an expired credential gets one. */
  readonly blame: Blame;
  /** What happened and, if that is known, what to do about it; for people. */
  readonly message: string;
}

const GONE_STATUS = 410;
const LOCATION_SHOWN_LENGTH = 200;

type Row = readonly [outcome: WebhookOutcome, sentence: string];

const ERROR_CODES: Readonly<Record<string, Row>> = {
  EDEADLINE: ["timeout", "The receiver did not answer in time"],
  ETIMEDOUT: ["timeout", "The connection could not be made in time"],
  UND_ERR_CONNECT_TIMEOUT: ["timeout", "The connection could not be made in time"],
  ECONNREFUSED: ["connection_refused", "Nothing listens at the receiver's address"],
  ECONNRESET: ["connection_lost", "The receiver closed the connection without an answer"],
  EPIPE: ["connection_lost", "The receiver closed the connection without an answer"],
  UND_ERR_SOCKET: ["connection_lost", "The receiver closed the connection without an answer"],
  EHOSTUNREACH: ["unreachable", "No way to the receiver's network"],
  ENETUNREACH: ["unreachable", "No way to the receiver's network"],
  EADDRNOTAVAIL: ["unreachable", "No way to the receiver's network"],
  EACCES: ["unreachable", "This machine does not permit the connection"],
  ENOTFOUND: ["name_not_found", "The receiver's host name does not exist"],
  ENODATA: ["name_not_found", "The receiver's host name has no address"],
  ERR_TLS_CERT_ALTNAME_INVALID: ["certificate_invalid", "The certificate is for another host name"],
  CERT_HAS_EXPIRED: ["certificate_invalid", "The certificate has expired"],
  CERT_NOT_YET_VALID: ["certificate_invalid", "The certificate is not valid yet"],
  DEPTH_ZERO_SELF_SIGNED_CERT: ["certificate_invalid", "The certificate is self-signed"],
  SELF_SIGNED_CERT_IN_CHAIN: ["certificate_invalid", "The certificate's authority is not trusted here"],
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: ["certificate_invalid", "The certificate's chain is incomplete"],
  UNABLE_TO_GET_ISSUER_CERT: ["certificate_invalid", "The certificate's authority is not trusted here"],
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: [
    "certificate_invalid",
    "The certificate's authority is not trusted here",
  ],
  EPROTO: ["tls_failed", "TLS could not be agreed on"],
  EBLOCKED: ["address_not_allowed", "Nothing is sent there unless it is allowed"],
  UND_ERR_HEADERS_OVERFLOW: ["bad_answer", "The answer's headers are too large"],
  EINTERIM: ["bad_answer", "The receiver sends interim answers without end"],
  HTTPParserError: ["bad_answer", "The answer is not HTTP"],
  UND_ERR_DESTROYED: ["interrupted", "The sender stopped before the answer came"],
  UND_ERR_CLOSED: ["interrupted", "The sender stopped before the answer came"],
};

const ERROR_PREFIXES: readonly (readonly [prefix: string, row: Row])[] = [
  ["EAI_", ["name_lookup_failed", "The receiver's host name could not be looked up"]],
  ["CERT_", ["certificate_invalid", "The certificate is not valid"]],
  ["ERR_SSL_", ["tls_failed", "TLS could not be agreed on"]],
  ["ERR_TLS_", ["tls_failed", "TLS could not be agreed on"]],
  ["HPE_", ["bad_answer", "The answer is not HTTP"]],
];

/** Classifies one attempt. */
export function classify(result: SendResult): Verdict {
  if (result.kind === "answer") return classifyAnswer(result.status, result.location);
  const [outcome, sentence] = findRow(result.code);
  const blame = outcome === "interrupted" ? "own" : "recipient";
  return { outcome, blame, message: `${sentence} (${programWords(result.code, result.detail)}).` };
}

function classifyAnswer(status: number, location: string | null): Verdict {
  if (isSuccess(status)) {
    return { outcome: "delivered", blame: "nobody", message: `Answered ${status}.` };
  }
  if (status >= 300 && status < 400) {
    const target = location === null ? "elsewhere" : `to ${location.slice(0, LOCATION_SHOWN_LENGTH)}`;
    return {
      outcome: "redirect",
      blame: "recipient",
      message: `Answered ${status}, a redirect ${target}. Redirects are not followed: set the webhook to the final address.`,
    };
  }
  if (status === GONE_STATUS) {
    return {
      outcome: "gone",
      blame: "recipient",
      message:
        "Answered 410: the receiver no longer wants deliveries. Another, a minute later or more, stops the webhook.",
    };
  }
  return { outcome: "refused_by_receiver", blame: "recipient", message: `Answered ${status}.` };
}

function findRow(code: string): Row {
  const exact = Object.hasOwn(ERROR_CODES, code) ? ERROR_CODES[code] : undefined;
  const found = exact ?? ERROR_PREFIXES.find(([prefix]) => code.startsWith(prefix))?.[1];
  return found ?? ["failed", "The attempt failed"];
}
