import { isDeepStrictEqual } from "node:util";
import { checkSettings, defaultEndpointSettings } from "../endpoints/endpoint.ts";
import { settingsJson, settingsOf } from "../endpoints/endpoint-json.ts";
import { FormsvcError } from "../foundation/errors.ts";
import { plainText } from "../foundation/plain-text.ts";
import { problemsOf } from "../foundation/problems.ts";
import { checkReplyWords } from "../mail/auto-reply/check-auto-reply.ts";
import { checkRecipientSettings } from "../mail/recipients/check-recipient-settings.ts";
import { checkConditions, type Condition } from "../outbox/queue/conditions.ts";
import { parseDefinition } from "../schemas/definition.ts";
import { checkAskable } from "../schemas/form-inputs.ts";
import { checkWebhookSettings } from "../webhooks/check-webhook-settings.ts";
import { parseCustomHeaders } from "../webhooks/custom-headers.ts";
import { checkName } from "../workspaces/workspace.ts";
import {
  NO_WORKSPACE_SETTINGS,
  WORKSPACE_SETTINGS,
  workspaceSettingsJson,
  workspaceSettingsOf,
} from "../workspaces/workspace-json.ts";
import { checkWorkspaceSettings } from "../workspaces/workspace-settings.ts";
import { namedOrNull } from "../mail/recipients/recipient-operations.ts";
import {
  type FileEndpoint,
  type FileRecipient,
  type FileReply,
  type FileWebhook,
  type FileWorkspace,
  type FormsFile,
  formsFileShape,
  SETTINGS,
} from "./forms-file.ts";
import { recipientKey, webhookKey } from "./match-recipients.ts";
import type { ParsedFile } from "./file-text.ts";

type Path = readonly (string | number)[];

/** The environment variables. Secrets are there and not in the file. */
export type Variables = Readonly<Record<string, string | undefined>>;

/** The largest number of problems that an error names. */
const MAX_NAMED = 20;

/**
 * Checks the file and returns it as it will be compared and applied: each value in the form in which it is stored, with the values of
 * variables that are set. All of the file is checked, so that one error names every problem.
 *
 * @throws usage with a line for each problem: the file, the line and the path
 */
export function checkFile({ value, lineOf }: ParsedFile, source: string, variables: Variables): FormsFile {
  // YAML without content is null.
  if (value === null)
    throw new FormsvcError("usage", `${source}: there is nothing in it; it needs version: 1 and workspaces`);
  const read = formsFileShape.safeParse(value);
  const problems = read.success ? [] : shapeProblems(read.error);
  const file = read.success ? new Checker(problems, variables).file(read.data) : null;
  if (file !== null && problems.length === 0) return file;
  const lines = problems.slice(0, MAX_NAMED).map(({ path, message }) => {
    const names = path.map(String);
    return `${source}:${lineOf(names)}: ${plainText(names.join(".")) || "the file"}: ${plainText(message)}`;
  });
  if (problems.length > MAX_NAMED) lines.push(`and ${problems.length - MAX_NAMED} more`);
  throw new FormsvcError("usage", lines.join("\n"), {
    details: { problems: problems.slice(0, MAX_NAMED).map(({ path, message }) => ({ path, message })) },
  });
}

interface FileProblem {
  readonly path: Path;
  readonly message: string;
}

function shapeProblems(error: Parameters<typeof problemsOf>[0]): FileProblem[] {
  return problemsOf(error).map(({ path, message, isUnknown }) => ({
    path,
    message: isUnknown ? "there is no such member" : message,
  }));
}

/** Checks the values and notes every problem with its path. */
class Checker {
  readonly #problems: FileProblem[];
  readonly #variables: Variables;

  constructor(problems: FileProblem[], variables: Variables) {
    this.#problems = problems;
    this.#variables = variables;
  }

