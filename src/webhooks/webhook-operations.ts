import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import type { Steps } from "../database/steps.ts";
import { endpointReference } from "../endpoints/endpoint-operations.ts";
import { reachEndpoint } from "../endpoints/endpoint-store.ts";
import { toIsoTime } from "../foundation/clock.ts";
import { FormsvcError } from "../foundation/errors.ts";
import type { Access } from "../operations/access.ts";
import { recordOf } from "../operations/json-object.ts";
import { shownOnce } from "../operations/marks.ts";
import { onlyNew, thereByNow } from "../operations/only-new.ts";
import { changed, type Context, operation } from "../operations/operation.ts";
import type { Condition } from "../outbox/queue/conditions.ts";
import { changeOf } from "../recipients/change-recipient.ts";
import { conditionsInput } from "../recipients/condition-json.ts";
import { checkOwnConditions } from "../recipients/check-own-conditions.ts";
import { type Owned, reachRecipient } from "../recipients/reach-recipient.ts";
import { listRecipientsOf } from "../recipients/recipient-type.ts";
import { recipientOperations } from "../recipients/recipient-operations.ts";
import type { Keyring } from "../secrets/keyring.ts";
import { requireAlso } from "../workspaces/reach.ts";
import { checkWebhookSettings } from "./check-webhook-settings.ts";
import { doubtShape, findDoubt } from "./find-doubt.ts";
import { shownAddress, WEBHOOK_FORMATS } from "./formats/format.ts";
import { webhookJson, webhookShape } from "./webhook-json.ts";
import { insertWebhookRows, rotateSecretRows, updateWebhookRows, WEBHOOKS } from "./webhook-store.ts";
import { defaultWebhookSettings, type Webhook, type WebhookSettings } from "./webhook.ts";

interface Parts {
  /** Encrypts secrets, addresses of chats and values of headers. */
  readonly keyring: Keyring;
}

/** How an operation names a webhook. */
export const webhookReference = { webhook: z.string().describe("Id of the webhook.") };

const url = z.string().describe("The address, http or https, to which submissions are sent.");
const allowPrivate = z
  .boolean()
  .describe("Whether the webhook may reach addresses of private networks; only operators may allow it.");
const maxSpamScore = z.number().describe("The highest spam score, 0 to 100, of submissions that are sent.");
const headers = recordOf(z.string(), { type: "string" }).describe(
  "Further HTTP headers to send, by name; they replace all earlier ones.",
);

/** The access that is also needed for a new address. */
const furtherAccess: readonly Access[] = ["recipients:direct"];

/** The operations that webhooks have in common with recipients of every other kind. */
export const webhookOperations = recipientOperations({
  noun: "webhook",
  type: WEBHOOKS,
  reference: webhookReference,
  shape: webhookShape,
  json: webhookJson,
  summaries: {
    list: "List webhooks",
    show: "Show a webhook and the state of its receiver",
    enable: "Send to a webhook again, held deliveries first",
    disable: "Hold a webhook's deliveries until it is enabled again",
    try: "Try now what waits for a webhook after a failure",
    delete: "Delete a webhook with all its deliveries, sent or not",
  },
});

export const createWebhook = operation({
  name: "webhook.create",
  summary: "Make a webhook, whose secret is shown this once",
  kind: "write",
  access: "recipients:direct",
  input: z.strictObject({
    ...endpointReference,
    url,
    format: z
      .enum(WEBHOOK_FORMATS)
      .default("standard")
      .describe("What is sent: `standard` is the event of formsvc; the others are messages for a chat."),
    allow_private: allowPrivate.default(defaultWebhookSettings.allowPrivate),
    max_spam_score: maxSpamScore.default(defaultWebhookSettings.maxSpamScore),
    headers: headers.default({}),
    conditions: conditionsInput.default([]),
    only_new: onlyNew("the endpoint has one with this address, format and conditions"),
  }),
  output: z.strictObject({
    webhook: webhookShape,
    secret: shownOnce(
      z
        .string()
        .nullable()
        .describe("The secret with which messages are signed, shown only now; null for a chat."),
    ),
    ...doubtShape,
  }),
  async run(context: Context<Parts>, input) {
    const { db, config, viewing, parts, now } = context;
    const conditions = await db.read(function* () {
      return yield* checkOwnConditions(yield* reachEndpoint(context, input), input.conditions);
    });
    if (input.allow_private) requireOperator(context, "let a webhook reach private addresses");
    const given = checkWebhookSettings(
      {
        url: input.url,
        format: input.format,
        allowPrivate: input.allow_private,
        maxSpamScore: input.max_spam_score,
        headers: input.headers,
        conditions,
      },
      input.format,
    );
    // Looked up before the secret is made: otherwise a client that gives up while a name server hangs would lose a secret that is shown
    // only once.
    const doubt = await findDoubt(viewing, given, config.webhooks.allowNetworks);
    return context.transact(function* () {
      const endpoint = yield* reachEndpoint(context, input);
      if (input.only_new) yield* requireNew(endpoint.id, given);
      const { webhook, secret } = yield* insertWebhookRows(parts.keyring, endpoint.id, given, now);
      const change = changeOf(WEBHOOKS, webhook, endpoint);
      return changed({ webhook: webhookJson(webhook), secret, ...doubt }, change);
    });
  },
});

