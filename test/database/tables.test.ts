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
  account: { id: "TEXT", email: "TEXT", created_at: "INTEGER" },
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
  },
  submission: {
    seq: "INTEGER",
    id: "TEXT",
    endpoint_id: "TEXT",
    schema_version: "INTEGER",
    data: "TEXT",
    spam_score: "INTEGER",
    spam_reasons: "TEXT",
    ip_address: "TEXT",
    user_agent: "TEXT",
    created_at: "INTEGER",
  },
  idempotency: {
    endpoint_id: "TEXT",
    key_hash: "BLOB",
    body_hash: "BLOB",
    submission_id: "TEXT",
    created_at: "INTEGER",
  },
  settings_version: { id: "INTEGER", version: "INTEGER" },
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
