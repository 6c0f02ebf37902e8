import { html, type Html } from "../../foundation/html.ts";
import type { Language } from "../../languages/language.ts";
import { wordingIn } from "../../languages/wording.ts";
import { type AutoReplySettings, PLACEHOLDERS } from "../../mail/auto-reply/auto-reply.ts";
import type { ShownAutoReply } from "../../mail/auto-reply/auto-reply-json.ts";
import type { ReplyChange } from "../../mail/auto-reply/check-auto-reply-settings.ts";
import { checkReplyWords } from "../../mail/auto-reply/check-auto-reply.ts";
import { areaField, type Problems, selectField, textField, tryField } from "../kit/field.ts";

/** The form of an automatic reply as it was typed. */
export interface TypedReply {
  /** The name of the field with the visitor's address; empty if none was chosen. */
  readonly field: string;
  /** Empty means the built-in texts. */
  readonly subject: string;
  readonly text: string;
  /** The address that gets answers; empty means nobody. */
  readonly replyTo: string;
}

export function readTyped(form: URLSearchParams): TypedReply {
  return {
    field: form.get("field") ?? "",
    subject: (form.get("subject") ?? "").trim(),
    text: (form.get("text") ?? "").replaceAll("\r\n", "\n"),
    replyTo: form.get("reply_to") ?? "",
  };
}

/** @param fields the fields that could have the visitor's address; the first one is offered */
export function typedFrom({ reply, replyTo }: ShownAutoReply, fields: readonly string[]): TypedReply {
  const { field = fields[0] ?? "", subject, text } = reply?.settings ?? {};
  return { field, subject: subject ?? "", text: text ?? "", replyTo: replyTo ?? "" };
}

export type CheckedReply = Required<ReplyChange>;

/** The settings to change; null, with problems, if a value is invalid. */
export function checkTyped(problems: Map<string, string>, typed: TypedReply): CheckedReply | null {
  const { field, replyTo } = typed;
  const { subject, text } = wordsOf(typed);
  tryField(problems, "subject", () => checkReplyWords({ subject }));
  tryField(problems, "text", () => checkReplyWords({ text }));
  return problems.size > 0 ? null : { field, subject, text, replyTo: replyTo === "" ? null : replyTo };
}

export function wordsOf({ subject, text }: TypedReply): Pick<AutoReplySettings, "subject" | "text"> {
  return { subject: subject === "" ? null : subject, text: text.trim() === "" ? null : text };
}

interface ReplyFields {
  readonly typed: TypedReply;
  readonly problems: Problems;
  /** The fields that could have the visitor's address. */
  readonly fields: readonly string[];
  /** The addresses that could get answers. */
  readonly recipients: readonly string[];
  /** The language of the reply if nothing is typed. */
  readonly language: Language;
}

const PLACEHOLDER_WORDS = `${PLACEHOLDERS.filter((name) => name !== "endpoint")
  .map((name) => `{${name}}`)
  .join(
    ", ",
  )} stand for the form’s name, the reference and the time. Nothing that was filled in can stand here.`;

export function replyFields({ typed, problems, fields, recipients, language }: ReplyFields): Html {
  const wording = wordingIn(language);
  // A chosen field that is gone stays in the list, so that the owner sees that another one has to be chosen.
  const names = fields.includes(typed.field) || typed.field === "" ? fields : [typed.field, ...fields];
  const addresses =
    recipients.includes(typed.replyTo) || typed.replyTo === "" ? recipients : [typed.replyTo, ...recipients];
  return html`${areaField({
    name: "text",
    label: "Text",
    value: typed.text,
    hint: `Leave it empty for: “${wording.text("replyText")}” ${PLACEHOLDER_WORDS}`,
    problems,
  })}
  ${textField({
    name: "subject",
    label: "Subject",
    value: typed.subject,
    hint: `Leave it empty for: “${wording.text("replySubject", { form: "{form}" })}”`,
    problems,
  })}
  ${selectField(
    {
      name: "field",
      label: "Field with the address",
      value: typed.field,
      hint: "Of the form’s fields for an e-mail address, the one that gets the reply.",
      problems,
    },
    names.map((value) => ({ value, label: value })),
  )}
  ${selectField(
    {
      name: "reply_to",
      label: "Who gets the answers",
      value: typed.replyTo,
      hint: "One of the e-mail recipients of this form. Whoever gets the reply sees this address.",
      problems,
    },
    [
      { value: "", label: "The sender of this server’s e-mail" },
      ...addresses.map((value) => ({ value, label: value })),
    ],
  )}`;
}
