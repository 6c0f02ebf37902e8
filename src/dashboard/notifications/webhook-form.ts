import { createHash } from "node:crypto";
import type { EndpointInWorkspace } from "../../endpoints/viewable-endpoints.ts";
import { html, type Html } from "../../foundation/html.ts";
import { parseCustomHeaders } from "../../webhooks/custom-headers.ts";
import { addressFor } from "../../webhooks/check-webhook-settings.ts";
import { WEBHOOK_FORMATS, type WebhookFormat } from "../../webhooks/formats/format.ts";
import { MAX_SPAM_SCORE } from "../../outbox/queue/recipient.ts";
import type { Webhook, WebhookSettings } from "../../webhooks/webhook.ts";
import { checkTypedConditions, conditionsField } from "./conditions-field.ts";
import { checkFormChosen, formField } from "../forms/form-choice.ts";
import { areaField, checkField, type Problems, selectField, textField, tryField } from "../kit/field.ts";
import type { FormFields } from "./recipient-form.ts";
import { readSpamScore, spamScoreField } from "./highest-score.ts";
import { readTypedChoice, type TypedChoice } from "./typed-choice.ts";

/** A webhook's form as it was typed. */
export interface TypedWebhook extends TypedChoice {
  readonly format: WebhookFormat;
  readonly url: string;
  /** One `Name: value` on each line. */
  readonly headers: string;
  readonly clearsHeaders: boolean;
  readonly allowPrivate: boolean;
}

export const EMPTY_WEBHOOK: TypedWebhook = {
  endpointId: "",
  format: "standard",
  url: "",
  headers: "",
  clearsHeaders: false,
  maxSpamScore: String(MAX_SPAM_SCORE),
  allowPrivate: false,
  conditions: [],
};

export function readTyped(form: URLSearchParams): TypedWebhook {
  return {
    ...readTypedChoice(form),
    format: WEBHOOK_FORMATS.find((each) => each === form.get("format")) ?? "standard",
    url: (form.get("url") ?? "").trim(),
    headers: form.get("headers") ?? "",
    clearsHeaders: form.has("clear_headers"),
    allowPrivate: form.has("allow_private"),
  };
}

/** The form's content for a stored webhook. Values of headers and addresses of chats are secrets, so they are never shown. */
export function typedFrom({ endpointId, settings }: Webhook): TypedWebhook {
  const { format, allowPrivate, maxSpamScore, conditions } = settings;
  const url = format === "standard" ? settings.url : "";
  const shown = { format, url, allowPrivate, conditions, maxSpamScore: String(maxSpamScore) };
  return { ...EMPTY_WEBHOOK, endpointId, ...shown };
}

type Checked<Settings> = { readonly settings: Settings } | { readonly problems: Problems };

/** What the form asks for besides the address. Headers are left out if none were typed. */
type Asked = Pick<WebhookSettings, "maxSpamScore" | "allowPrivate" | "conditions"> &
  Partial<Pick<WebhookSettings, "headers">>;

/** The settings of a new webhook, or the problems of the form. */
export function checkTyped(
  typed: TypedWebhook,
  fields: FormFields,
): Checked<Asked & Pick<WebhookSettings, "format" | "url">> {
  const problems = new Map<string, string>();
  checkFormChosen(problems, typed.endpointId);
  const { format } = typed;
  const url = tryField(problems, "url", () => addressFor(format, typed.url));
  const chat = format === "standard" ? chatAt(typed.url) : undefined;
  if (chat !== undefined)
    problems.set(
      "format",
      `The address is one of ${chat}: choose that, because it takes no submissions as JSON.`,
    );
  const asked = checkAsked(problems, typed, { fields, known: [] });
  return url === null || asked === null ? { problems } : { settings: { format, url, ...asked } };
}

/**
 * Hosts at which only a chat listens. Nobody means them as a program's address, which pages show whole, while that of a chat is a secret.
 */
const CHAT_HOSTS: readonly (readonly [host: RegExp, chat: string])[] = [
  [/^hooks\.slack\.com$/, "Slack"],
  [/^(?:\w+\.)?discord(?:app)?\.com$/, "Discord"],
  [/^api\.telegram\.org$/, "Telegram"],
  [/\.webhook\.office\.com$/, "Microsoft Teams"],
  [/^chat\.googleapis\.com$/, "Google Chat"],
];

/** The chat whose address this is; undefined if it may be anything else. */
function chatAt(url: string): string | undefined {
  if (!URL.canParse(url)) return undefined;
  const { hostname } = new URL(url);
  return CHAT_HOSTS.find(([host]) => host.test(hostname))?.[1];
}

/**
 * The changed settings of a webhook, or the problems of the form. The format cannot change, and a chat's address stays if none was typed.
 */
export function checkChange(
  typed: TypedWebhook,
  { format, conditions: known }: Webhook["settings"],
  fields: FormFields,
): Checked<Asked & { readonly url?: string }> {
  const problems = new Map<string, string>();
  const isKept = typed.url === "" && format !== "standard";
  const address = isKept ? {} : tryField(problems, "url", () => ({ url: addressFor(format, typed.url) }));
  const asked = checkAsked(problems, typed, { fields, known });
  return address === null || asked === null ? { problems } : { settings: { ...address, ...asked } };
}

