import { FormsvcError } from "../foundation/errors.ts";

const URL_MAX_LENGTH = 2048;

/**
 * Converts a receiver's address to the one spelling that is stored and used: unusual spellings of hosts (`0x7f.1`, full-width digits)
 * become ordinary ones, and the fragment, which is never sent, is dropped.
 *
 * @throws FormsvcError `usage` that says what to change.
 */
export function normalizeWebhookUrl(text: string): string {
  if (text.length > URL_MAX_LENGTH) throw refuse(`is longer than ${URL_MAX_LENGTH} characters`);
  if (!URL.canParse(text)) throw refuse("is not a full address such as https://example.com/hooks");
  const url = new URL(text);
  if (url.protocol !== "https:" && url.protocol !== "http:")
    throw refuse("must begin with https:// or http://");
  if (url.username !== "" || url.password !== "") {
    throw refuse("must not hold a user name or password; send them as a header of your own, Authorization");
  }
  if (url.port === "0") throw refuse("must not use port 0");
  url.hash = "";
  if (url.href.length > URL_MAX_LENGTH) throw refuse(`is longer than ${URL_MAX_LENGTH} characters`);
  return url.href;
}

function refuse(problem: string): FormsvcError {
  return new FormsvcError("usage", `the webhook's URL ${problem}`);
}
