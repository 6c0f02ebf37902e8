import { createHash } from "node:crypto";
import type { EndpointInWorkspace } from "../../endpoints/viewable-endpoints.ts";
import { html, type Html } from "../../foundation/html.ts";
import { findLanguage } from "../../languages/language.ts";
import { checkRecipientSettings } from "../../mail/recipients/check-recipient-settings.ts";
import {
  defaultMailRecipientSettings,
  type Digest,
  DIGESTS,
  type MailRecipient,
  type MailRecipientSettings,
} from "../../mail/recipients/mail-recipient.ts";
import type { ConditionFields } from "./condition-fields.ts";
import { checkTypedConditions, conditionsField } from "./conditions-field.ts";
import { checkFormChosen, formField } from "../forms/form-choice.ts";
import { languageOptions } from "../kit/language-options.ts";
import { checkField, type Problems, selectField, textField, tryField } from "../kit/field.ts";
import { readSpamScore, spamScoreField } from "./highest-score.ts";
import { readTypedChoice, type TypedChoice } from "./typed-choice.ts";
import { digestLabel } from "./recipient-words.ts";

/** A recipient's form as it was typed. */
export interface TypedRecipient extends TypedChoice {
  readonly address: string;
  readonly digest: Digest;
  /** A language tag; empty means the language of the form. */
  readonly language: string;
  readonly attach: boolean;
  /** Empty means the built-in subject. */
  readonly subject: string;
}

export const EMPTY_RECIPIENT: TypedRecipient = {
  endpointId: "",
  address: "",
  digest: defaultMailRecipientSettings.digest,
  language: "",
  maxSpamScore: String(defaultMailRecipientSettings.maxSpamScore),
  attach: defaultMailRecipientSettings.attach,
  subject: "",
  conditions: [],
};

export function readTyped(form: URLSearchParams): TypedRecipient {
  return {
    ...readTypedChoice(form),
    address: (form.get("address") ?? "").trim(),
    digest: DIGESTS.find((each) => each === form.get("digest")) ?? EMPTY_RECIPIENT.digest,
    language: findLanguage(form.get("language")) ?? "",
    attach: form.get("attach") !== null,
    subject: (form.get("subject") ?? "").trim(),
  };
}

export function typedFrom({ endpointId, settings }: MailRecipient): TypedRecipient {
  const { address, digest, language, attach, maxSpamScore, subject, conditions } = settings;
  return {
    endpointId,
    address,
    digest,
    language: language ?? "",
    attach,
    maxSpamScore: String(maxSpamScore),
    subject: subject ?? "",
    conditions,
  };
}

type Change = Omit<MailRecipientSettings, "address">;

/** The fields of the recipient's form, by name; null if no form is chosen yet. */
export type FormFields = ConditionFields | null;

/** The settings to change; null, with problems, if a value is invalid. @param known the conditions of the existing recipient */
export function checkChange(
  problems: Map<string, string>,
  typed: TypedRecipient,
  fields: FormFields,
  known: Change["conditions"] = [],
): Change | null {
  const maxSpamScore = readSpamScore(problems, typed.maxSpamScore);
  const wanted = typed.subject === "" ? null : typed.subject;
  tryField(problems, "subject", () => checkRecipientSettings({ subject: wanted }));
  const language = findLanguage(typed.language);
  const conditions = checkTypedConditions(problems, typed.conditions, fields, known);
  if (problems.size > 0) return null;
  const { digest, attach } = typed;
  return { subject: wanted, digest, language, attach, maxSpamScore, conditions };
}

/** The settings of a new recipient; null, with problems, if a value is invalid. */
export function checkTyped(
  problems: Map<string, string>,
  typed: TypedRecipient,
  fields: FormFields,
): MailRecipientSettings | null {
  checkFormChosen(problems, typed.endpointId);
  const checked = tryField(problems, "address", () => checkRecipientSettings({ address: typed.address }));
  const change = checkChange(problems, typed, fields);
  return checked === null || change === null ? null : { ...checked, ...change };
}

/** Identifies the settings that the form replaces, so that two people do not overwrite each other's changes. */
export function fingerprintOf({ settings }: MailRecipient): string {
  return createHash("sha256").update(JSON.stringify(settings)).digest("base64url").slice(0, 22);
}

interface RecipientFields {
  readonly typed: TypedRecipient;
  readonly problems: Problems;
  /** The endpoints to choose from; null for an existing recipient, whose endpoint and address cannot change. */
  readonly endpoints: readonly EndpointInWorkspace[] | null;
  readonly fields: FormFields;
}

export function recipientFields({ typed, problems, endpoints, fields }: RecipientFields): Html {
  return html`${endpoints !== null && newFields(typed, problems, endpoints)}
    ${selectField(
      {
        name: "digest",
        label: "How often",
        value: typed.digest,
        hint: "If many come within minutes, even “for each” sends some of them together.",
        problems,
      },
      DIGESTS.map((each) => ({ value: each, label: digestLabel(each) })),
    )}
    ${spamScoreField(typed.maxSpamScore, problems)}
    ${selectField(
      { name: "language", label: "Language", value: typed.language, problems },
      languageOptions("That of the form"),
    )}
    ${textField({
      name: "subject",
      label: "Subject",
      value: typed.subject,
      hint: "Leave it empty for the usual one. {form} stands for the form’s name, and {name} for what was filled into the field “name”.",
      problems,
    })}
    ${checkField({
      name: "attach",
      label: "Attach files",
      value: typed.attach ? "on" : "",
      hint: "Of one submission, under 5 MB in all. What does not fit, and the files of summaries, stay behind the link.",
      problems,
    })}
    ${conditionsField({ typed: typed.conditions, problems, fields })}`;
}

function newFields(
  typed: TypedRecipient,
  problems: Problems,
  endpoints: readonly EndpointInWorkspace[],
): Html {
  return html`${formField(typed.endpointId, problems, endpoints)}
  ${textField({
    name: "address",
    label: "E-mail address",
    value: typed.address,
    type: "email",
    autocomplete: "off",
    isRequired: true,
    hint: "Its holder is asked by e-mail first, and gets nothing else before agreeing.",
    problems,
  })}`;
}
