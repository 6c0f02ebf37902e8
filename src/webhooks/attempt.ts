import { version } from "../foundation/version.ts";
import type { AttemptResult, Message } from "../outbox/sending/transport.ts";
import { classify } from "./classify.ts";
import { CHAT_FORMATS } from "./formats/chat-formats.ts";
import { type ChatContext, readChatMessage } from "./formats/chat-message.ts";
import type { ChatFormatName } from "./formats/format.ts";
import { findNewChat, classifyChat } from "./formats/classify-chat.ts";
import type { FormWords } from "./form-words.ts";
import { renderRequest } from "./render-request.ts";
import { parseRetryAfter } from "./retry-after.ts";
import { type HttpSender, type SendRequest, type SendResult, destinationOf } from "./send.ts";
import type { OpenWebhook } from "./webhook-secrets.ts";

/** A message for a webhook, which is never a summary. */
type WebhookMessage = Pick<Message, "id" | "body">;

interface AttemptParts {
  readonly sender: Pick<HttpSender, "send">;
  /** The address of the dashboard, for the link in a chat; null if it is not known. */
  readonly dashboardUrl: string | null;
  /** Reads the words of a form, for a chat. */
  readonly readFormWords: (endpointId: string) => Promise<FormWords>;
  readonly now: () => number;
}

/**
 * Makes one attempt in the webhook's format, and classifies the answer. A repeated attempt sends the same event; a message to a chat is
 * rendered again, with the labels and the language of today.
 */
export async function makeAttempt(
  { sender, dashboardUrl, readFormWords, now }: AttemptParts,
  webhook: OpenWebhook,
  message: WebhookMessage,
): Promise<AttemptResult> {
  const { format } = webhook;
  if (format === "standard") {
    const result = await sender.send(renderRequest(webhook, message, now()));
    return classifyResult(result, now());
  }
  const words = await readFormWords(webhook.endpointId);
  const request = chatRequest(format, webhook, message, { dashboardUrl, ...words });
  let result = await sender.send(request);
  const newChat = format === "telegram" ? findNewChat(result) : null;
  if (newChat !== null) result = await sender.send(toChat(request, newChat));
  return classifyChat(format, result, classifyResult(result, now()));
}

/** The result of an attempt in the outbox's terms. */
export function classifyResult(result: SendResult, now: number): AttemptResult {
  const answer = result.kind === "answer" ? result : null;
  return {
    ...classify(result),
    status: answer?.status ?? null,
    answer: answer?.bodyStart || null,
    retryAfterMs: parseRetryAfter(answer?.retryAfter ?? null, now),
    durationMs: result.durationMs,
  };
}

/** The request for a chat. It is not signed, because the service of a chat verifies nothing. */
function chatRequest(
  format: ChatFormatName,
  { url, allowPrivate, headers }: OpenWebhook,
  { id, body }: WebhookMessage,
  context: ChatContext,
): SendRequest {
  const chat = readChatMessage(body, context);
  const { document, url: address, method } = CHAT_FORMATS[format].render(chat, { url, messageId: id });
  return {
    destination: destinationOf(address),
    method,
    allowPrivate,
    keepsAnswer: true,
    body: Buffer.from(JSON.stringify(document)),
    headers: { ...headers, "content-type": "application/json", "user-agent": `formsvc/${version}` },
  };
}

/** The same message, to the chat that replaced a Telegram group. */
function toChat(request: SendRequest, chatId: string): SendRequest {
  const document = JSON.parse(request.body.toString()) as Record<string, unknown>;
  return { ...request, body: Buffer.from(JSON.stringify({ ...document, chat_id: chatId })) };
}
