/** The formats of the document that a receiver gets: `standard` is our own event, the others are messages for a chat. */
export const WEBHOOK_FORMATS = [
  "standard",
  "slack",
  "discord",
  "telegram",
  "teams",
  "google-chat",
  "ntfy",
  "gotify",
  "matrix",
  "apprise",
] as const;

export type WebhookFormat = (typeof WEBHOOK_FORMATS)[number];

export type ChatFormatName = Exclude<WebhookFormat, "standard">;

/**
 * The part of a webhook's address that may be shown and is stored unencrypted. The address of a chat contains the secret that lets anybody
 * post there, so only its host and its last four characters are shown.
 */
export function shownAddress(format: WebhookFormat, url: string): string {
  return format === "standard" ? url : `${new URL(url).origin}/…${url.slice(-4)}`;
}
