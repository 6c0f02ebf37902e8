import { programWords } from "../../foundation/program-words.ts";
import type { Blame } from "../../outbox/sending/transport.ts";
import {
  COMMON_STAGES,
  type SmtpProblem,
  type SmtpReply,
  type SmtpResult,
  type SmtpStage,
} from "./smtp-result.ts";

/** The outcome under which an attempt is recorded. */
export type MailOutcome =
  /** The server accepted the e-mail. */
  | "delivered"
  /** A reply of 400 to 499: the server asks to try later. */
  | "deferred"
  /** The server refuses this recipient for good. */
  | "recipient_refused"
  /** The server refuses only this e-mail: its size, its content, or its sender. */
  | "content_refused"
  /** The server refuses every e-mail until somebody mends the configuration. */
  | "relay_refused"
  | "sender_refused"
  | "login_refused"
  | "tls_failed"
  /** There was no connection, or it was lost before any part of the e-mail was sent. */
  | "unreachable"
  /** The connection was lost after the server had asked for the content, so it may have the e-mail. */
  | "unsure"
  | "interrupted";

export interface MailVerdict {
  readonly outcome: MailOutcome;
  readonly blame: Blame;
  /** For people: what happened, and what to do about it. */
  readonly message: string;
}

/** Whom a failure speaks about. Two outcomes are left out, because it depends on the step for them. */
const BLAMES: Readonly<Record<Exclude<MailOutcome, "deferred" | "unreachable">, Blame>> = {
  delivered: "nobody",
  recipient_refused: "message",
  // Tried again, because the server may refuse our own address in the content, and nothing is lost until somebody mends that. It never
  // stops the recipient, because a stranger decides what a post says.
  content_refused: "recipient",
  relay_refused: "destination",
  sender_refused: "destination",
  login_refused: "destination",
  tls_failed: "destination",
  unsure: "unsure",
  interrupted: "own",
};

/**
 * Classifies one attempt.
 *
 * @param hasDelivered whether this mail server has accepted an e-mail of ours. If it then refuses to relay for one recipient, that says
 * nothing about us, and the e-mail of the others goes on.
 */
export function classifyMail(result: SmtpResult, hasDelivered = false): MailVerdict {
  const { stage, reply, problem } = result;
  if (stage === "done")
    return { outcome: "delivered", blame: "nobody", message: `The mail server took it: ${quote(reply)}.` };
  const [outcome, message] =
    reply === null ? classifyProblem(stage, problem ?? NO_PROBLEM) : classifyReply(stage, reply);
  return { outcome, blame: blameOf(outcome, stage, hasDelivered), message };
}

function blameOf(outcome: MailOutcome, stage: SmtpStage, hasDelivered: boolean): Blame {
  const isCommon = COMMON_STAGES.has(stage);
  if (outcome === "deferred" || outcome === "unreachable") return isCommon ? "destination" : "recipient";
  if (outcome === "relay_refused") return isCommon || !hasDelivered ? "destination" : "message";
  return BLAMES[outcome];
}

type Classification = readonly [outcome: MailOutcome, message: string];

const NO_PROBLEM: SmtpProblem = { code: "EUNKNOWN", detail: "" };

/** The thing that the server refuses or puts off, by step. */
const OBJECTS: Readonly<Record<SmtpStage, string>> = {
  connect: "the connection",
  tls: "encryption (STARTTLS)",
  login: "the login",
  sender: "the sender",
  recipient: "the recipient",
  data: "the content",
  content: "the content",
  done: "it",
};

/** Reply codes to any command that speak of this side and not of a recipient: an unknown command, or missing login or TLS. */
const OWN_CODES: ReadonlySet<number> = new Set([500, 501, 502, 503, 504, 530, 534, 535, 538]);
const TOO_LARGE_CODE = 552;

function classifyReply(stage: SmtpStage, reply: SmtpReply): Classification {
  const said = quote(reply);
  if (reply.code < 500)
    return ["deferred", `The mail server puts ${OBJECTS[stage]} off until later: ${said}.`];
  const refused = `The mail server refused ${OBJECTS[stage]}: ${said}.`;
  if (stage === "recipient" && !refusesUs(reply)) return ["recipient_refused", refused];
  if (stage === "content" || reply.code === TOO_LARGE_CODE) return ["content_refused", refused];
  if (stage === "tls") return ["tls_failed", `${refused} ${TLS_ADVICE}`];
  if (stage === "login") return ["login_refused", `${refused} ${LOGIN_ADVICE}`];
  if (stage === "sender" && !OWN_CODES.has(reply.code))
    return ["sender_refused", `${refused} ${SENDER_ADVICE}`];
  return ["relay_refused", `${refused} ${stage === "connect" ? CONNECT_ADVICE : RELAY_ADVICE}`];
}

/**
 * Whether the server refuses us and not the recipient. Servers reply "relay access denied" at the recipient's step if a client did not log
 * in: with the code 5.7 of RFC 3463, or in words that begin with it. Words further on may be quoted from the recipient's own server, which
 * must not stop all e-mail.
 */
