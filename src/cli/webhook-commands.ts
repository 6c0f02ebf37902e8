import type { Command } from "commander";
import type { z } from "zod";
import { type CustomHeaders, parseCustomHeaders } from "../webhooks/custom-headers.ts";
import { type Condition, conditionText } from "../outbox/queue/conditions.ts";
import { WEBHOOK_FORMATS } from "../webhooks/formats/format.ts";
import {
  createWebhook,
  deleteWebhook,
  disableWebhook,
  enableWebhook,
  listAllWebhooks,
  rotateSecret,
  setWebhook,
  showWebhook,
} from "../webhooks/webhook-operations.ts";
import { confirm, parseScore, readLines } from "./arguments.ts";
import { addNoun, command, type CommandContext, refuse } from "./command.ts";
import { deliveryCommands } from "./delivery-commands.ts";
import { labelEndpoints } from "./endpoint-label.ts";
import { operate } from "./operate.ts";
import type { OptionValues } from "./option-values.ts";
import { readWhen, whenOption } from "./when-option.ts";
import { writeError } from "./output.ts";
import { listen, testWebhook, verify } from "./webhook-receiver-commands.ts";
import type { Here } from "./terminal.ts";
import { withKeyring } from "./with-keyring.ts";

export function register(program: Command): void {
  const verbs = [create, list, show, set, enable, disable, remove, rotate];
  verbs.push(testWebhook, ...deliveryCommands("webhook"), verify, listen);
  addNoun(program, "webhook", "Receivers that get each submission", verbs);
}

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
  whenOption,
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
    "formsvc webhook create --endpoint Contact --url https://example.com/sales --when topic=sales --when 'budget>1000'",
    "formsvc webhook create --endpoint Contact --format slack --url https://hooks.slack.com/services/T000/B000/XXXX",
  ],
  action: (context, options) =>
    operate(context, async ({ perform }) => {
      const { endpoint, url, allowPrivate, format } = options;
      const input = {
        endpoint,
        url,
        allow_private: allowPrivate,
        ...(format !== null && { format }),
        ...readSettings(options),
      };
      printCreated(context, await perform(createWebhook, input, withKeyring));
    }),
});

function printCreated({ output }: CommandContext, created: z.output<(typeof createWebhook)["output"]>): void {
  const { webhook, secret } = created;
  if (secret !== null)
    output.mustBeTaken(`the webhook ${webhook.id} is there and its secret is unknown: rotate it`);
  if (output.isJson) output.json(created);
  else {
    output.line(`id      ${webhook.id}`);
    if (secret !== null) {
      output.line(`secret  ${secret}`);
      output.note("the secret is shown this once; the receiver verifies with it");
    } else output.note(`try it with: formsvc webhook test ${webhook.id}`);
  }
  warn(created);
}

const list = command({
  usage: "list",
  summary: "List webhooks",
  options: [{ flags: "--endpoint <endpoint>", summary: "only this endpoint's" }],
  action: (context, { endpoint }) =>
    operate(context, async ({ perform }) => {
      const listed = await perform(listAllWebhooks, { endpoint });
      if (context.output.isJson) return context.output.json(listed);
      const { data } = listed;
      const label = await labelEndpoints(perform);
      const rows = data.map((webhook) => [
        webhook.id,
        label(webhook.endpoint_id),
        describeState(webhook),
        webhook.url,
      ]);
      const empty = "no webhooks yet; make one with: formsvc webhook create";
      return context.output.table(["ID", "ENDPOINT", "STATE", "URL"], rows, empty);
    }),
});