  file(file: FormsFile): FormsFile {
    const workspaces = file.workspaces.map((each, index) => this.#workspace(each, ["workspaces", index]));
    this.#distinct(workspaces, ["workspaces"], ({ name }) => name, "workspace");
    return { ...file, workspaces };
  }

  #workspace(given: FileWorkspace, at: Path): FileWorkspace {
    const endpoints = given.endpoints.map((each, index) => this.#endpoint(each, [...at, "endpoints", index]));
    this.#distinct(endpoints, [...at, "endpoints"], ({ name }) => name, "endpoint");
    const names = new Map(endpoints.map(({ name }, index) => [name, index]));
    const before = new Set<string>();
    for (const [index, { was }] of endpoints.entries()) {
      if (was === undefined) continue;
      const path = [...at, "endpoints", index, "was"];
      if (names.has(was)) this.#add(path, "names an endpoint that the file has too");
      if (before.has(was)) this.#add(path, "names an endpoint that another one was");
      before.add(was);
    }
    return {
      ...given,
      name: this.#try([...at, "name"], given.name, checkName),
      ...this.#workspaceSettings(given, at),
      endpoints,
    };
  }

  /** Checks each setting by itself, so that the path of a problem is known. */
  #workspaceSettings(given: FileWorkspace, at: Path): Partial<FileWorkspace> {
    const checked: Record<string, unknown> = {};
    for (const name of WORKSPACE_SETTINGS) {
      if (given[name] === undefined) continue;
      checked[name] = this.#try<unknown>([...at, name], given[name], () => {
        const settings = workspaceSettingsOf({ ...NO_WORKSPACE_SETTINGS, [name]: given[name] });
        return workspaceSettingsJson(checkWorkspaceSettings(settings))[name];
      });
    }
    return checked;
  }

  #endpoint(given: FileEndpoint, at: Path): FileEndpoint {
    const { was, webhooks, recipients, autoreply } = given;
    const schema = this.#try([...at, "schema"], given.schema, (each) => {
      const definition = parseDefinition(each);
      if (given.page === "on") checkAskable(definition);
      return { ...definition };
    });
    return {
      ...given,
      ...this.#settings(given, at),
      name: this.#try([...at, "name"], given.name, checkName),
      schema,
      ...(was !== undefined && { was: this.#try([...at, "was"], was, checkName) }),
      ...(webhooks && { webhooks: this.#webhooks(webhooks, schema, [...at, "webhooks"]) }),
      ...(recipients && { recipients: this.#recipients(recipients, schema, [...at, "recipients"]) }),
      ...(autoreply && { autoreply: this.#reply(autoreply, given, [...at, "autoreply"]) }),
    };
  }

  /** Checks each setting by itself, so that the path of a problem is known. */
  #settings(given: FileEndpoint, at: Path): Partial<FileEndpoint> {
    const checked: Record<string, unknown> = {};
    for (const name of SETTINGS) {
      if (given[name] === undefined) continue;
      checked[name] = this.#try<unknown>([...at, name], given[name], () => {
        const allowed_origins = name === "page_logo" ? originsFor(given) : [];
        const settings = {
          ...defaultEndpointSettings,
          ...settingsOf({ allowed_origins, [name]: given[name] }),
        };
        return settingsJson(checkSettings(settings))[name];
      });
    }
    return checked;
  }

  #webhooks(given: readonly FileWebhook[], schema: FileEndpoint["schema"], at: Path): FileWebhook[] {
    const webhooks = given.map((webhook, index) => ({
      ...this.#webhook(webhook, [...at, index]),
      ...this.#conditions(webhook, schema, [...at, index]),
    }));
    this.#distinct(webhooks, at, webhookKey, "webhook");
    return webhooks;
  }

  #webhook(webhook: FileWebhook, at: Path): FileWebhook {
    const { format, max_spam_score: maxSpamScore, headers } = webhook;
    if (maxSpamScore !== undefined)
      this.#try<unknown>([...at, "max_spam_score"], maxSpamScore, () =>
        checkWebhookSettings({ maxSpamScore }, format),
      );
    const url = this.#valueOf(webhook.url);
    return {
      ...webhook,
      ...(headers && { headers: this.#headers(headers, [...at, "headers"]) }),
      url:
        typeof url === "string"
          ? this.#try([...at, "url"], url, () => checkWebhookSettings({ url }, format).url)
          : url,
    };
  }

  /** Checks conditions against the fields of the schema in the file, which the endpoint will have. */
  #conditions(
    { conditions }: Pick<FileRecipient, "conditions">,
    schema: FileEndpoint["schema"],
    at: Path,
  ): { readonly conditions?: readonly Condition[] } {
    if (conditions === undefined) return {};
    return {
      conditions: this.#try<readonly Condition[]>([...at, "conditions"], conditions, (given) =>
        checkConditions(given, schema),
      ),
    };
  }

  #headers(headers: NonNullable<FileWebhook["headers"]>, at: Path): FileWebhook["headers"] {
    const values = Object.entries(headers).map(
      ([name, value]) => [name.toLowerCase(), this.#valueOf(value)] as const,
    );
    const known = values.map(([name, value]) => `${name}: ${typeof value === "string" ? value : ""}`);
    this.#try<unknown>(at, headers, () => parseCustomHeaders(known));
    return Object.fromEntries(values);
  }

  /** The value of a variable that is set. A variable that is not set stays as it is until something needs its value. */
  #valueOf<Value extends string | { readonly env: string }>(value: Value): Value | string {
    return typeof value === "string" ? value : (this.#variables[value.env] ?? value);
  }

  #recipients(given: readonly FileRecipient[], schema: FileEndpoint["schema"], at: Path): FileRecipient[] {
    const recipients = given.map((recipient, index) => {
      const { address, language, subject, max_spam_score: maxSpamScore } = recipient;
      const path = [...at, index];
      if (subject !== undefined)
        this.#try<unknown>([...path, "subject"], subject, () => checkRecipientSettings({ subject }));
      if (maxSpamScore !== undefined)
        this.#try<unknown>([...path, "max_spam_score"], maxSpamScore, () =>
          checkRecipientSettings({ maxSpamScore }),
        );
      const checked = this.#try(
        [...path, "address"],
        address,
        () => checkRecipientSettings({ address }).address,
      );
      return {
        ...recipient,
        address: checked,
        ...(language !== undefined && {
          language: this.#try([...path, "language"], language, namedOrNull),
        }),
        ...this.#conditions(recipient, schema, path),
      };
    });
    this.#distinct(recipients, at, recipientKey, "recipient");
    return recipients;
  }

  /** Checks the reply's field and reply-to address against the file, which has everything that there will be. */
  #reply(reply: FileReply, { schema, recipients }: FileEndpoint, at: Path): FileReply {
    const { field, subject, text, reply_to: replyTo } = reply;
    if (field !== undefined) {
      const definition = Object.hasOwn(schema, field) ? (schema[field] as { format?: unknown }) : null;
      if (definition?.format !== "email")
        this.#add([...at, "field"], "is not a field of format email in the schema");
    }
    const isKnown = recipients?.some(({ address }) => address.toLowerCase() === replyTo?.toLowerCase());
    if (typeof replyTo === "string" && isKnown === false)
      this.#add([...at, "reply_to"], "is none of the recipients in the file");
    return {
      ...reply,
      ...(subject !== undefined && {
        subject: this.#try([...at, "subject"], subject, () => checkReplyWords({ subject }).subject ?? null),
      }),
      ...(text !== undefined && {
        text: this.#try([...at, "text"], text, () => checkReplyWords({ text }).text ?? null),
      }),
    };
  }

  #distinct<Value>(values: readonly Value[], at: Path, keyOf: (value: Value) => unknown, what: string): void {
    const seen: unknown[] = [];
    for (const [index, value] of values.entries()) {
      const key = keyOf(value);
      const first = seen.findIndex((each) => isDeepStrictEqual(each, key));
      if (first !== -1) this.#add([...at, index], `is the same ${what} as number ${first}, counted from 0`);
      seen.push(key);
    }
  }

  /** The result of `check`; the value unchanged if `check` throws, which is noted. */
  #try<Value>(path: Path, value: Value, check: (value: Value) => Value): Value {
    try {
      return check(value);
    } catch (error) {
      if (!(error instanceof FormsvcError)) throw error;
      for (const { path: below, message } of problemsIn(error))
        this.#add(below === "" ? path : [...path, ...below.split(".")], message);
      return value;
    }
  }

  #add(path: Path, message: string): void {
    this.#problems.push({ path, message });
  }
}

/**
 * The origins with which the logo in the file is checked, because it must belong to one of them. If the file names none, the endpoint may
 * have them: the plan checks that.
 */
function originsFor({ allowed_origins: origins, page_logo: logo }: FileEndpoint): readonly string[] {
  if (origins !== undefined) return origins;
  return typeof logo === "string" && URL.canParse(logo) ? [new URL(logo).origin] : [];
}

/** The problems of an error: a schema has a list of them, every other value has one sentence. */
function problemsIn({ message, facts }: FormsvcError): readonly { path: string; message: string }[] {
  const listed = facts.details?.["problems"];
  return Array.isArray(listed) ? (listed as { path: string; message: string }[]) : [{ path: "", message }];
}
