/** The document that a webhook's receiver gets: our own event, or a message in the form of a chat. */
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
 * A webhook's address as it may be shown, and is stored plain: that of a chat holds the secret that lets anybody post there, so
 * only its host and its last four characters are left.
 */
export function shownAddress(format: WebhookFormat, url: string): string {
  return format === "standard" ? url : `${new URL(url).origin}/…${url.slice(-4)}`;
}