const show = command({
  usage: "show <webhook>",
  summary: "Show a webhook and the state of its receiver",
  action: (context, _options, [id]) =>
    operate(context, async ({ perform, here }) =>
      printWebhook(context, await perform(showWebhook, { webhook: id }), here),
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
    operate(context, async ({ perform, here }) => {
      const { url, allowPrivate, clearHeaders } = options;
      const change = {
        ...readSettings(options),
        ...(url !== null && { url }),
        ...(allowPrivate !== null && { allow_private: allowPrivate }),
        ...(clearHeaders && { headers: {} }),
      };
      if (Object.keys(change).length === 0) return refuse("give something to change, like --url");
      const changed = await perform(setWebhook, { webhook: id, ...change }, withKeyring);
      printWebhook(context, changed, here);
      return warn(changed);
    }),
});

const enable = command({
  usage: "enable <webhook>",
  summary: "Send to a webhook again, held deliveries first",
  action: (context, _options, [id]) => switchTo(context, enableWebhook, id),
});

const disable = command({
  usage: "disable <webhook>",
  summary: "Hold a webhook's deliveries until it is enabled again",
  action: (context, _options, [id]) => switchTo(context, disableWebhook, id),
});

const remove = command({
  usage: "delete <webhook>",
  summary: "Delete a webhook with all its deliveries, sent or not",
  options: [{ flags: "--yes", summary: "do it without being asked" }],
  action: (context, options, [id]) =>
    operate(context, async ({ perform }) => {
      const { webhook } = await perform(showWebhook, { webhook: id });
      await confirm(`Delete the webhook to ${webhook.url} with all its deliveries?`, options.yes);
      const deleted = await perform(deleteWebhook, { webhook: id });
      if (context.output.isJson) return context.output.json(deleted);
      return context.output.note(`deleted: ${id}`);
    }),
});

const rotate = command({
  usage: "rotate-secret <webhook>",
  summary: "Make a new secret and print it, once; the old one signs beside it for 24 hours",
  action: (context, _options, [id]) =>
    operate(context, async ({ perform }) => {
      const rotated = await perform(rotateSecret, { webhook: id }, withKeyring);
      context.output.mustBeTaken("the new secret signs already and is unknown: rotate it again");
      if (context.output.isJson) return context.output.json(rotated);
      context.output.line(rotated.secret);
      const oldUntil = rotated.previous_secret_expires_at;
      return context.output.note(`messages verify with the old secret too until ${oldUntil}`);
    }),
});

/** The settings that were given. @throws usage */
function readSettings(options: OptionValues<typeof settingOptions>): {
  headers?: CustomHeaders;
  max_spam_score?: number;
  conditions?: Condition[];
} {
  const { header, headerFile, maxSpamScore, when } = options;
  const lines = [...(header ?? []), ...(headerFile === null ? [] : readLines(headerFile))];
  return {
    ...((header !== null || headerFile !== null) && { headers: parseCustomHeaders(lines) }),
    ...(maxSpamScore !== null && { max_spam_score: maxSpamScore }),
    ...readWhen(when),
  };
}

function switchTo(context: CommandContext, operation: typeof enableWebhook, id: string): Promise<void> {
  return operate(context, async ({ perform, here }) =>
    printWebhook(context, await perform(operation, { webhook: id }), here),
  );
}

/** If the guard would refuse the address, says how to allow it, before the first delivery. */
function warn({ webhook, refused, remedy }: z.output<(typeof setWebhook)["output"]>): void {
  if (refused === null) return;
  const { hostname } = new URL(webhook.url);
  const advice =
    remedy === "allow_private"
      ? `allow it with: formsvc webhook set ${webhook.id} --allow-private; or list the network or ${hostname} in webhooks.allowNetworks`
      : "allow it by listing its exact address in webhooks.allowNetworks";
  writeError(`${refused}; ${advice}`);
}

type Shown = z.output<(typeof showWebhook)["output"]>;

function printWebhook({ output }: CommandContext, shown: Shown, here: Here | null): void {
  if (output.isJson) return output.json(shown);
  const { webhook } = shown;
  const rows = [
    ["id", webhook.id],
    ["endpoint", webhook.endpoint_id],
    ["format", webhook.format],
    ["url", webhook.url],
    ["state", describeState(webhook)],
    ["private addresses", describePrivate(webhook.allow_private, here?.config.webhooks.allowNetworks ?? [])],
    ["highest spam score", String(webhook.max_spam_score)],
    ...webhook.conditions.map((condition) => ["only if", conditionText(condition)]),
    ["own headers", webhook.headers.join(", ")],
    ["failing since", webhook.failing_since ?? ""],
    ["next probe", webhook.next_probe_at ?? ""],
    ["created", webhook.created_at],
  ];
  return output.table(["WEBHOOK", ""], rows, "");
}

function describePrivate(isAllowed: boolean, allowNetworks: readonly string[]): string {
  if (isAllowed) return "allowed";
  return allowNetworks.length === 0 ? "refused" : "refused, but for what webhooks.allowNetworks lists";
}

function describeState({ state, failing_since, next_probe_at }: Shown["webhook"]): string {
  if (state === "stopped") return "stopped: the receiver answered 410 twice";
  if (state !== "enabled" || failing_since === null) return state;
  const since = `enabled, failing since ${failing_since}`;
  return next_probe_at === null ? since : `${since}: probes only`;
}