function refusesUs({ code, text }: SmtpReply): boolean {
  if (OWN_CODES.has(code) || /^\W*relay/i.test(text)) return true;
  return /^5\.7\.\d/.test(text) && /\brelay|authenticat/i.test(text);
}

const TLS_ADVICE =
  "If it speaks TLS from the first byte, as on port 465, set mail.security to tls; if a server of your own network has no TLS, to none.";
const LOGIN_ADVICE =
  "Check mail.user and mail.password. Some providers want a password that is made for a program, and none of the account's own.";
const SENDER_ADVICE = "Set mail.from (or mail.envelopeFrom) to an address that this login may send as.";
const CONNECT_ADVICE =
  "Use the mail server of your provider, and check the name that this machine gives: the host of server.baseUrl, else the domain of mail.from.";
const RELAY_ADVICE =
  "It sends for those only who log in, or whose network it knows: set mail.user and mail.password.";

function classifyProblem(stage: SmtpStage, { code, detail }: SmtpProblem): Classification {
  const facts = `(${programWords(code, detail)})`;
  if (stage === "content")
    return [
      "unsure",
      `The connection was lost while the e-mail was sent; it may have arrived ${facts}. ${UNSURE_ADVICE}`,
    ];
  if (code === "EINTERRUPTED") return ["interrupted", "The sender was stopped before anything was sent."];
  if (code === "ETOOLARGE")
    return ["content_refused", `The mail server takes no e-mail of this size ${facts}.`];
  if (code === "EADDRESS") return ["recipient_refused", `The recipient is no address ${facts}.`];
  if (code === "ENOLOGIN")
    return ["login_refused", `The mail server offers no login by password ${facts}. ${NO_LOGIN_ADVICE}`];
  const certificate = stage === "tls" ? certificateProblem(code) : null;
  if (certificate !== null) return ["tls_failed", `${certificate} ${facts}.`];
  return ["unreachable", `${unreachable(stage, code)} ${facts}.`];
}

const UNSURE_ADVICE =
  "If this goes on, look into the mail server's own log: a scanner or a firewall before it may end connections.";
const NO_LOGIN_ADVICE =
  "Many servers offer it only over TLS (mail.security); one of your own network may need none: then remove mail.user.";

const CERTIFICATES: ReadonlyMap<string, string> = new Map([
  [
    "ERR_TLS_CERT_ALTNAME_INVALID",
    "The mail server's certificate is for another host name: set mail.host to a name of the certificate",
  ],
  ["CERT_HAS_EXPIRED", "The mail server's certificate has expired: renew it there"],
  ["CERT_NOT_YET_VALID", "The mail server's certificate is not valid yet: check the clock of this machine"],
]);
const UNTRUSTED =
  "The mail server's certificate is of an authority that is not trusted here: use the name of a public server, " +
  "or let NODE_EXTRA_CA_CERTS name a file with the authority's certificate";
const UNTRUSTED_CODES =
  /^(?:DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_|CERT_UNTRUSTED|INVALID_CA)/;

/** The problem with the encryption that no retry ends; null if the connection was only lost. */
function certificateProblem(code: string): string | null {
  const known = CERTIFICATES.get(code);
  if (known !== undefined) return known;
  if (UNTRUSTED_CODES.test(code)) return UNTRUSTED;
  if (code.startsWith("CERT_")) return "The mail server's certificate is not valid";
  if (/^(?:ERR_SSL_|ERR_TLS_|EPROTO)/.test(code))
    return "TLS could not be agreed on: on port 587 and 25 servers want mail.security starttls, on port 465 tls";
  return null;
}

const UNREACHABLE: ReadonlyMap<string, string> = new Map([
  ["ECONNREFUSED", "Nothing listens at mail.host and mail.port"],
  ["ENOTFOUND", "The name of mail.host does not exist"],
  ["ENODATA", "The name of mail.host has no address"],
  ["EHOSTUNREACH", "No way to the mail server's network"],
  ["ENETUNREACH", "No way to the mail server's network"],
  ["EPROTOCOL", "What answers at mail.host and mail.port is no mail server"],
]);

function unreachable(stage: SmtpStage, code: string): string {
  const known = stage === "connect" ? UNREACHABLE.get(code) : undefined;
  if (known !== undefined) return known;
  if (code === "EUNKNOWN") return "Nothing was sent";
  if (code.startsWith("EAI_")) return "The name of mail.host could not be looked up";
  const isLate = code === "EDEADLINE" || code === "ETIMEDOUT";
  if (isLate && stage === "connect") return SILENT_GREETING;
  return isLate
    ? `The mail server did not answer in time (${OBJECTS[stage]})`
    : `The mail server ended the connection (${OBJECTS[stage]})`;
}

const SILENT_GREETING =
  "The mail server did not greet in time: a firewall may drop the port (many providers of machines block 25), " +
  "or the server waits for TLS, as on port 465, and mail.security is not tls";

function quote(reply: SmtpReply | null): string {
  if (reply === null) return "250";
  // A full stop of the reply is removed, because the sentence brings its own.
  return `${reply.code} ${reply.text}`.trim().replace(/\.$/, "");
}
