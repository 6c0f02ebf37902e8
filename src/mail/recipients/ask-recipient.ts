import { z } from "zod";
import type { Steps } from "../../database/steps.ts";
import type { Endpoint } from "../../endpoints/endpoint.ts";
import { reachEndpoint } from "../../endpoints/endpoint-store.ts";
import { FormsvcError } from "../../foundation/errors.ts";
import type { Actor } from "../../operations/actor.ts";
import { changed, type Context, operation, type OwnChange } from "../../operations/operation.ts";
import { changeOf } from "../../recipients/change-recipient.ts";
import { checkOwnConditions } from "../../recipients/check-own-conditions.ts";
import { askerOf } from "../../recipients/limited-account.ts";
import { reachRecipient } from "../../recipients/reach-recipient.ts";
import { isOwnProvedAddress } from "../../workspaces/proved-email.ts";
import { askHolder } from "./ask-holder.ts";
import { mailMissing } from "../health/mail-missing.ts";
import type { MailRecipient } from "./mail-recipient.ts";
import { mailRecipientJson, mailRecipientShape } from "./mail-recipient-json.ts";
import { insertMailRecipientRows, MAIL_RECIPIENTS } from "./mail-recipient-store.ts";
import { requireAgreed } from "./mail-recipient-state.ts";
import { namedOrNull, newRecipientInput, recipientReference } from "./recipient-operations.ts";
import type { StoredLetters } from "../letters/stored-letters.ts";

interface Parts {
  /** Sends the question; null if no mail server is configured. */
  readonly storedLetters: Pick<StoredLetters, "wake"> | null;
}

const asked = z
  .boolean()
  .nullable()
  .describe(
    "Whether an e-mail asks the holder of the address to agree: false if too many such e-mails went out in this hour, null if nobody needs to be asked.",
  );

/** On the machine, an address counts as agreed. Otherwise its holder is asked, unless it is the account's own address. */
export const createRecipient = operation({
  name: "recipient.create",
  summary: "Send an endpoint's submissions to an address, from when its holder agrees",
  kind: "write",
  access: "recipients:direct",
  input: newRecipientInput,
  output: z.strictObject({ recipient: mailRecipientShape, asked }),
  async run(
    context: Context<Parts>,
    {
      address,
      digest,
      language: tag,
      attach,
      max_spam_score: maxSpamScore,
      subject,
      conditions: wanted,
      ...reference
    },
  ) {
    const { actor, config, now, parts } = context;
    if (actor.kind !== "terminal") requireMail(config);
    const created = await context.transact(function* () {
      const endpoint = yield* reachEndpoint(context, reference);
      const isAgreed = yield* needsNoQuestion(context, address);
      const conditions = yield* checkOwnConditions(endpoint, wanted);
      const language = namedOrNull(tag);
      const given = { address, digest, language, attach, maxSpamScore, subject, conditions };
      const made = yield* insertMailRecipientRows(endpoint.id, given, isAgreed ? now : null, now);
      const recipient = mailRecipientJson(made);
      const { isAsked, changes } = isAgreed ? NO_QUESTION : yield* ask(context, made, endpoint);
      return changed({ recipient, asked: isAsked }, changeOf(MAIL_RECIPIENTS, made, endpoint), ...changes);
    });
    if (actor.kind !== "terminal") parts.storedLetters?.wake();
    return created;
  },
});

/** @throws unavailable if no recipient can be asked, because e-mail or the server's own address is not configured. */
function requireMail(config: Context["config"]): void {
  const missing = mailMissing(config, { isOperator: false });
  if (missing !== null) throw new FormsvcError("unavailable", missing);
}

function* needsNoQuestion({ actor }: Context, address: string): Steps<boolean> {
  if (actor.kind === "terminal") return true;
  const accountId = accountIdOf(actor);
  return accountId !== null && (yield* isOwnProvedAddress(accountId, address));
}

function accountIdOf(actor: Actor): string | null {
  if (actor.kind === "account") return actor.accountId;
  return actor.kind === "token" ? (actor.account?.accountId ?? null) : null;
}

export const askRecipient = operation({
  name: "recipient.ask",
  summary: "Ask the holder of a recipient's address once more whether they want e-mail",
  kind: "write",
  access: "recipients:write",
  input: z.strictObject(recipientReference),
  output: z.strictObject({ recipient: mailRecipientShape, asked }),
  async run(context: Context<Parts>, { recipient: id }) {
    const done = await context.transact(function* () {
      const { recipient, endpoint } = yield* reachRecipient(context, MAIL_RECIPIENTS, id);
      requireMail(context.config);
      if (recipient.unsubscribedAt !== null) requireAgreed(recipient);
      if (recipient.confirmedAt !== null)
        throw new FormsvcError("conflict", `the holder of ${recipient.settings.address} agreed already`);
      const { isAsked, changes } = yield* ask(context, recipient, endpoint);
      return changed({ recipient: mailRecipientJson(recipient), asked: isAsked }, ...changes);
    });
    context.parts.storedLetters?.wake();
    return done;
  },
});

interface Question {
  /** Whether a letter goes to the holder: false if a limit is reached or no link can be made, null if there is nothing to ask. */
  readonly isAsked: boolean | null;
  readonly changes: readonly OwnChange[];
}

const NO_QUESTION: Question = { isAsked: null, changes: [] };

function* ask(
  { actor, config, now }: Context,
  recipient: MailRecipient,
  endpoint: Endpoint,
): Steps<Question> {
  const { baseUrl } = config.server;
  if (baseUrl === null) return { isAsked: false, changes: [] };
  const asker = askerOf(actor);
  const perHour = config.mail.limits.confirmationsPerHour;
  const language = recipient.settings.language ?? endpoint.settings.language ?? "en";
  const question = { recipient, endpointName: endpoint.name, language, asker, baseUrl, perHour };
  const outcome = yield* askHolder(question, now);
  const change = { ...changeOf(MAIL_RECIPIENTS, recipient, endpoint), action: "recipient.ask" } as const;
  return { isAsked: outcome !== "refused", changes: outcome === "written" ? [change] : [] };
}
