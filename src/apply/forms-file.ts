import { z } from "zod";
import { settingsInput } from "../endpoints/endpoint-json.ts";
import { setReply } from "../mail/auto-reply/auto-reply-operations.ts";
import { setRecipient } from "../mail/recipients/recipient-operations.ts";
import { jsonObject, recordOf } from "../operations/json-object.ts";
import { spamChoicesShape } from "../spam/spam-settings.ts";
import { WEBHOOK_FORMATS } from "../webhooks/formats/format.ts";
import { workspaceSettingsInput } from "../workspaces/workspace-json.ts";
import { setWebhook } from "../webhooks/webhook-operations.ts";

/**
 * The file that describes workspaces and their endpoints. A member that is left out is not changed. The settings have the same names as in
 * the operations.
 */

const VARIABLE = "expected the name of an environment variable, like SLACK_URL";

/** The name of the environment variable that has a secret, which is not in the file. */
const variable = z.string(VARIABLE).regex(/^[A-Za-z_][A-Za-z0-9_]{0,127}$/, VARIABLE);
const secret = z.union([z.string(), z.strictObject({ env: variable })], 'expected a text or {"env": "NAME"}');

/** The address of a chat is a secret. `shown` is the part that is shown; with it, the variable is needed only to make the webhook. */
const address = z.union(
  [z.string(), z.strictObject({ env: variable, shown: z.string().optional() })],
  'expected an address or {"env": "NAME"}',
);

const { webhook: _webhook, url: _url, headers: _headers, ...webhookSettings } = setWebhook.input.shape;
const webhook = z.strictObject({
  url: address,
  format: z.enum(WEBHOOK_FORMATS).default("standard"),
  ...webhookSettings,
  headers: recordOf(secret, { type: "string" }).optional(),
  enabled: z.boolean().optional(),
});

const { recipient: _recipient, ...recipientSettings } = setRecipient.input.shape;
const recipient = z.strictObject({
  address: z.string(),
  ...recipientSettings,
  enabled: z.boolean().optional(),
});

const { endpoint: _endpoint, workspace: _workspace, ...replySettings } = setReply.input.shape;
const autoreply = z.strictObject(replySettings);

const endpoint = z.strictObject({
  name: z.string(),
  was: z.string().optional(),
  schema: jsonObject,
  ...settingsInput.shape,
  state: z.enum(["active", "paused"]).optional(),
  spam: spamChoicesShape.optional(),
  webhooks: z.array(webhook).optional(),
  recipients: z.array(recipient).optional(),
  autoreply: autoreply.nullable().optional(),
});

const workspace = z.strictObject({
  name: z.string(),
  plan: z.string().optional(),
  ...workspaceSettingsInput.shape,
  spam: spamChoicesShape.optional(),
  endpoints: z.array(endpoint).default([]),
});

export const formsFileShape = z.strictObject({
  version: z.literal(1, "expected 1, the only version there is"),
  workspaces: z.array(workspace),
});

export type FormsFile = z.output<typeof formsFileShape>;
export type FileWorkspace = FormsFile["workspaces"][number];
export type FileEndpoint = FileWorkspace["endpoints"][number];
export type FileWebhook = NonNullable<FileEndpoint["webhooks"]>[number];
export type FileRecipient = NonNullable<FileEndpoint["recipients"]>[number];
export type FileReply = NonNullable<FileEndpoint["autoreply"]>;

/** The names of an endpoint's settings in the file and the operations. */
export const SETTINGS = Object.keys(settingsInput.shape) as (keyof typeof settingsInput.shape)[];
/** The names of a recipient's settings that may change. Its address never does. */
export const RECIPIENT_SETTINGS = Object.keys(recipientSettings);
/** The names of a webhook's settings that may change, without its headers, which are compared by their names. */
export const WEBHOOK_SETTINGS = Object.keys(webhookSettings);
export const REPLY_SETTINGS = Object.keys(replySettings);
