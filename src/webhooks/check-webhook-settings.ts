import { FormsvcError } from "../foundation/errors.ts";
import { MAX_SPAM_SCORE } from "../outbox/queue/recipient.ts";
import { checkCustomHeaders } from "./custom-headers.ts";
import { CHAT_FORMATS } from "./formats/chat-formats.ts";
import type { WebhookFormat } from "./formats/format.ts";
import type { WebhookSettings } from "./webhook.ts";
import { normalizeWebhookUrl } from "./webhook-url.ts";

/** Checks the settings, and returns them as a webhook of that format stores them: URL and header names in normal form. @throws usage */
export function checkWebhookSettings<T extends Partial<WebhookSettings>>(
  settings: T,
  format: WebhookFormat,
): T {
  const { url, headers, maxSpamScore = 0 } = settings;
  if (!Number.isInteger(maxSpamScore) || maxSpamScore < 0 || maxSpamScore > MAX_SPAM_SCORE) {
    throw new FormsvcError(
      "usage",
      `a webhook's highest spam score is a whole number from 0 to ${MAX_SPAM_SCORE}`,
    );
  }
  return {
    ...settings,
    ...(url === undefined ? {} : { url: addressFor(format, url) }),
    ...(headers === undefined ? {} : { headers: checkCustomHeaders(headers) }),
  };
}

/** An address as a webhook of that format stores it. @throws usage */
export function addressFor(format: WebhookFormat, text: string): string {
  const url = normalizeWebhookUrl(text);
  const problem = format === "standard" ? null : CHAT_FORMATS[format].findProblem(new URL(url));
  if (problem !== null) throw new FormsvcError("usage", `the webhook's URL ${problem}`);
  return url;
}
