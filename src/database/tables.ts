import type { Generated } from "kysely";

/** Row types of every table, as `migrations/` creates them. Times are milliseconds since 1970 UTC. */
export interface Tables {
  account: AccountRow;
  workspace: WorkspaceRow;
  usage: UsageRow;
  endpoint: EndpointRow;
  endpoint_schema: EndpointSchemaRow;
  api_key: ApiKeyRow;
  submission: SubmissionRow;
  idempotency: IdempotencyRow;
  settings_version: SettingsVersionRow;
}

interface AccountRow {
  id: string;
  email: string;
  created_at: number;
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
  unknown_fields: "drop" | "keep" | "reject";
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
  created_at: number;
  revoked_at: number | null;
  seen_in_browser_at: number | null;
}

interface SubmissionRow {
  seq: Generated<number>;
  id: string;
  endpoint_id: string;
  schema_version: number;
  /** JSON object. */
  data: string;
  spam_score: number;
  /** JSON array of `{signal, points, field, detail}`. */
  spam_reasons: string;
  ip_address: string;
  user_agent: string;
  created_at: number;
}

interface IdempotencyRow {
  endpoint_id: string;
  key_hash: Buffer;
  body_hash: Buffer;
  submission_id: string;
  created_at: number;
}

interface SettingsVersionRow {
  id: number;
  version: number;
}
