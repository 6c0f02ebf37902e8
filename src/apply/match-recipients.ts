import type { Condition } from "../outbox/queue/conditions.ts";
import { shownAddress } from "../webhooks/formats/format.ts";
import type { FileEndpoint, FileRecipient, FileWebhook } from "./forms-file.ts";

/**
 * What identifies a webhook or recipient of an endpoint: the members that never change, and the conditions, because one address may occur
 * with several conditions. Two with equal keys are the same.
 */
export type RecipientKey = readonly unknown[];

/** @param webhook from the file or from an operation's output */
export function webhookKey(webhook: {
  readonly url: FileWebhook["url"];
  readonly format: FileWebhook["format"];
}): RecipientKey {
  return [webhook.format, shownUrl(webhook), conditionsOf(webhook)];
}

/** Addresses that differ in small and capital letters are one. @param recipient from the file or from an operation's output */
export function recipientKey(recipient: Pick<FileRecipient, "address">): RecipientKey {
  return [recipient.address.toLowerCase(), conditionsOf(recipient)];
}

/**
 * A webhook's address as it is shown. If it is in a variable and the file does not say how it is shown, the variable's name identifies it.
 */
export function shownUrl({ url, format }: Pick<FileWebhook, "url" | "format">): string {
  if (typeof url !== "string") return url.shown ?? `$${url.env}`;
  // An address from the database is shortened already, and stays as it is.
  return URL.canParse(url) ? shownAddress(format, url) : url;
}

/** A webhook or recipient that may have conditions. */
interface Conditioned {
  readonly conditions?: readonly Condition[] | undefined;
}

/** The same with those conditions alone whose fields are in all of the schemas. A condition on another field counts as met. */
export function countingIn<Member extends object>(
  member: Member,
  ...schemas: readonly FileEndpoint["schema"][]
): Member & { readonly conditions: readonly Condition[] } {
  const counting = conditionsOf(member).filter(({ field }) =>
    schemas.every((schema) => Object.hasOwn(schema, field)),
  );
  return { ...member, conditions: counting };
}

export function conditionsOf(member: object): readonly Condition[] {
  return (member as Conditioned).conditions ?? [];
}
