import { shownAddress } from "../webhooks/formats/format.ts";
import type { FileRecipient, FileWebhook } from "./forms-file.ts";

/**
 * What a webhook or recipient of an endpoint is known by: what it never changes, and the conditions, by which one address may have
 * several. Two that are equal in it are one.
 */
export type RecipientKey = readonly unknown[];

/** @param webhook of the file, or as it is shown */
export function webhookKey(webhook: {
  readonly url: FileWebhook["url"];
  readonly format: FileWebhook["format"];
}): RecipientKey {
  return [webhook.format, shownUrl(webhook), conditionsOf(webhook)];
}

/** @param recipient of the file, or as it is shown */
export function recipientKey(recipient: Pick<FileRecipient, "address">): RecipientKey {
  return [recipient.address, conditionsOf(recipient)];
}

/** A webhook's address as it is shown; an address of a variable that does not say it is known by the variable's name. */
export function shownUrl({ url, format }: Pick<FileWebhook, "url" | "format">): string {
  if (typeof url !== "string") return url.shown ?? `$${url.env}`;
  // One that was read from the database is shortened already, and stays as it is.
  return URL.canParse(url) ? shownAddress(format, url) : url;
}

function conditionsOf(recipient: object): unknown {
  return (recipient as { readonly conditions?: unknown }).conditions ?? [];
}
