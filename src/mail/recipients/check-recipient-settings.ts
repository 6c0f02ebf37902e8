import { FormsvcError } from "../../foundation/errors.ts";
import { parseMailAddress } from "../../foundation/mail-address.ts";
import { plainText } from "../../foundation/plain-text.ts";
import { MAX_SPAM_SCORE } from "../../outbox/queue/recipient.ts";
import { MAX_SUBJECT_TEMPLATE_LENGTH, type MailRecipientSettings } from "./mail-recipient.ts";

/** Checks the settings, and returns them as they are stored: with the address in normal form. @throws usage */
export function checkRecipientSettings<T extends Partial<MailRecipientSettings>>(settings: T): T {
  const { address, subject = null, maxSpamScore = 0 } = settings;
  if (!Number.isInteger(maxSpamScore) || maxSpamScore < 0 || maxSpamScore > MAX_SPAM_SCORE) {
    throw new FormsvcError(
      "usage",
      `a recipient's highest spam score is a whole number from 0 to ${MAX_SPAM_SCORE}`,
    );
  }
  if (subject !== null) checkSubject(subject);
  return { ...settings, ...(address !== undefined && { address: normalizeAddress(address) }) };
}

function checkSubject(subject: string): void {
  const isOneLine = plainText(subject) === subject;
  if (isOneLine && subject.trim() !== "" && subject.length <= MAX_SUBJECT_TEMPLATE_LENGTH) return;
  throw new FormsvcError(
    "usage",
    `a subject has 1 to ${MAX_SUBJECT_TEMPLATE_LENGTH} characters in one line, without control characters`,
  );
}

function normalizeAddress(text: string): string {
  const address = parseMailAddress(text);
  if (address !== null) return address;
  throw new FormsvcError(
    "usage",
    `"${plainText(text)}" is not an address that every mail server takes: expected one like ada@example.com, without a name or quotes`,
  );
}
