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
import { goneFields } from "../outbox/queue/conditions.ts";
import { conditionsOf, countingIn, type RecipientKey, recipientKey, webhookKey } from "./match-recipients.ts";
import { hasMailField, isChosen } from "./plan-endpoint.ts";
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
  const isSent = reply.state === "on" && hasMailField(schema, reply.field);
  if (reply.state === "on" && !isSent)
    notes.push(
      `${shown}: the automatic reply is left out, because its field ${reply.field ?? ""} is none of format email any more: it is sent to nobody`,
    );
  const replied = isSent ? { ...membersOf(reply, REPLY_SETTINGS), reply_to: replyTo } : null;
  return {
    name: endpoint.name,
    state,
    ...settings,
    ...spamOf(spam, shown, notes),
    schema,
    recipients: counted(agreed, recipientKey, { schema, shown, notes }).map(recipientOf),
    webhooks: counted(webhooks, webhookKey, { schema, shown, notes }).map((each) =>
      webhookOf(each, shown, notes),
    ),
    // Without this member, a reply that is on stays as it is.
    ...((isSent || reply.state === "off") && { autoreply: replied }),
  };
}

interface FormTarget {
  readonly schema: FileEndpoint["schema"];
  readonly shown: string;
  readonly notes: string[];
}

/** Webhooks or recipients with the conditions that count. Two that are equal then are one, because a file could not tell them apart. */
function counted<Member extends ShownRecipient | ShownWebhook>(
  members: readonly Member[],
  keyOf: (member: Member) => RecipientKey,
  { schema, shown, notes }: FormTarget,
): Member[] {
  const known = new Set<string>();
  return members
    .filter(isWhole)
    .concat(members.filter((each) => !isWhole(each)))
    .flatMap((member) => {
      const counting = countingIn(member, schema);
      const name = "address" in member ? member.address : member.url;
      const key = JSON.stringify(keyOf(counting));
      const isFirst = !known.has(key);
      known.add(key);
      const gone = goneFields(conditionsOf(member), schema);
      if (gone.length > 0)
        notes.push(
          `${shown}: a condition of ${name} on ${gone.join(", ")} is left out, because the form has no such field any more: it counts as met${isFirst ? "" : `, and so ${name} is the same as another one, and is left out too`}`,
        );
      return isFirst ? [counting] : [];
    });
  function isWhole(member: Member): boolean {
    return goneFields(conditionsOf(member), schema).length === 0;
  }
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
