import { FormsvcError } from "../foundation/errors.ts";
import { checkCustomHeaders } from "./custom-headers.ts";
import { MAX_SPAM_SCORE, type WebhookSettings } from "./webhook.ts";
import { normalizeWebhookUrl } from "./webhook-url.ts";

/** The given settings as they are stored: the URL and the names of headers in normal form. @throws usage */
export function checkWebhookSettings<T extends Partial<WebhookSettings>>(settings: T): T {
  const { url, headers, maxSpamScore = 0 } = settings;
  if (!Number.isInteger(maxSpamScore) || maxSpamScore < 0 || maxSpamScore > MAX_SPAM_SCORE) {
    throw new FormsvcError(
      "usage",
      `A webhook's highest spam score is a whole number from 0 to ${MAX_SPAM_SCORE}.`,
    );
  }
  return {
    ...settings,
    ...(url === undefined ? {} : { url: normalizeWebhookUrl(url) }),
    ...(headers === undefined ? {} : { headers: checkCustomHeaders(headers) }),
  };
}
