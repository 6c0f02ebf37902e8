import type { Command } from "commander";
import { webhookJson } from "../webhooks/webhook-json.ts";
import { openKeyring } from "../app/features.ts";
import type { Config } from "../config/config.ts";
import { getEndpoint } from "../endpoints/endpoint-store.ts";
import { toIsoTime } from "../foundation/clock.ts";
import { addWebhook, changeWebhook, removeWebhook, renewSecret } from "../webhooks/change-webhook.ts";
import { parseCustomHeaders } from "../webhooks/custom-headers.ts";
import { WEBHOOK_FORMATS } from "../webhooks/formats/format.ts";
import { findReceiverRefusal } from "../webhooks/find-receiver-refusal.ts";
import { switchWebhook } from "../webhooks/switch-webhook.ts";
import { defaultWebhookSettings, type Webhook, type WebhookSettings } from "../webhooks/webhook.ts";
import { webhookChannel } from "../webhooks/webhook-deliveries.ts";
import { getWebhook, listWebhooks } from "../webhooks/webhook-store.ts";
import { confirm, parseScore, readLines } from "./arguments.ts";
import { addNoun, command, type CommandContext, refuse } from "./command.ts";
import { getChannelDelivery, listChannelDeliveries } from "../outbox/queue/channel-deliveries.ts";
import { leadOf, listAttempts } from "../outbox/queue/delivery-store.ts";
import { deliveryCommands } from "./delivery-commands.ts";
import { labelEndpoints } from "./endpoint-label.ts";
import type { OptionValues } from "./option-values.ts";
import { withDatabase } from "./open.ts";
import { writeError } from "./output.ts";
import { endpointIdOf } from "./submission-filter.ts";
import { listen, testWebhook, verify } from "./webhook-receiver-commands.ts";

export function register(program: Command): void {
  const verbs = [create, list, show, set, enable, disable, remove, rotate];
  verbs.push(testWebhook, ...deliveryVerbs, verify, listen);
  addNoun(program, "webhook", "Receivers that get each submission", verbs);
}

const deliveryVerbs = deliveryCommands(webhookChannel, {
  noun: "webhook",
  recipient: "webhook",
  messageId: "webhook-id",
  noteOf: () => null,
  list: (filter) => listChannelDeliveries(webhookChannel, filter),
  *get(id) {
    const delivery = yield* getChannelDelivery(webhookChannel, id);
    return { delivery, attempts: yield* listAttempts(leadOf(delivery)) };
  },
  *checkReplay() {
    yield* [];
  },
});

const settingOptions = [
  {
    flags: "--header <line>",
    summary: "a header of your own, as 'Name: value'; repeatable; for no secret: other users see it in ps",
    repeatable: true,
  },
  {
    flags: "--header-file <file>",
    summary: "headers of your own, one a line, which nobody sees in ps; - reads standard input",
  },
  {
    flags: "--max-spam-score <score>",
    summary: "send nothing with a higher spam score, 0 to 100",
    parse: parseScore,
  },
] as const;

const create = command({
  usage: "create",
  summary: "Make a webhook and print its secret, once",
  options: [
    { flags: "--endpoint <endpoint>", summary: "whose submissions it is told of", required: true },
    { flags: "--url <url>", summary: "address that they are sent to: http or https", required: true },
    {
      flags: "--allow-private",
      summary: "allow addresses of this machine and of private networks, like an n8n beside formsvc",
    },
    {
      flags: "--format <format>",
      summary: "what is sent: our own event, or a message for a chat (default: standard)",
      choices: WEBHOOK_FORMATS,
    },
    ...settingOptions,
  ],
  examples: [
    "formsvc webhook create --endpoint Contact --url https://example.com/hooks/forms",
    "formsvc webhook create --endpoint Contact --url http://localhost:5678/webhook/leads --allow-private",
    "formsvc webhook create --endpoint Contact --url https://example.com/ --header-file - < headers.txt",
    "formsvc webhook create --endpoint Contact --format slack --url https://hooks.slack.com/services/T000/B000/XXXX",
  ],
  action: (context, options) =>
    withDatabase(context, async (db, config) => {
      const endpoint = await db.read(() => getEndpoint(options.endpoint));
      const { url, allowPrivate, format } = options;
      const settings = {
        ...defaultWebhookSettings,
        ...readSettings(options),
        url,
        allowPrivate,
        format: format ?? "standard",
      };
      const keyring = await db.read(() => openKeyring(config));
      const { webhook, secret } = await db.transaction(() =>
        addWebhook(keyring, { endpointId: endpoint.id, settings, actor: null }, context.clock.now()),
      );
      const refused = await describeRefusal(webhook, config);
      if (secret !== null)
        context.output.mustBeTaken(`the webhook ${webhook.id} is there and its secret is unknown: rotate it`);
      if (context.output.isJson) context.output.json({ webhook: webhookJson(webhook), secret, refused });
      else {
        context.output.line(`id      ${webhook.id}`);
        if (secret !== null) {
          context.output.line(`secret  ${secret}`);
          context.output.note("the secret is shown this once; the receiver verifies with it");
        } else context.output.note(`try it with: formsvc webhook test ${webhook.id}`);
      }
      if (refused !== null) writeError(refused);
    }),
});

