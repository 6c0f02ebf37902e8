import { type Brand, NO_BRAND } from "../../foundation/brand.ts";
import { timeOfId } from "../../foundation/id.ts";
import { domainOf, parseMailAddress } from "../../foundation/mail-address.ts";
import type { Language } from "../../languages/language.ts";
import { attachmentHeaders, type EncodedFile } from "./mail-attachment.ts";
import { checkHeader, headerDate, headerText, mailbox } from "./mail-header.ts";
import { htmlOf, type MailBlock, textOf } from "./mail-parts.ts";
import { oneLine } from "./mail-text.ts";
import { quotedPrintable } from "./quoted-printable.ts";

/** An e-mail in its parts. Each address is as `parseMailAddress` returned it; texts may be anything. */
export interface Mail {
  /** `msg_…`: the id from which the Message-ID and the date are made. */
  readonly id: string;
  /** `mail.from` */
  readonly from: string;
  /** The name before that address; empty for none. */
  readonly fromName: string;
  readonly to: string;
  /** The address that gets the answer; null means `from`. */
  readonly replyTo: string | null;
  readonly subject: string;
  /** The value of Auto-Submitted, which says to programs how the e-mail came about (RFC 3834). */
  readonly origin: "auto-generated" | "auto-replied";
  /** The id of the submission that the e-mail is about; null if it is about none, or about several. */
  readonly submissionId: string | null;
  /** The address that ends such e-mails (RFC 8058); null if there is none. */
  readonly unsubscribeUrl: string | null;
  readonly blocks: readonly MailBlock[];
  /** The language of the built-in texts. */
  readonly language: Language;
  /**
   * The brand of the workspace that the e-mail is about; absent if the e-mail speaks for the service, or goes to somebody who has not
   * agreed to anything.
   */
  readonly brand?: Brand;
  /** Absent means none. */
  readonly attachments?: readonly EncodedFile[];
}

/** In characters. */
const MAX_SUBJECT_LENGTH = 120;
const MAX_NAME_LENGTH = 80;
/** A longer address is left out, because servers may refuse the header line with it. */
const MAX_URL_LENGTH = 900;

/** The bytes of an e-mail. The same parts give the same bytes. @throws Error if an address is not valid. */
export function renderMail(mail: Mail): Buffer {
  for (const address of [mail.from, mail.to, mail.replyTo]) {
    if (address !== null && parseMailAddress(address) !== address)
      throw new Error(`not an address: ${JSON.stringify(address.slice(0, 200))}`);
  }
  const { attachments = [] } = mail;
  const texts = textsOf(mail, attachments.length === 0 ? [] : [alternative(mail)]);
  if (attachments.length === 0) {
    const lines = [...headersOf(mail, alternative(mail)).map(checkHeader), ...texts, ""];
    return Buffer.from(lines.join(CRLF), "latin1");
  }
  // No boundary begins like the other, so that no reader confuses the two.
  const boundary = `=_mixed_${mail.id}`;
  const type = `Content-Type: multipart/mixed;${CRLF} boundary="${boundary}"`;
  const head = [...headersOf(mail, type).map(checkHeader), "", `--${boundary}`, ...texts, ""];
  const parts = attachments.flatMap((file) => [
    Buffer.from([`--${boundary}`, ...attachmentHeaders(file).map(checkHeader), "", ""].join(CRLF), "latin1"),
    file.lines,
  ]);
  return Buffer.concat([
    Buffer.from(head.join(CRLF), "latin1"),
    ...parts,
    Buffer.from(`--${boundary}--${CRLF}`, "latin1"),
  ]);
}

const CRLF = "\r\n";

function alternative({ id }: Mail): string {
  return `Content-Type: multipart/alternative;${CRLF} boundary="=_${id}"`;
}

/** The text part and the HTML part. @param headers the headers of the MIME part that holds both; empty if they are the whole e-mail. */
function textsOf(
  { id, blocks, language, subject, brand = NO_BRAND }: Mail,
  headers: readonly string[],
): string[] {
  const boundary = `=_${id}`;
  const title = oneLine(subject, MAX_SUBJECT_LENGTH);
  return [
    ...headers,
    "",
    ...part(boundary, "plain", textOf(blocks, brand)),
    ...part(boundary, "html", String(htmlOf({ language, title, brand }, blocks))),
    `--${boundary}--`,
  ];
}

function headersOf(mail: Mail, contentType: string): string[] {
  const { id, from, fromName, to, replyTo, subject, origin, submissionId, unsubscribeUrl } = mail;
  return [
    `Message-ID: <${id}@${domainOf(from)}>`,
    `Date: ${headerDate(timeOfId(id))}`,
    `From: ${mailbox(oneLine(fromName, MAX_NAME_LENGTH), from)}`,
    `To: <${to}>`,
    ...(replyTo === null ? [] : [`Reply-To: <${replyTo}>`]),
    `Subject: ${headerText(oneLine(subject, MAX_SUBJECT_LENGTH))}`,
    `Auto-Submitted: ${origin}`,
    "X-Auto-Response-Suppress: All",
    ...(submissionId === null ? [] : [`X-Formsvc-Submission: ${submissionId}`]),
    ...(unsubscribeUrl === null ? [] : unsubscribeHeaders(unsubscribeUrl)),
    "MIME-Version: 1.0",
    contentType,
  ];
}

/** The headers for unsubscribing. The one-click form needs https (RFC 8058, section 3.1). */
function unsubscribeHeaders(url: string): string[] {
  const { href, protocol } = new URL(url);
  if (href.length > MAX_URL_LENGTH) return [];
  const list = `List-Unsubscribe: <${href}>`;
  return protocol === "https:" ? [list, "List-Unsubscribe-Post: List-Unsubscribe=One-Click"] : [list];
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
