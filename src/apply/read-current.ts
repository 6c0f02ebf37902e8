import type { z } from "zod";
import { listAllEndpoints, showEndpoint } from "../endpoints/endpoint-operations.ts";
import { showSpam } from "../endpoints/spam-operations.ts";
import { FormsvcError } from "../foundation/errors.ts";
import { plainText } from "../foundation/plain-text.ts";
import { showReply } from "../mail/auto-reply/auto-reply-operations.ts";
import { mailRecipientOperations } from "../mail/recipients/recipient-operations.ts";
import type { Operation } from "../operations/operation.ts";
import { webhookOperations } from "../webhooks/webhook-operations.ts";
import { listAllWorkspaces } from "../workspaces/workspace-operations.ts";
import { type RecipientKey, recipientKey, webhookKey } from "./match-recipients.ts";

/** Runs an operation on the database or on a server. This folder does not know which of the two it is. */
export type PerformAnywhere = <Input extends z.ZodObject, Output extends z.ZodType>(
  operation: Operation<never, Input, Output>,
  input: z.input<Input>,
) => Promise<z.output<Output>>;

export type ShownWorkspace = z.output<(typeof listAllWorkspaces)["output"]>["data"][number];
export type ListedEndpoint = z.output<(typeof listAllEndpoints)["output"]>["data"][number];
export type ShownEndpoint = z.output<(typeof showEndpoint)["output"]>["endpoint"];
export type ShownWebhook = z.output<(typeof webhookOperations.list)["output"]>["data"][number];
export type ShownRecipient = z.output<(typeof mailRecipientOperations.list)["output"]>["data"][number];
export type ShownReply = z.output<(typeof showReply)["output"]>["auto_reply"];
export type CurrentSpam = z.output<(typeof showSpam)["output"]>;

/** An endpoint with everything that the file may say about it. */
export interface CurrentEndpoint {
  readonly endpoint: ShownEndpoint;
  readonly spam: CurrentSpam;
  readonly webhooks: readonly ShownWebhook[];
  readonly recipients: readonly ShownRecipient[];
  readonly reply: ShownReply;
}

/**
 * Every workspace that may be seen, or the one with this id.
 *
 * @throws ambiguous if two have the same name, because a file could not tell them apart
 */
export async function readWorkspaces(
  perform: PerformAnywhere,
  only: string | null = null,
): Promise<ReadonlyMap<string, ShownWorkspace>> {
  const { data } = await perform(listAllWorkspaces, { name: null });
  return byName(only === null ? data : data.filter(({ id }) => id === only), "workspaces");
}

/** The endpoints of a workspace. @throws ambiguous as {@link readWorkspaces} does */
export async function readEndpoints(
  perform: PerformAnywhere,
  workspaceId: string,
): Promise<ReadonlyMap<string, ListedEndpoint>> {
  const { data } = await perform(listAllEndpoints, { workspace: workspaceId });
  return byName(data, "endpoints of a workspace");
}

/** @throws ambiguous if two of its webhooks or recipients have the same key */
export async function readEndpoint(perform: PerformAnywhere, id: string): Promise<CurrentEndpoint> {
  const { endpoint } = await perform(showEndpoint, { endpoint: id });
  const { data: webhooks } = await perform(webhookOperations.list, { endpoint: id });
  const { data: recipients } = await perform(mailRecipientOperations.list, { endpoint: id });
  refuseEqual(webhooks, webhookKey, endpoint, "webhooks");
  refuseEqual(recipients, recipientKey, endpoint, "recipients");
  const { auto_reply: reply } = await perform(showReply, { endpoint: id });
  const spam = await perform(showSpam, { endpoint: id });
  return { endpoint, spam, webhooks, recipients, reply };
}

function byName<Named extends { readonly id: string; readonly name: string }>(
  rows: readonly Named[],
  what: string,
): ReadonlyMap<string, Named> {
  const named = Map.groupBy(rows, ({ name }) => name);
  for (const [name, equal] of named)
    if (equal.length > 1) throw several(`${what} are named ${plainText(name)}`, equal);
  return new Map(rows.map((row) => [row.name, row]));
}

function refuseEqual<Member extends { readonly id: string }>(
  members: readonly Member[],
  keyOf: (member: Member) => RecipientKey,
  endpoint: ShownEndpoint,
  what: string,
): void {
  for (const equal of Map.groupBy(members, (member) => JSON.stringify(keyOf(member))).values())
    if (equal.length > 1) throw several(`${what} of ${plainText(endpoint.name)} are equal`, equal);
}

function several(what: string, equal: readonly { readonly id: string }[]): FormsvcError {
  const ids = equal.map(({ id }) => id).join(", ");
  return new FormsvcError("ambiguous", `several ${what}: ${ids}; a file cannot tell them apart`);
}
