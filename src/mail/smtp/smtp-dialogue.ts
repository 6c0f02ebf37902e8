import { plainText } from "../../foundation/plain-text.ts";
import type { SmtpReply, SmtpStage } from "./smtp-result.ts";

/** A reply of the server, with the command that it answers. */
export interface SmtpExchange {
  readonly stage: SmtpStage;
  /** The command without secrets; null for the greeting. */
  readonly command: string | null;
  readonly reply: SmtpReply;
}

const MAX_REPLY_LENGTH = 1024;
/** The largest number of characters of the server's EHLO reply that are read. */
const MAX_OFFER_LENGTH = 10_000;

const STAGES: readonly (readonly [command: RegExp, stage: SmtpStage])[] = [
  [/^(?:EHLO|HELO) /, "connect"],
  [/^STARTTLS$/, "tls"],
  [/^(?:MAIL FROM:|RSET$|QUIT$)/, "sender"],
  [/^RCPT TO:/, "recipient"],
  [/^DATA$/, "data"],
  [/^\.$/, "content"],
];

/**
 * Follows what both sides say, because the library does not report how far a message came. Commands may be sent before the replies to
 * earlier ones.
 */
export class SmtpDialogue {
  readonly #onExchange: (exchange: SmtpExchange) => void;
  #waiting: { readonly stage: SmtpStage; readonly command: string }[] = [];
  #between: SmtpStage = "connect";
  #answered: SmtpStage = "connect";
  #offer = "";

  constructor(onExchange: (exchange: SmtpExchange) => void) {
    this.#onExchange = onExchange;
  }

  /** The step that is under way. */
  get stage(): SmtpStage {
    return this.#waiting[0]?.stage ?? this.#between;
  }

  /** The step that the last reply was for. */
  get answered(): SmtpStage {
    return this.#answered;
  }

  /** The extensions that the server offers, one a line, from its last reply to EHLO. */
  get offer(): string {
    return this.#offer;
  }

  /** Notes that a step begins while no command waits for a reply. */
  enter(stage: SmtpStage): void {
    this.#between = stage;
  }

  /** Notes a command. @param line the line as it was sent, without the secrets of a login. */
  sent(line: string): void {
    const stage = STAGES.find(([pattern]) => pattern.test(line))?.[1] ?? "login";
    const command = stage === "login" ? (/^AUTH \S+/.exec(line)?.[0] ?? "(secret)") : line;
    this.#waiting.push({ stage, command });
  }

  /** Notes a reply. @param text all lines of the reply. */
  received(text: string): void {
    const { stage } = this;
    const command = this.#waiting.shift()?.command ?? null;
    const reply = parseReply(text);
    this.#answered = stage;
    this.#between = stage;
    if (reply === null) return;
    if (command?.startsWith("EHLO ") === true) this.#offer = text.slice(0, MAX_OFFER_LENGTH);
    if (stage === "data" && reply.code < 400) this.#between = "content";
    this.#onExchange({ stage, command, reply });
  }
}

/** @param text all lines of a reply. @returns null if the text does not begin with a code. */
export function parseReply(text: string): SmtpReply | null {
  const code = /^[2-5]\d\d(?=[ \n-]|$)/.exec(text)?.[0];
  if (code === undefined) return null;
  // Four times the limit, because each line begins with a code that is removed.
  const lines = text.slice(0, 4 * MAX_REPLY_LENGTH).replace(/^\d{3}[ -]?/gm, "");
  return { code: Number(code), text: plainText(lines).trim().slice(0, MAX_REPLY_LENGTH).toWellFormed() };
}
