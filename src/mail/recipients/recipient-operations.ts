import { z } from "zod";
import { endpointReference } from "../../endpoints/endpoint-operations.ts";
import { namedLanguage } from "../../endpoints/endpoint.ts";
import type { Language } from "../../languages/language.ts";
import { changed, operation } from "../../operations/operation.ts";
import type { Condition } from "../../outbox/queue/conditions.ts";
import { changeOf } from "../../recipients/change-recipient.ts";
import { conditionsInput } from "../../recipients/condition-json.ts";
import { checkOwnConditions } from "../../recipients/check-own-conditions.ts";
import { reachRecipient } from "../../recipients/reach-recipient.ts";
import { recipientOperations } from "../../recipients/recipient-operations.ts";
import { DIGESTS, defaultMailRecipientSettings, type MailRecipientSettings } from "./mail-recipient.ts";
import { mailRecipientJson, mailRecipientShape } from "./mail-recipient-json.ts";
import { MAIL_RECIPIENTS, updateMailRecipientRows } from "./mail-recipient-store.ts";

/** How an operation names a recipient of e-mail. */
export const recipientReference = { recipient: z.string().describe("Id of the recipient.") };

const settings = {
  digest: z
    .enum(DIGESTS)
    .describe("How often e-mails are sent: for each submission, or a summary every hour or every day."),
  max_spam_score: z.number().describe("The highest spam score, 0 to 100, of submissions that are sent."),
  language: z
    .string()
    .nullable()
    .describe("The language of its e-mails, a tag like de; null is the language of the endpoint."),
  attach: z
    .boolean()
    .describe(
      "Whether the files of a submission, under 5 MB in all, are attached to an e-mail about it alone.",
    ),
  subject: z
    .string()
    .nullable()
    .describe(
      "The template of the subject, which may contain {form} and {name of a field}; null is the built-in one.",
    ),
  conditions: conditionsInput,
};
const { attach, digest, language, maxSpamScore, subject } = defaultMailRecipientSettings;

export const newRecipientInput = z.strictObject({
  ...endpointReference,
  address: z.string().describe("One address without a name, like ada@example.com. It never changes."),
  digest: settings.digest.default(digest),
  language: settings.language.default(language),
  attach: settings.attach.default(attach),
  max_spam_score: settings.max_spam_score.default(maxSpamScore),
  subject: settings.subject.default(subject),
  conditions: settings.conditions.default([]),
});

/** The operations that recipients of e-mail have in common with recipients of every other kind. */
export const mailRecipientOperations = recipientOperations({
  noun: "recipient",
  type: MAIL_RECIPIENTS,
  reference: recipientReference,
  shape: mailRecipientShape,
  json: mailRecipientJson,
  summaries: {
    list: "List recipients of e-mail",
    show: "Show a recipient and whether its e-mail arrives",
    enable: "Send to a recipient again, held messages first",
    disable: "Hold a recipient's messages until it is enabled again",
    try: "Try now what waits for a recipient after a failure",
    delete: "Delete a recipient with all its messages, sent or not",
  },
});

export const setRecipient = operation({
  name: "recipient.set",
  summary: "Change a recipient; what is not named stays, and messages that wait follow",
  kind: "write",
  access: "recipients:write",
  input: z.strictObject({
    ...recipientReference,
    digest: settings.digest.optional(),
    language: settings.language.optional(),
    attach: settings.attach.optional(),
    max_spam_score: settings.max_spam_score.optional(),
    subject: settings.subject.optional(),
    conditions: settings.conditions.optional(),
  }),
  output: z.strictObject({ recipient: mailRecipientShape }),
  *run(context, { recipient: id, ...input }) {
    const { recipient: before, endpoint } = yield* reachRecipient(context, MAIL_RECIPIENTS, id);
    const known = before.settings.conditions;
    const conditions = input.conditions && (yield* checkOwnConditions(endpoint, input.conditions, known));
    const change = changeIn({ ...input, conditions });
    if (Object.keys(change).length === 0) return changed({ recipient: mailRecipientJson(before) });
    const recipient = yield* updateMailRecipientRows(before, change, context.now);
    return changed(
      { recipient: mailRecipientJson(recipient) },
      changeOf(MAIL_RECIPIENTS, recipient, endpoint),
    );
  },
});

function changeIn(input: {
  readonly digest?: MailRecipientSettings["digest"] | undefined;
  readonly language?: string | null | undefined;
  readonly attach?: boolean | undefined;
  readonly max_spam_score?: number | undefined;
  readonly subject?: string | null | undefined;
  readonly conditions?: readonly Condition[] | undefined;
}): Partial<Omit<MailRecipientSettings, "address">> {
  return {
    ...(input.digest !== undefined && { digest: input.digest }),
    ...(input.language !== undefined && { language: namedOrNull(input.language) }),
    ...(input.attach !== undefined && { attach: input.attach }),
    ...(input.max_spam_score !== undefined && { maxSpamScore: input.max_spam_score }),
    ...(input.subject !== undefined && { subject: input.subject }),
    ...(input.conditions !== undefined && { conditions: input.conditions }),
  };
}

/** @throws usage */
export function namedOrNull(tag: string | null): Language | null {
  return tag === null ? null : namedLanguage(tag);
}
