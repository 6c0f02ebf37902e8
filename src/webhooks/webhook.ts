import type { Health } from "../outbox/breaker.ts";
import type { CustomHeaders, StoredHeaders } from "./custom-headers.ts";

/** `disabled` by its owner, `stopped` because its receiver is gone; both hold their deliveries. */
export type WebhookState = "enabled" | "disabled" | "stopped";

/** A receiver of one endpoint's submissions. */
export interface Webhook {
  readonly id: string;
  readonly endpointId: string;
  readonly settings: Omit<WebhookSettings, "headers">;
  readonly headers: StoredHeaders;
  readonly state: WebhookState;
  readonly health: Health;
  /** When its receiver answered 410 first since the last success; null where it did not. */
  readonly goneAt: number | null;
  /** The first failure since the last success; null while all is well. */
  readonly failingSince: number | null;
  readonly createdAt: number;
}

export interface WebhookSettings {
  /** Normalised by `normalizeWebhookUrl`. */
  readonly url: string;
  readonly headers: CustomHeaders;
  /** Whether private addresses may be reached; link-local and metadata ones never are by this. */
  readonly allowPrivate: boolean;
  /** Submissions with a higher spam score are not sent; 0 to 100. */
  readonly maxSpamScore: number;
}

export const MAX_WEBHOOKS_PER_ENDPOINT = 20;
/** How long the secret before a rotation goes on signing beside the new one. */
export const ROTATION_GRACE_MS = 24 * 3_600_000;
/** Secrets that sign at once; a further rotation within the grace drops the oldest. */
export const MAX_SECRETS = 3;

/** `webhooks` of the configuration. */
export interface DeliverySettings {
  readonly scheduleSeconds: readonly number[];
  readonly timeoutMs: number;
  readonly limits: { readonly total: number; readonly perWebhook: number; readonly perHost: number };
  readonly probeSeconds: readonly number[];
}