const list = command({
  usage: "list",
  summary: "List webhooks",
  options: [{ flags: "--endpoint <endpoint>", summary: "only this endpoint's" }],
  action: (context, options) =>
    withDatabase(context, async (db) => {
      const webhooks = await db.read(function* () {
        return yield* listWebhooks(yield* endpointIdOf(options.endpoint));
      });
      if (context.output.isJson) return context.output.json({ data: webhooks.map(webhookJson) });
      const label = await labelEndpoints(
        db,
        webhooks.map(({ endpointId }) => endpointId),
      );
      const rows = webhooks.map((webhook) => [
        webhook.id,
        label(webhook.endpointId),
        describeState(webhook),
        webhook.settings.url,
      ]);
      const empty = "no webhooks yet; make one with: formsvc webhook create";
      return context.output.table(["ID", "ENDPOINT", "STATE", "URL"], rows, empty);
    }),
});

const show = command({
  usage: "show <webhook>",
  summary: "Show a webhook and the state of its receiver",
  action: (context, _options, [id]) =>
    withDatabase(context, async (db, config) =>
      printWebhook(context, await db.read(() => getWebhook(id)), config),
    ),
});

const set = command({
  usage: "set <webhook>",
  summary: "Change a webhook; pending deliveries follow",
  options: [
    { flags: "--url <url>", summary: "address that submissions are sent to" },
    { flags: "--allow-private", summary: "allow addresses of this machine and of private networks" },
    { flags: "--no-allow-private", summary: "refuse them" },
    ...settingOptions,
    { flags: "--clear-headers", summary: "send no headers of your own" },
  ],
  examples: ["formsvc webhook set wh_01h455vb4pex5vsknk084sn02q --url https://example.com/new"],
  action: (context, options, [id]) =>
    withDatabase(context, async (db, config) => {
      const { url, allowPrivate, clearHeaders } = options;
      const change = {
        ...readSettings(options),
        ...(url !== null && { url }),
        ...(allowPrivate !== null && { allowPrivate }),
        ...(clearHeaders && { headers: {} }),
      };
      if (Object.keys(change).length === 0) return refuse("give something to change, like --url");
      const keyring = await db.read(() => openKeyring(config));
      const webhook = await db.transaction(() =>
        changeWebhook(keyring, { id, change, actor: null }, context.clock.now()),
      );
      const refused = await describeRefusal(webhook, config);
      printWebhook(context, webhook, config, refused);
      if (refused !== null) writeError(refused);
      return undefined;
    }),
});

const enable = command({
  usage: "enable <webhook>",
  summary: "Send to a webhook again, held deliveries first",
  action: (context, _options, [id]) => switchTo(context, id, true),
});

const disable = command({
  usage: "disable <webhook>",
  summary: "Hold a webhook's deliveries until it is enabled again",
  action: (context, _options, [id]) => switchTo(context, id, false),
});

const remove = command({
  usage: "delete <webhook>",
  summary: "Delete a webhook with all its deliveries, sent or not",
  options: [{ flags: "--yes", summary: "do it without being asked" }],
  action: (context, options, [id]) =>
    withDatabase(context, async (db) => {
      const { settings } = await db.read(() => getWebhook(id));
      await confirm(`Delete the webhook to ${settings.url} with all its deliveries?`, options.yes);
      await removeWebhook(db, id, null, context.clock.now());
      if (context.output.isJson) return context.output.json({ deleted: [id] });
      return context.output.note(`deleted: ${id}`);
    }),
});

