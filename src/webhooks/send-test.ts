import type { Database } from "../database/database.ts";
import { newId } from "../foundation/id.ts";
import { renderBody } from "../outbox/queue/event.ts";
import type { Keyring } from "../secrets/keyring.ts";
import { makeAttempt } from "./attempt.ts";
import type { HttpSender } from "./send.ts";
import { formWordsReader } from "./form-words.ts";
import { openWebhook } from "./webhook-secrets.ts";
import type { Webhook } from "./webhook.ts";
import { activeKeys } from "./webhook-store.ts";

export interface TestResult {
  readonly messageId: string;
  readonly webhookId: string;
  readonly url: string;
  readonly outcome: string;
  /** The status of the answer; null if none came. */
  readonly status: number | null;
  readonly durationMs: number;
  /** A sentence for the owner. */
  readonly message: string;
}

/** The parts of the server that a test needs. */
interface TestParts {
  readonly db: Database;
  readonly keyring: Keyring;
  readonly sender: Pick<HttpSender, "send">;
  /** The address of the dashboard; null if it is not known. */
  readonly dashboardUrl: string | null;
}

/** The fields of the invented submission unless others are given. */
export const TEST_DATA = { message: "This is a test of the webhook." };

export interface TestMessage {
  readonly webhook: Webhook;
  readonly endpointName: string;
  /** The fields of the invented submission. */
  readonly data: Readonly<Record<string, unknown>>;
}

/** Sends an invented submission once, now, whatever the webhook's state is. Nothing of it is stored. */
export async function sendTest(
  { db, keyring, sender, dashboardUrl }: TestParts,
  { webhook, endpointName, data }: TestMessage,
  now: number,
): Promise<TestResult> {
  const keys = await db.read(() => activeKeys(now));
  const submission = {
    id: newId("sub", now),
    endpointId: webhook.endpointId,
    spamScore: 0,
    ipAddress: "192.0.2.1",
    userAgent: "formsvc webhook test",
    createdAt: now,
  };
  const body = renderBody(submission, JSON.stringify(data), endpointName, now);
  const message = { id: newId("msg", now), body };
  const open = openWebhook(keyring, webhook, keys.get(webhook.id) ?? []);
  const parts = { sender, dashboardUrl, readFormWords: formWordsReader(db), now: () => now };
  const result = await makeAttempt(parts, open, message);
  return {
    messageId: message.id,
    webhookId: webhook.id,
    url: webhook.settings.url,
    outcome: result.outcome,
    status: result.status,
    durationMs: result.durationMs,
    message: result.message,
  };
}
