import type { Condition } from "../outbox/queue/conditions.ts";
import { MAX_SPAM_SCORE, type Recipient } from "../outbox/queue/recipient.ts";
import type { WebhookFormat } from "./formats/format.ts";
import type { CustomHeaders, StoredHeaders } from "./custom-headers.ts";
import { DAY_MS } from "../foundation/time-units.ts";

/** The kind of recipient that is reached over HTTP. */
export const WEBHOOK_KIND = "webhook";

/** A recipient that is reached over HTTP: the address of a receiver, and the settings of its requests. */
export interface Webhook extends Omit<
  Recipient,
  "kind" | "maxSpamScore" | "conditions" | "refusals" | "confirmedAt"
> {
  /** The URL is shown as it is, but that of a chat is shortened here, and complete in `secretUrl`. */
  readonly settings: Omit<WebhookSettings, "headers">;
  /** The address of a chat as it is stored, encrypted if there is a key; null for the format `standard`. */
  readonly secretUrl: Buffer | null;
  readonly headers: StoredHeaders;
}

export interface WebhookSettings {
  /** Normalised by `normalizeWebhookUrl`. */
  readonly url: string;
  readonly headers: CustomHeaders;
  /** Whether private addresses may be reached. This never allows link-local addresses and those of cloud metadata. */
  readonly allowPrivate: boolean;
  /** Submissions with a higher spam score are not sent; 0 to {@link MAX_SPAM_SCORE}. */
  readonly maxSpamScore: number;
  /** Only submissions that meet all of these conditions are sent. */
  readonly conditions: readonly Condition[];
  /** It never changes, because another format needs another address. */
  readonly format: WebhookFormat;
}

/** The settings that a new webhook has unless others are chosen. */
export const defaultWebhookSettings: Omit<WebhookSettings, "url"> = {
  headers: {},
  allowPrivate: false,
  maxSpamScore: MAX_SPAM_SCORE,
  conditions: [],
  format: "standard",
};

/** How long the old secret signs beside the new one after a rotation. */
export const ROTATION_GRACE_MS = DAY_MS;
/** The largest number of secrets that sign at the same time. A further rotation within the grace period drops the oldest. */
export const MAX_SECRETS = 3;

/** `webhooks` of the configuration. */
export interface DeliverySettings {
  readonly scheduleSeconds: readonly number[];
  readonly timeoutMs: number;
  readonly limits: { readonly total: number; readonly perWebhook: number; readonly perHost: number };
  readonly probeSeconds: readonly number[];
}