/** Checks that no webhook of the endpoint looks the same to who reads the list. @throws already_exists */
function* requireNew(endpointId: string, { url: address, format, conditions }: WebhookSettings): Steps<void> {
  const shown = shownAddress(format, address);
  const others = yield* listRecipientsOf(WEBHOOKS, [endpointId]);
  const isSame = ({ settings }: Webhook): boolean =>
    settings.format === format &&
    settings.url === shown &&
    isDeepStrictEqual(settings.conditions, conditions);
  if (others.some(isSame)) throw thereByNow(`the webhook to ${shown}`);
}

export const setWebhook = operation({
  name: "webhook.set",
  summary: "Change a webhook; what is not named stays, and pending deliveries follow",
  kind: "write",
  access: "recipients:write",
  furtherAccess,
  input: z.strictObject({
    ...webhookReference,
    url: url.optional(),
    allow_private: allowPrivate.optional(),
    max_spam_score: maxSpamScore.optional(),
    headers: headers.optional(),
    conditions: conditionsInput.optional(),
  }),
  output: z.strictObject({ webhook: webhookShape, ...doubtShape }),
  async run(context: Context<Parts>, { webhook: id, ...input }) {
    const { db, config, viewing, parts } = context;
    const { known, conditions } = await db.read(function* () {
      const { recipient, endpoint } = yield* reachRecipient(context, WEBHOOKS, id);
      const given = input.conditions;
      const checked = given && (yield* checkOwnConditions(endpoint, given, recipient.settings.conditions));
      return { known: recipient, conditions: checked };
    });
    const change = checkWebhookSettings(changeIn({ ...input, conditions }), known.settings.format);
    const doubt = await findDoubt(viewing, { ...known.settings, ...change }, config.webhooks.allowNetworks);
    return context.transact(function* () {
      const before = yield* reachRecipient(context, WEBHOOKS, id);
      if (Object.keys(change).length === 0)
        return changed({ webhook: webhookJson(before.recipient), ...doubt });
      yield* checkLead(context, before, change);
      const webhook = yield* updateWebhookRows(parts.keyring, id, change);
      const recorded = changeOf(WEBHOOKS, webhook, before.endpoint);
      return changed({ webhook: webhookJson(webhook), ...doubt }, recorded);
    });
  },
});

type WebhookChange = Partial<Omit<WebhookSettings, "format">>;

function changeIn(input: {
  readonly url?: string | undefined;
  readonly allow_private?: boolean | undefined;
  readonly max_spam_score?: number | undefined;
  readonly headers?: Record<string, string> | undefined;
  readonly conditions?: readonly Condition[] | undefined;
}): WebhookChange {
  return {
    ...(input.url !== undefined && { url: input.url }),
    ...(input.allow_private !== undefined && { allowPrivate: input.allow_private }),
    ...(input.max_spam_score !== undefined && { maxSpamScore: input.max_spam_score }),
    ...(input.headers !== undefined && { headers: input.headers }),
    ...(input.conditions !== undefined && { conditions: input.conditions }),
  };
}

/** Checks whether the actor may change the address or the permission. @throws forbidden */
function* checkLead(
  context: Context,
  { recipient: { settings }, endpoint }: Owned<Webhook>,
  { url: given, allowPrivate: allows = settings.allowPrivate }: WebhookChange,
): Steps<void> {
  if (allows && !settings.allowPrivate) requireOperator(context, "let a webhook reach private addresses");
  // Only the last characters of a chat's address are known, so any given address may be another one.
  const isMoved = given !== undefined && (settings.format !== "standard" || given !== settings.url);
  if (!isMoved) return;
  for (const access of furtherAccess) yield* requireAlso(context, access, endpoint.workspaceId);
  // Otherwise an owner could point a webhook that an operator has permitted at anything in the operator's network.
  if (allows) requireOperator(context, "change the address of a webhook that may reach private addresses");
}

/** @throws forbidden if the actor does not see all workspaces. */
function requireOperator({ viewing }: Context, what: string): void {
  if (!viewing.isOperator) throw new FormsvcError("forbidden", `only an operator may ${what}`);
}

export const rotateSecret = operation({
  name: "webhook.rotate-secret",
  summary: "Give a webhook a new secret, which is shown this once; the old one signs beside it for 24 hours",
  kind: "write",
  access: "recipients:write",
  input: z.strictObject(webhookReference),
  output: z.strictObject({
    webhook: webhookShape,
    secret: shownOnce(z.string()),
    previous_secret_expires_at: z.string(),
  }),
  *run(context: Context<Parts>, { webhook: id }) {
    const { recipient, endpoint } = yield* reachRecipient(context, WEBHOOKS, id);
    const { webhook, secret, oldUntil } = yield* rotateSecretRows(
      context.parts.keyring,
      recipient,
      context.now,
    );
    const output = { webhook: webhookJson(webhook), secret, previous_secret_expires_at: toIsoTime(oldUntil) };
    return changed(output, changeOf(WEBHOOKS, webhook, endpoint));
  },
});
