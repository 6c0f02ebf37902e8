import type { Command } from "commander";
import type { z } from "zod";
import { type CustomHeaders, parseCustomHeaders } from "../../webhooks/custom-headers.ts";
import { type Condition, conditionText } from "../../outbox/queue/conditions.ts";
import { WEBHOOK_FORMATS } from "../../webhooks/formats/format.ts";
import {
  createWebhook,
  rotateSecret,
  setWebhook,
  webhookOperations,
} from "../../webhooks/webhook-operations.ts";
import { parseScore, readLines } from "../flags/arguments.ts";
import { addNoun, refuse } from "../command.ts";
import { deliveryCommands } from "./delivery-commands.ts";
import { operationCommand, type Printer } from "../operation-command.ts";
import type { OptionValues } from "../flags/option-values.ts";
import { readWhen, whenOption } from "../flags/when-option.ts";
import { writeError } from "../output/output.ts";
import { recipientVerbs } from "./recipient-verbs.ts";
import { listen, testWebhook, verify } from "./webhook-receiver-commands.ts";
import { withKeyring } from "../with-keyring.ts";

export function register(program: Command): void {
  const verbs = [create, list, show, set, enable, disable, remove, rotate];
  verbs.push(testWebhook, ...deliveryCommands("webhook"), verify, listen);
  addNoun(program, "webhook", "Receivers that get each submission", verbs);
}

const settingOptions = [
  {
    flags: "--header <line>",
    summary: "a header of your own, as 'Name: value'; repeatable; not for secrets: other users see it in ps",
    repeatable: true,
  },
  {
    flags: "--header-file <file>",
    summary: "a file with headers of your own, one a line, which nobody sees in ps; - reads standard input",
  },
  {
    flags: "--max-spam-score <score>",
    summary: "send nothing with a higher spam score, 0 to 100",
    parse: parseScore,
  },
  whenOption,
] as const;

const create = operationCommand({
  usage: "create",
  summary: "Make a webhook and print its secret, once",
  options: [
    { flags: "--endpoint <endpoint>", summary: "the endpoint whose submissions it gets", required: true },
    { flags: "--url <url>", summary: "address to which they are sent: http or https", required: true },
    {
      flags: "--allow-private",
      summary: "allow addresses of this machine and of private networks, like an n8n beside formsvc",
    },
    {
      flags: "--format <format>",
      summary: "what is sent: the event of formsvc (standard, the default), or a message for a chat",
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
  operation: createWebhook,
  parts: withKeyring,
  input: ({ endpoint, url, allowPrivate, format, ...settings }) => ({
    endpoint,
    url,
    allow_private: allowPrivate,
    ...(format !== null && { format }),
    ...readSettings(settings),
  }),
  mustBeTaken: ({ webhook, secret }) =>
    secret === null ? null : `the webhook ${webhook.id} is there and its secret is unknown: rotate it`,
  print({ output }, { webhook, secret }) {
    output.line(`id      ${webhook.id}`);
    if (secret === null) return output.note(`try it with: formsvc webhook test ${webhook.id}`);
    output.line(`secret  ${secret}`);
    return output.note("the secret is shown this once; the receiver verifies with it");
  },
  note: warn,
});

const { list, show, enable, disable, remove } = recipientVerbs({
  noun: "webhook",
  operations: webhookOperations,
  maker: "make one with: formsvc webhook create",
  deletes: "delete",
  headings: ["STATE", "URL"],
  cellsOf: (webhook) => [describeState(webhook), webhook.url],
  referenceTo: (webhook) => ({ webhook }),
  question: ({ webhook }) => `Delete the webhook to ${webhook.url} with all its deliveries?`,
  print: printWebhook,
});

const set = operationCommand({
  usage: "set <webhook>",
  summary: "Change a webhook, for pending deliveries too",
  options: [
    { flags: "--url <url>", summary: "address to which submissions are sent" },
    { flags: "--allow-private", summary: "allow addresses of this machine and of private networks" },
    { flags: "--no-allow-private", summary: "refuse addresses of this machine and of private networks" },
    ...settingOptions,
    { flags: "--clear-headers", summary: "send no headers of your own" },
  ],
  examples: ["formsvc webhook set wh_01h455vb4pex5vsknk084sn02q --url https://example.com/new"],
  operation: setWebhook,
  parts: withKeyring,
  input({ url, allowPrivate, clearHeaders, ...settings }, [webhook]) {
    const change = {
      ...readSettings(settings),
      ...(url !== null && { url }),
      ...(allowPrivate !== null && { allow_private: allowPrivate }),
      ...(clearHeaders && { headers: {} }),
    };
    if (Object.keys(change).length === 0) return refuse("give something to change, like --url");
    return { webhook, ...change };
  },
  print: printWebhook,
  note: warn,
});

const rotate = operationCommand({
  usage: "rotate-secret <webhook>",
  summary: "Give a webhook a new secret and print it, once; the old one signs beside it for 24 hours",
  operation: rotateSecret,
  parts: withKeyring,
  input: (_options, [webhook]) => ({ webhook }),
  mustBeTaken: () => "the new secret signs already and is unknown: rotate it again",
  print({ output }, { secret, previous_secret_expires_at: oldUntil }) {
    output.line(secret);
    output.note(`messages verify with the old secret too until ${oldUntil}`);
  },
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

/** Warns before the first delivery if the guard would refuse the address, and says how to allow it. */
function warn(
  _printer: Printer,
  { webhook, refused, remedy }: z.output<(typeof setWebhook)["output"]>,
): void {
  if (refused === null) return;
  const { hostname } = new URL(webhook.url);
  const advice =
    remedy === "allow_private"
      ? `allow it with: formsvc webhook set ${webhook.id} --allow-private; or list the network or ${hostname} in webhooks.allowNetworks`
      : "allow it by listing its exact address in webhooks.allowNetworks";
  writeError(`${refused}; ${advice}`);
}

type Shown = z.output<(typeof webhookOperations.show)["output"]>;

function printWebhook({ output, here }: Printer, { webhook }: Shown): void {
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
  output.table(["WEBHOOK", ""], rows, "");
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
