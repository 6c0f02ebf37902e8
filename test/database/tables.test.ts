import type { Generated } from "kysely";
import { expect, test } from "vitest";
import type { Tables } from "../../src/database/tables.ts";
import { temporaryDatabase } from "../support/temporary-database.ts";

/** What a column is in SQL by its type in TypeScript: the compiler refuses an entry below that is not so. */
type SqlOf<Value> = [null] extends [Value]
  ? `${SqlOf<NonNullable<Value>>} NULL`
  : [Value] extends [Generated<infer Inner>]
    ? SqlOf<Inner>
    : [Value] extends [string]
      ? "TEXT"
      : [Value] extends [number]
        ? "INTEGER"
        : [Value] extends [Buffer]
          ? "BLOB"
          : never;

/** A column that is missing here, or too many, does not compile; one that differs from the file fails the test. */
const columns: { readonly [T in keyof Tables]: { readonly [C in keyof Tables[T]]: SqlOf<Tables[T][C]> } } = {
  account: { id: "TEXT", email: "TEXT", created_at: "INTEGER", is_operator: "INTEGER" },
  workspace: { id: "TEXT", account_id: "TEXT", name: "TEXT", plan: "TEXT", created_at: "INTEGER" },
  usage: { workspace_id: "TEXT", month: "TEXT", used: "INTEGER" },
  endpoint: {
    id: "TEXT",
    workspace_id: "TEXT",
    name: "TEXT",
    state: "TEXT",
    schema_version: "INTEGER",
    allowed_origins: "TEXT",
    unknown_fields: "TEXT",
    honeypots: "TEXT NULL",
    success_url: "TEXT NULL",
    error_url: "TEXT NULL",
    keep_days: "INTEGER NULL",
    store_address: "TEXT",
    created_at: "INTEGER",
  },
  endpoint_schema: { endpoint_id: "TEXT", version: "INTEGER", definition: "TEXT", created_at: "INTEGER" },
  api_key: {
    id: "TEXT",
    endpoint_id: "TEXT",
    kind: "TEXT",
    lookup: "TEXT",
    hash: "TEXT",
    created_at: "INTEGER",
    revoked_at: "INTEGER NULL",
    seen_in_browser_at: "INTEGER NULL",
    is_revoked: "INTEGER",
  },
  endpoint_number: { number: "INTEGER", endpoint_id: "TEXT" },
  submission: {
    seq: "INTEGER",
    id: "TEXT",
    endpoint_number: "INTEGER",
    schema_version: "INTEGER",
    data: "TEXT",
    spam_score: "INTEGER",
    spam_reasons: "TEXT",
    spam_version: "INTEGER",
    ip_address: "TEXT",
    user_agent: "TEXT",
    created_at: "INTEGER",
    event_head: "TEXT NULL",
    event_tail: "TEXT NULL",
  },
  idempotency: {
    endpoint_id: "TEXT",
    kind: "TEXT",
    key_hash: "BLOB",
    body_hash: "BLOB",
    submission_id: "TEXT",
    created_at: "INTEGER",
  },
  webhook: {
    id: "TEXT",
    url: "TEXT",
    headers: "TEXT",
    allow_private: "INTEGER",
  },
  recipient: {
    id: "TEXT",
    endpoint_id: "TEXT",
    max_spam_score: "INTEGER",
    state: "TEXT",
    breaker: "TEXT",
    breaker_count: "INTEGER",
    not_before: "INTEGER",
    gone_at: "INTEGER NULL",
    failing_since: "INTEGER NULL",
    created_at: "INTEGER",
    kind: "TEXT",
  },
  webhook_secret: {
    webhook_id: "TEXT",
    key: "BLOB",
    created_at: "INTEGER",
    expires_at: "INTEGER NULL",
  },
  outbox: {
    number: "INTEGER",
    recipient_id: "TEXT",
    queued_at: "INTEGER",
    message_count: "INTEGER",
    messages: "TEXT",
  },
  delivery: {
    id: "TEXT",
    submission_id: "TEXT",
    recipient_id: "TEXT",
    state: "TEXT",
    attempts: "INTEGER",
    spent: "INTEGER",
    interruptions: "INTEGER",
    due_at: "INTEGER",
    claimed_at: "INTEGER NULL",
    is_probe: "INTEGER",
    finished_at: "INTEGER NULL",
    last_status: "INTEGER NULL",
  },
  attempt: {
    delivery_id: "TEXT",
    number: "INTEGER",
    started_at: "INTEGER",
    duration_ms: "INTEGER",
    outcome: "TEXT",
    status: "INTEGER NULL",
    message: "TEXT NULL",
    answer: "TEXT NULL",
    is_probe: "INTEGER",
  },
  settings_version: { id: "INTEGER", version: "INTEGER" },
  workspace_spam: { workspace_id: "TEXT", choices: "TEXT" },
  endpoint_spam: { endpoint_id: "TEXT", choices: "TEXT" },
  remembered_text: {
    id: "INTEGER",
    workspace_id: "TEXT",
    keys: "TEXT",
    sketch: "BLOB",
    senders: "TEXT",
    marked_spam: "INTEGER",
    marked_ham: "INTEGER",
  },
  remembered_text_key: { key: "INTEGER", text_id: "INTEGER" },
  lesson: {
    id: "INTEGER",
    workspace_id: "TEXT",
    submission_id: "TEXT",
    mark: "TEXT",
    email: "TEXT NULL",
    text_id: "INTEGER NULL",
    buckets: "BLOB",
    odds: "INTEGER",
    created_at: "INTEGER",
  },
  learned_weights: { workspace_id: "TEXT", version: "INTEGER", weights: "BLOB" },
  held: {
    id: "TEXT",
    workspace_id: "TEXT",
    endpoint_id: "TEXT",
    why: "TEXT",
    trapped: "INTEGER",
    network: "TEXT",
    key_hash: "BLOB NULL",
    schema_version: "INTEGER",
    data: "TEXT",
    spam_score: "INTEGER",
    spam_reasons: "TEXT",
    spam_version: "INTEGER",
    ip_address: "TEXT",
    user_agent: "TEXT",
    created_at: "INTEGER",
  },
  untrusted_proxy: { id: "INTEGER", address: "TEXT", seen_at: "INTEGER" },
  held_network: {
    workspace_id: "TEXT",
    network: "TEXT",
    posts: "INTEGER",
    first_trapped: "INTEGER",
    first_id: "TEXT",
  },
  held_total: { workspace_id: "TEXT", posts: "INTEGER", evicted: "INTEGER", evicted_at: "INTEGER NULL" },
  credential: {
    account_id: "TEXT",
    password_hash: "TEXT",
    totp_secret: "BLOB NULL",
    totp_step: "INTEGER NULL",
    changed_at: "INTEGER",
  },
  recovery_code: { account_id: "TEXT", hash: "BLOB" },
  sign_in_link: { account_id: "TEXT", token_hash: "BLOB", expires_at: "INTEGER" },
  session: {
    id: "TEXT",
    account_id: "TEXT",
    secret_hash: "BLOB",
    created_at: "INTEGER",
    seen_at: "INTEGER",
    user_agent: "TEXT",
    ip_address: "TEXT NULL",
  },
  submission_read: { submission_id: "TEXT", account_id: "TEXT" },
  audit_event: {
    id: "INTEGER",
    at: "INTEGER",
    account_id: "TEXT NULL",
    email: "TEXT NULL",
    workspace_id: "TEXT NULL",
    action: "TEXT",
    subject: "TEXT",
    detail: "TEXT NULL",
  },
};

interface Column {
  readonly table: string;
  readonly name: string;
  readonly type: string;
  readonly notnull: number;
  readonly pk: number;
}

test("the row types are the tables of the file: every table, every column, its type and whether it may be null", () => {
  const found = temporaryDatabase()
    .prepare(
      `SELECT t.name AS "table", c.name, c.type, c."notnull", c.pk FROM pragma_table_list t, pragma_table_info(t.name) c
       WHERE t.schema = 'main' AND t.type = 'table' AND t.name NOT LIKE 'sqlite%'`,
    )
    .all() as Column[];
  const actual: Record<string, Record<string, string>> = {};
  for (const { table, name, type, notnull, pk } of found) {
    actual[table] ??= {};
    actual[table][name] = notnull === 1 || pk > 0 ? type : `${type} NULL`;
  }
  expect(actual).toEqual(columns);
});
