import { version } from "../foundation/version.ts";
import type { SendRequest } from "./send.ts";
import { signMessage } from "./sign.ts";
import type { OpenWebhook } from "./webhook-secrets.ts";

/** The request of one attempt. It is signed now, by every key that is valid now. The webhook's own headers never replace ours. */
export function renderRequest(
  { destination, allowPrivate, headers, keys }: OpenWebhook,
  message: { readonly id: string; readonly body: string },
  now: number,
): SendRequest {
  const { id } = message;
  const body = Buffer.from(message.body);
  const timestamp = String(Math.floor(now / 1000));
  const valid = keys.filter(({ expiresAt }) => expiresAt === null || expiresAt > now).map(({ key }) => key);
  return {
    destination,
    allowPrivate,
    body,
    headers: {
      ...headers,
      "content-type": "application/json",
      "user-agent": `formsvc/${version}`,
      "webhook-id": id,
      "webhook-timestamp": timestamp,
      "webhook-signature": signMessage({ id, timestamp, body }, valid),
    },
  };
}
