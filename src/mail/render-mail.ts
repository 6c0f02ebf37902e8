import { timeOfId } from "../foundation/id.ts";
import type { Html } from "../foundation/html.ts";
import { domainOf } from "../foundation/mail-address.ts";
import { plainText } from "../foundation/plain-text.ts";
import { headerDate, headerText, mailbox } from "./mail-header.ts";
import { quotedPrintable } from "./quoted-printable.ts";

/** An e-mail in its parts. Addresses are those that `parseMailAddress` returned; texts may be anything. */
export interface Mail {
  /** `msg_…`: the e-mail's name for ever, and its time. */
  readonly id: string;
  /** As `mail.from` has it. */
  readonly from: string;
  /** Shown before that address; empty for none. */
  readonly fromName: string;
  readonly to: string;
  /** Who gets the answer; null for the sender. */
  readonly replyTo: string | null;
  readonly subject: string;
  /** What a robot is told of this e-mail's origin (RFC 3834). */
  readonly origin: "auto-generated" | "auto-replied";
  /** The address that ends such e-mails (RFC 8058); null if there is none. */
  readonly unsubscribeUrl: string | null;
  readonly text: string;
  readonly html: Html;
}

/** Characters of the subject, and of the sender's name. */
export const MAX_SUBJECT_LENGTH = 120;
const MAX_NAME_LENGTH = 80;

/** The bytes of an e-mail; the same parts give the same bytes. */
export function renderMail(mail: Mail): Buffer {
  const boundary = `=_${mail.id}`;
  const lines = [
    ...headersOf(mail),
    `Content-Type: multipart/alternative;\r\n boundary="${boundary}"`,
    "",
    ...part(boundary, "plain", mail.text),
    ...part(boundary, "html", String(mail.html)),
    `--${boundary}--`,
    "",
  ];
  return Buffer.from(lines.join("\r\n"), "latin1");
}

function headersOf({ id, from, fromName, to, replyTo, subject, origin, unsubscribeUrl }: Mail): string[] {
  return [
    `Message-ID: <${id}@${domainOf(from)}>`,
    `Date: ${headerDate(timeOfId(id))}`,
    `From: ${mailbox(oneLine(fromName, MAX_NAME_LENGTH), from)}`,
    `To: <${to}>`,
    ...(replyTo === null ? [] : [`Reply-To: <${replyTo}>`]),
    `Subject: ${headerText(oneLine(subject, MAX_SUBJECT_LENGTH))}`,
    `Auto-Submitted: ${origin}`,
    "X-Auto-Response-Suppress: All",
    ...unsubscribeHeaders(unsubscribeUrl),
    "MIME-Version: 1.0",
  ];
}

/** One click needs https (RFC 8058, section 3.1). */
function unsubscribeHeaders(url: string | null): string[] {
  if (url === null) return [];
  const list = `List-Unsubscribe: <${url}>`;
  return url.startsWith("https:") ? [list, "List-Unsubscribe-Post: List-Unsubscribe=One-Click"] : [list];
}

function part(boundary: string, subtype: "plain" | "html", text: string): string[] {
  return [
    `--${boundary}`,
    `Content-Type: text/${subtype}; charset=utf-8`,
    "Content-Transfer-Encoding: quoted-printable",
    "",
    quotedPrintable(text),
  ];
}

/** Text in one line, at most that long, without control characters and marks of direction. */
export function oneLine(text: string, maxLength: number): string {
  return shorten(plainText(text).replace(/\s+/g, " ").trim(), maxLength);
}

export function shorten(text: string, maxLength: number): string {
  return (text.length <= maxLength ? text : `${text.slice(0, maxLength - 1)}…`).toWellFormed();
}
