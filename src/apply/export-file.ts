import { isDeepStrictEqual } from "node:util";
import { showSpam } from "../endpoints/spam-operations.ts";
import { DEFAULT_HONEYPOTS } from "../endpoints/endpoint.ts";
import {
  type FileEndpoint,
  type FileRecipient,
  type FileWebhook,
  type FileWorkspace,
  type FormsFile,
  RECIPIENT_SETTINGS,
  REPLY_SETTINGS,
  SETTINGS,
  WEBHOOK_SETTINGS,
} from "./forms-file.ts";
import { isChosen } from "./plan-endpoint.ts";
import { hasAgreed } from "./plan-recipients.ts";
import { WORKSPACE_SETTINGS } from "../workspaces/workspace-json.ts";
import {
  type CurrentEndpoint,
  type PerformAnywhere,
  readEndpoint,
  readEndpoints,
  readWorkspaces,
  type ShownRecipient,
  type CurrentSpam,
  type ShownWebhook,
} from "./read-current.ts";

/** The file, and notes about what a file cannot contain, each with the reason. */
export interface Exported {
  readonly file: FormsFile;
  readonly notes: readonly string[];
}

/**
 * Makes a file of everything that may be seen. On an empty database it makes the same settings. It names variables in place of secrets.
 *
 * @param only the id of the one workspace that the file is about; null means all
 * @throws ambiguous for things that a file cannot tell apart
 */
export async function exportFile(perform: PerformAnywhere, only: string | null = null): Promise<Exported> {
  const notes: string[] = [];
  const workspaces: FileWorkspace[] = [];
  for (const { id, name, plan, ...shown } of (await readWorkspaces(perform, only)).values()) {
    const spam = await perform(showSpam, { workspace: id });
    const endpoints: FileEndpoint[] = [];
    for (const { id: endpoint } of (await readEndpoints(perform, id)).values())
      endpoints.push(endpointOf(await readEndpoint(perform, endpoint), name, notes));
    workspaces.push({
      name,
      plan,
      ...membersOf(shown, WORKSPACE_SETTINGS),
      ...spamOf(spam, name, notes),
      endpoints,
    });
  }
  return { file: { version: 1, workspaces }, notes };
}

function endpointOf(
  { endpoint, spam, webhooks, recipients, reply }: CurrentEndpoint,
  workspace: string,
  notes: string[],
): FileEndpoint {
  const shown = `${workspace}/${endpoint.name}`;
  const { honeypots, state, schema } = endpoint;
  const settings = {
    ...membersOf(endpoint, SETTINGS),
    honeypots: isDeepStrictEqual(honeypots, DEFAULT_HONEYPOTS) ? null : honeypots,
  };
  const agreed = recipients.filter(hasAgreed);
  for (const { address, state: why } of recipients.filter((each) => !hasAgreed(each)))
    notes.push(`${shown}: the recipient ${address} is ${why}, and is left out`);
  const replyTo = agreed.some(({ address }) => address === reply.reply_to) ? reply.reply_to : null;
  return {
    name: endpoint.name,
    state,
    ...settings,
    ...spamOf(spam, shown, notes),
    schema,
    recipients: agreed.map(recipientOf),
    webhooks: webhooks.map((each) => webhookOf(each, shown, notes)),
    autoreply: reply.state === "off" ? null : { ...membersOf(reply, REPLY_SETTINGS), reply_to: replyTo },
  };
}

function recipientOf(recipient: ShownRecipient): FileRecipient {
  const { address, state } = recipient;
  return { address, ...membersOf(recipient, RECIPIENT_SETTINGS), enabled: state !== "disabled" };
}

/** A webhook in the form of the file. Its secret is in a variable that is named after the webhook. */
function webhookOf(webhook: ShownWebhook, shown: string, notes: string[]): FileWebhook {
  const { id, format, url, state } = webhook;
  const variable = (what: string) => ({ env: `WEBHOOK_${what}_${id.slice(-12)}`.toUpperCase() });
  const headers = webhook.headers.map(
    (name) => [name, variable(`HEADER_${name.replaceAll(/[^a-z0-9]/g, "_")}`)] as const,
  );
  const address = format === "standard" ? url : { ...variable("URL"), shown: url };
  const variables = [address, ...headers.map(([, value]) => value)].flatMap((each) =>
    typeof each === "string" ? [] : [each.env],
  );
  if (variables.length > 0)
    notes.push(`${shown}: set ${variables.join(", ")} before the webhook to ${url} is made elsewhere`);
  return {
    url: address,
    format,
    ...membersOf(webhook, WEBHOOK_SETTINGS),
    ...(headers.length > 0 && { headers: Object.fromEntries(headers) }),
    enabled: state !== "disabled",
  };
}

/** The choices, or none if the plan does not include them: they have no effect and could not be set again. */
function spamOf(
  { chosen, custom_spam }: CurrentSpam,
  shown: string,
  notes: string[],
): Pick<FileWorkspace, "spam"> {
  if (!isChosen(chosen)) return {};
  if (custom_spam) return { spam: chosen };
  notes.push(`${shown}: its spam settings do not count on its plan, and are left out`);
  return {};
}

function membersOf(shown: object, names: readonly string[]): Record<string, unknown> {
  const members = shown as Record<string, unknown>;
  return Object.fromEntries(
    names.filter((name) => Object.hasOwn(members, name)).map((name) => [name, members[name]]),
  );
}