/**
 * The settings as an operation takes them. Only operators have the checkbox for private addresses, so the forms of others leave that
 * setting as it is.
 */
export function webhookInput<Given extends Asked>(
  { allowPrivate, maxSpamScore, ...given }: Given,
  { isOperator }: { readonly isOperator: boolean },
) {
  return { ...given, max_spam_score: maxSpamScore, ...(isOperator && { allow_private: allowPrivate }) };
}

/** Null, with problems, if a value is invalid. */
function checkAsked(
  problems: Map<string, string>,
  typed: TypedWebhook,
  { fields, known }: { readonly fields: FormFields; readonly known: Asked["conditions"] },
): Asked | null {
  const lines = typed.headers.split(/\r\n|\n|\r/).filter((line) => line.trim() !== "");
  const headers = tryField(problems, "headers", () => parseCustomHeaders(lines));
  const maxSpamScore = readSpamScore(problems, typed.maxSpamScore);
  if (typed.clearsHeaders && lines.length > 0)
    problems.set("headers", "Write new headers or remove all of them, not both.");
  const conditions = checkTypedConditions(problems, typed.conditions, fields, known);
  if (headers === null || problems.size > 0) return null;
  const given = lines.length > 0 || typed.clearsHeaders;
  return { maxSpamScore, conditions, allowPrivate: typed.allowPrivate, ...(given && { headers }) };
}

/** Identifies the settings that the form shows or replaces, so that two people do not overwrite each other's changes. */
export function fingerprintOf({ settings, secretUrl, headers }: Webhook): string {
  const hash = createHash("sha256").update(JSON.stringify(settings));
  if (secretUrl !== null) hash.update(secretUrl);
  for (const [name, value] of headers) hash.update(`\n${name}:`).update(value);
  return hash.digest("base64url").slice(0, 22);
}

interface WebhookFields {
  readonly typed: TypedWebhook;
  readonly problems: Problems;
  /** The endpoints to choose from; null if the endpoint cannot be changed any more. */
  readonly endpoints: readonly EndpointInWorkspace[] | null;
  readonly fields: FormFields;
  /** The address of the webhook's chat, shortened; null if it has none or is new. */
  readonly shownUrl: string | null;
  /** The names of the headers that the webhook has now. */
  readonly headerNames: readonly string[];
  /** Only operators may allow addresses in this machine's own network. */
  readonly isOperator: boolean;
}

/** The formats, in an owner's words. */
const FORMAT_LABELS: Readonly<Record<WebhookFormat, string>> = {
  standard: "A program: n8n, Zapier or a script of yours (JSON, signed)",
  slack: "Slack, Mattermost or Rocket.Chat",
  discord: "Discord",
  telegram: "Telegram",
  teams: "Microsoft Teams",
  "google-chat": "Google Chat",
  ntfy: "ntfy",
  gotify: "Gotify",
  matrix: "Matrix",
  apprise: "Apprise",
};

/** The address of a webhook's chat, shortened; null if it has no chat. */
export function shownChat({ format, url }: Webhook["settings"]): string | null {
  return format === "standard" ? null : url;
}

export function webhookFields(parts: WebhookFields): Html {
  const { typed, problems, endpoints, headerNames, isOperator } = parts;
  const keeps = `Leave this empty to keep those that it has: ${headerNames.join(", ")}.`;
  return html`${endpoints !== null && formField(typed.endpointId, problems, endpoints)}
    ${endpoints !== null && formatField(typed, problems)}
    ${addressField(parts)}
    ${areaField({
      name: "headers",
      label: "Headers of your own",
      value: typed.headers,
      hint: `One a line, like “Authorization: Bearer …”; most receivers need none. ${headerNames.length > 0 ? keeps : ""}`,
      problems,
    })}
    ${
      headerNames.length > 0 &&
      checkField({
        name: "clear_headers",
        label: "Send no headers of your own any more",
        value: typed.clearsHeaders ? "on" : "",
      })
    }
    ${spamScoreField(typed.maxSpamScore, problems)}
    ${
      isOperator &&
      checkField({
        name: "allow_private",
        label: "Allow private addresses",
        value: typed.allowPrivate ? "on" : "",
        hint: "For a receiver on this machine or in its network, like an n8n beside formsvc. Only operators see this.",
      })
    }
    ${conditionsField({ typed: typed.conditions, problems, fields: parts.fields })}`;
}

function formatField({ format }: TypedWebhook, problems: Problems): Html {
  return selectField(
    {
      name: "format",
      label: "What receives them",
      value: format,
      hint: "A chat gets a message to read, a program gets the whole submission.",
      problems,
    },
    WEBHOOK_FORMATS.map((each) => ({ value: each, label: FORMAT_LABELS[each] })),
  );
}

function addressField({ typed, problems, shownUrl }: WebhookFields): Html {
  return textField({
    name: "url",
    label: "Address of the receiver",
    value: typed.url,
    type: "url",
    autocomplete: "off",
    isRequired: shownUrl === null,
    hint:
      shownUrl === null
        ? "Begins with https://. A chat shows it where you add an incoming webhook."
        : `Leave it empty to keep ${shownUrl}.`,
    problems,
  });
}