const rotate = command({
  usage: "rotate-secret <webhook>",
  summary: "Make a new secret and print it, once; the old one signs beside it for 24 hours",
  action: (context, _options, [id]) =>
    withDatabase(context, async (db, config) => {
      const keyring = await db.read(() => openKeyring(config));
      const rotated = await db.transaction(() => renewSecret(keyring, id, null, context.clock.now()));
      const oldUntil = toIsoTime(rotated.oldUntil);
      const { secret } = rotated;
      context.output.mustBeTaken("the new secret signs already and is unknown: rotate it again");
      if (context.output.isJson) {
        const webhook = webhookJson(rotated.webhook);
        return context.output.json({ webhook, secret, previous_secret_expires_at: oldUntil });
      }
      context.output.line(secret);
      return context.output.note(`messages verify with the old secret too until ${oldUntil}`);
    }),
});

/** The settings that were given. @throws usage */
function readSettings(options: OptionValues<typeof settingOptions>): Partial<WebhookSettings> {
  const { header, headerFile, maxSpamScore } = options;
  const lines = [...(header ?? []), ...(headerFile === null ? [] : readLines(headerFile))];
  return {
    ...((header !== null || headerFile !== null) && { headers: parseCustomHeaders(lines) }),
    ...(maxSpamScore !== null && { maxSpamScore }),
  };
}

function switchTo(context: CommandContext, id: string, enabled: boolean): Promise<void> {
  return withDatabase(context, async (db, config) =>
    printWebhook(context, await switchWebhook(db, { id, enabled, actor: null }, context.clock), config),
  );
}

/** A warning if the guard would refuse the address, with how to allow it, before the first delivery; null if not. */
async function describeRefusal({ id, settings }: Webhook, { webhooks }: Config): Promise<string | null> {
  const refusal = await findReceiverRefusal(settings, webhooks.allowNetworks);
  if (refusal === null) return null;
  const { host, reason, remedy } = refusal;
  const advice =
    remedy === "allow_private"
      ? `allow it with: formsvc webhook set ${id} --allow-private; or list the network or ${host} in webhooks.allowNetworks`
      : "allow it by listing its exact address in webhooks.allowNetworks";
  return `nothing will be sent there: ${reason}; ${advice}`;
}

/** @param refused the guard's refusal, if it was asked for. */
function printWebhook(
  context: CommandContext,
  webhook: Webhook,
  { webhooks: { allowNetworks } }: Config,
  refused?: string | null,
): void {
  if (context.output.isJson) return context.output.json({ webhook: webhookJson(webhook), refused });
  const { settings, breaker } = webhook;
  const rows = [
    ["id", webhook.id],
    ["endpoint", webhook.endpointId],
    ["format", settings.format],
    ["url", settings.url],
    ["state", describeState(webhook)],
    ["private addresses", describePrivate(settings.allowPrivate, allowNetworks)],
    ["highest spam score", String(settings.maxSpamScore)],
    ["own headers", [...webhook.headers.keys()].join(", ")],
    ["failing since", webhook.failingSince === null ? "" : toIsoTime(webhook.failingSince)],
    ["next probe", breaker.state === "open" ? toIsoTime(breaker.notBeforeMs) : ""],
    ["created", toIsoTime(webhook.createdAt)],
  ];
  return context.output.table(["WEBHOOK", ""], rows, "");
}

function describePrivate(isAllowed: boolean, allowNetworks: readonly string[]): string {
  if (isAllowed) return "allowed";
  return allowNetworks.length === 0 ? "refused" : "refused, but for what webhooks.allowNetworks lists";
}

function describeState({ state, breaker, failingSince }: Webhook): string {
  if (state === "stopped") return "stopped: the receiver answered 410 twice";
  if (state !== "enabled" || failingSince === null) return state;
  const since = `enabled, failing since ${toIsoTime(failingSince)}`;
  return breaker.state === "open" ? `${since}: probes only` : since;
}
