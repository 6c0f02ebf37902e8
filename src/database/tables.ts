import type { Generated } from "kysely";
import type { LetterRow, LimitNoticeRow, MailFrameRow } from "./letter-table.ts";
import type { PeopleTables } from "./people-tables.ts";

/** Row types of every table, as `migrations/` creates them. Times are milliseconds since 1970 UTC. */
export interface Tables extends PeopleTables {
  account: AccountRow;
  workspace: WorkspaceRow;
  usage: UsageRow;
  endpoint: EndpointRow;
  endpoint_schema: EndpointSchemaRow;
  api_key: ApiKeyRow;
  endpoint_number: EndpointNumberRow;
  submission: SubmissionRow;
  idempotency: IdempotencyRow;
  settings_version: SettingsVersionRow;
  recipient: RecipientRow;
  webhook: WebhookRow;
  webhook_secret: WebhookSecretRow;
  mail_recipient: MailRecipientRow;
  letter: LetterRow;
  auto_reply: AutoReplyRow;
  quota_use: QuotaUseRow;
  recipient_pace: RecipientPaceRow;
  place_fault: PlaceFaultRow;
  outbox: OutboxRow;
  delivery: DeliveryRow;
  attempt: AttemptRow;
  mail_frame: MailFrameRow;
  limit_notice: LimitNoticeRow;
  workspace_spam: WorkspaceSpamRow;
  endpoint_spam: EndpointSpamRow;
  remembered_text: RememberedTextRow;
  remembered_text_key: RememberedTextKeyRow;
  lesson: LessonRow;
  learned_weights: LearnedWeightsRow;
  held: HeldRow;
  untrusted_proxy: UntrustedProxyRow;
  told_problem: ToldProblemRow;
  ignored_redirect: IgnoredRedirectRow;
  held_network: HeldNetworkRow;
  held_total: HeldTotalRow;
  refused_origin: RefusedOriginRow;
}

interface AccountRow {
  id: string;
  email: string;
  created_at: number;
  is_operator: Generated<number>;
  email_proved_at: Generated<number | null>;
}

interface WorkspaceRow {
  id: string;
  account_id: string;
  name: string;
  plan: string;
  created_at: number;
}

interface UsageRow {
  workspace_id: string;
  /** `YYYY-MM`, UTC. */
  month: string;
  used: number;
}

interface EndpointRow {
  id: string;
  workspace_id: string;
  name: string;
  state: "active" | "paused";
  schema_version: number;
  /** JSON array of origins. */
  allowed_origins: string;
  unknown_fields: "set-aside" | "drop" | "keep" | "reject";
  /** JSON array of names; null is the built-in list. */
  honeypots: string | null;
  success_url: string | null;
  error_url: string | null;
  /** Null keeps submissions for ever. */
  keep_days: number | null;
  store_address: "full" | "short" | "none";
  created_at: number;
}

interface EndpointSchemaRow {
  endpoint_id: string;
  version: number;
  /** JSON, as the owner wrote it. */
  definition: string;
  created_at: number;
}

interface ApiKeyRow {
  id: string;
  endpoint_id: string;
  kind: "secret" | "publishable";
  lookup: string;
  hash: string;
  tag: Buffer | null;
  created_at: number;
  revoked_at: number | null;
  seen_in_browser_at: number | null;
  /** 1 once that time was reached, whatever the clock says later. */
  is_revoked: Generated<number>;
}

/** A trigger adds one for each endpoint. */
interface EndpointNumberRow {
  number: Generated<number>;
  endpoint_id: string;
}

/** What stored submissions and held posts have alike. */
interface ContentRow {
  id: string;
  schema_version: number;
  /** JSON object. */
  data: string;
  spam_score: number;
  /** JSON array of `{signal, points, field, detail}`. */
  spam_reasons: string;
  /** The version of the filter that gave the score. */
  spam_version: number;
  ip_address: string;
  user_agent: string;
  created_at: number;
  /** JSON object of what was sent beyond the schema, by path; null if nothing was set aside. */
  unknown_fields: string | null;
  /** How many such values had no room. */
  unknown_fields_dropped: number | null;
}

interface SubmissionRow extends ContentRow {
  seq: Generated<number>;
  endpoint_number: number;
  /** The notification is head, the data and tail. If tail is null, it is head alone; if head is null, there is none. */
  event_head: string | null;
  event_tail: string | null;
}

interface IdempotencyRow {
  endpoint_id: string;
  kind: "secret" | "publishable";
  key_hash: Buffer;
  body_hash: Buffer;
  submission_id: string;
  created_at: number;
}

interface SettingsVersionRow {
  id: number;
  version: number;
}

/** One row at most. */
interface UntrustedProxyRow {
  id: number;
  address: string;
  seen_at: number;
}

interface IgnoredRedirectRow {
  endpoint_id: string;
  /** Empty if it was no address of the web. */
  origin: string;
  seen_at: number;
}

