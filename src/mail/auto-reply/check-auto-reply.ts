import { FormsvcError } from "../../foundation/errors.ts";
import { plainLines, plainText } from "../../foundation/plain-text.ts";
import { MAX_REPLY_SUBJECT_LENGTH, MAX_REPLY_TEXT_LENGTH, PLACEHOLDERS } from "./auto-reply.ts";

/** A subject and a text as an owner gave them. */
export interface ReplyWords {
  readonly subject?: string | null;
  readonly text?: string | null;
}

/** Checks the words, and returns them as they are stored. @throws usage */
export function checkReplyWords({ subject, text }: ReplyWords): ReplyWords {
  return {
    ...(subject !== undefined && { subject: subject === null ? null : checkSubject(subject) }),
    ...(text !== undefined && { text: text === null ? null : checkText(text) }),
  };
}

function checkSubject(subject: string): string {
  const isOneLine = plainText(subject) === subject;
  if (!isOneLine || subject.trim() === "" || subject.length > MAX_REPLY_SUBJECT_LENGTH)
    throw new FormsvcError(
      "usage",
      `a subject has 1 to ${MAX_REPLY_SUBJECT_LENGTH} characters in one line, without control characters`,
    );
  checkPlaceholders("subject", subject);
  return subject;
}

/** Normalises line breaks, which a file from Windows has in another form, and removes the one at the end. */
function checkText(given: string): string {
  const text = plainLines(given).trim();
  if (text === "" || text.length > MAX_REPLY_TEXT_LENGTH)
    throw new FormsvcError(
      "usage",
      `the text of an automatic reply has 1 to ${MAX_REPLY_TEXT_LENGTH} characters; this one has ${text.length}`,
    );
  checkPlaceholders("text", text);
  return text;
}

function checkPlaceholders(what: "subject" | "text", template: string): void {
  for (const [whole, name = ""] of template.matchAll(PLACEHOLDER)) {
    if (PLACEHOLDERS.some((known) => known === name)) continue;
    const known = PLACEHOLDERS.map((each) => `{${each}}`).join(", ");
    throw new FormsvcError(
      "usage",
      `the ${what} of an automatic reply cannot have ${plainText(whole)}: nothing that was submitted goes into it, because its address may be that of somebody else; it can have ${known}`,
    );
  }
}

/** A placeholder: a name in braces. */
const PLACEHOLDER = /\{([^{}\s]{1,64})\}/g;

/** Replaces the placeholders by their values. */
export function fillPlaceholders(
  template: string,
  values: Readonly<Record<(typeof PLACEHOLDERS)[number], string>>,
): string {
  return template.replace(PLACEHOLDER, (whole, name: string) => {
    const known = PLACEHOLDERS.find((each) => each === name);
    return known === undefined ? whole : values[known];
  });
}