interface ToldProblemRow {
  topic: string;
  told_to: string;
  /** JSON */
  finding: string;
}

interface RecipientRow {
  id: string;
  endpoint_id: string;
  max_spam_score: number;
  state: "enabled" | "disabled" | "stopped";
  breaker: "closed" | "open" | "ramping";
  breaker_count: number;
  not_before: number;
  gone_at: number | null;
  failing_since: number | null;
  created_at: number;
  kind: string;
  confirmed_at: number | null;
  refusals: Generated<number>;
}

interface WebhookRow {
  id: string;
  url: string;
  /** JSON object of strings. */
  headers: string;
  allow_private: number;
  format: Generated<string>;
  secret_url: Buffer | null;
}

interface WebhookSecretRow {
  webhook_id: string;
  key: Buffer;
  created_at: number;
  expires_at: number | null;
}

interface MailRecipientRow {
  id: string;
  address: string;
  subject: string | null;
  digest: "each" | "hourly" | "daily";
  confirmation_hash: Buffer | null;
  confirmation_expires_at: number | null;
  unsubscribe_token: string;
  unsubscribed_at: number | null;
}

interface AutoReplyRow {
  id: string;
  field: string;
  subject: string | null;
  text: string | null;
  reply_to: string | null;
  begun_at: number | null;
  sent_at: number | null;
}

interface QuotaUseRow {
  key: Buffer;
  expires_at: number;
  submission_id: string;
}

interface RecipientPaceRow {
  recipient_id: string;
  window_at: number;
  window_sent: number;
  hour_at: number;
  hour_sent: number;
  gathers_until: number | null;
}

interface PlaceFaultRow {
  kind: string;
  place: string;
  since: number;
  message: string;
  next_probe_at: number;
}

interface OutboxRow {
  number: Generated<number>;
  recipient_id: string;
  queued_at: number;
  message_count: number;
  /** JSON array of `[message id, submission id]`. */
  messages: string;
}

interface DeliveryRow {
  id: string;
  submission_id: string;
  recipient_id: string;
  state: "pending" | "sending" | "delivered" | "held" | "failed";
  attempts: Generated<number>;
  spent: Generated<number>;
  interruptions: Generated<number>;
  due_at: number;
  claimed_at: number | null;
  is_probe: Generated<number>;
  finished_at: number | null;
  last_status: number | null;
  lead_id: string | null;
}

interface AttemptRow {
  delivery_id: string;
  number: number;
  started_at: number;
  duration_ms: number;
  outcome: string;
  status: number | null;
  message: string | null;
  answer: string | null;
  is_probe: number;
}

interface WorkspaceSpamRow {
  workspace_id: string;
  /** JSON object. */
  choices: string;
}

interface EndpointSpamRow {
  endpoint_id: string;
  /** JSON object. */
  choices: string;
}

interface RememberedTextRow {
  id: Generated<number>;
  workspace_id: string;
  /** JSON array of integers. */
  keys: string;
  sketch: Buffer;
  /** JSON array of `[email, network]` hashes. */
  senders: string;
  marked_spam: Generated<number>;
  marked_ham: Generated<number>;
}

interface RememberedTextKeyRow {
  key: number;
  text_id: number;
}

interface LessonRow {
  id: Generated<number>;
  workspace_id: string;
  submission_id: string;
  mark: "spam" | "ham";
  email: string | null;
  text_id: number | null;
  buckets: Buffer;
  /** In thousandths. */
  odds: number;
  created_at: number;
}

interface LearnedWeightsRow {
  workspace_id: string;
  version: number;
  weights: Buffer;
}

interface HeldRow extends ContentRow {
  workspace_id: string;
  endpoint_id: string;
  why: "spam" | "limit" | "origin";
  trapped: number;
  /** A hash of the submitter's network; the address itself in rows of earlier versions. */
  network: string;
  /** SHA-256 over the hashes of the Idempotency-Key and the body, and the kind of key; without the last in rows of earlier versions. */
  key_hash: Buffer | null;
  /** Of the page, if the post is held for it. */
  origin: string | null;
  /** Of its texts. */
  bytes: number;
}

/** Triggers keep it equal to what `held` has. */
interface HeldNetworkRow {
  workspace_id: string;
  network: string;
  posts: number;
  /** The post of this network that is deleted first. */
  first_trapped: number;
  first_id: string;
}

/** Triggers count the posts. */
interface RefusedOriginRow {
  endpoint_id: string;
  origin: string;
  posts: number;
  last_at: number;
  ignored: Generated<number>;
}

interface HeldTotalRow {
  workspace_id: string;
  posts: number;
  /** Of the texts of its posts. */
  bytes: number;
  /** Posts that were deleted because there were too many, since the beginning. */
  evicted: number;
  evicted_at: number | null;
}
