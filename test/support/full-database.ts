import type { Insertable } from "kysely";
import { type Database, query } from "../../src/database/database.ts";
import { run, type Steps } from "../../src/database/steps.ts";
import type { Tables } from "../../src/database/tables.generated.ts";
import { newId } from "../../src/foundation/id.ts";
import { NOON } from "./fake-clock.ts";
import { fillFiles } from "./fill-files.ts";
import { fillInvitations } from "./fill-invitations.ts";
import { fillSignIn } from "./fill-sign-in.ts";
import { DAY_MS } from "../../src/foundation/time-units.ts";

/** A text with what has caused faults in engines, drivers and encodings. It has no NUL. */
const HOSTILE = "Zoë's \"quote\" \\ % _ ? $1 {} \u{1F600} \u2028 \uFFFD 'ß";

/** The ids of what {@link fillEveryTable} stores. */
export interface Filled {
  readonly accountId: string;
  readonly workspaceId: string;
  readonly endpointIds: readonly string[];
  readonly submissionIds: readonly string[];
  readonly heldIds: readonly string[];
  readonly recipientIds: readonly string[];
}

/** Stores rows in every table, enough that lists have an order and a second page. */
export async function fillEveryTable(db: Database): Promise<Filled> {
  const ids = {
    accountId: newId("acct", NOON),
    workspaceId: newId("ws", NOON),
    endpointIds: make(3, "ep"),
    submissionIds: make(40, "sub"),
    heldIds: make(12, "held"),
    recipientIds: make(3, "wh"),
  };
  await db.transaction(function* () {
    yield* fillAccounts(ids);
    yield* fillEndpoints(ids);
    yield* fillRedirects(ids);
    yield* fillSubmissions(ids);
    yield* fillHeld(ids);
    yield* fillFiles(ids, HOSTILE);
    yield* fillHistory(ids);
    yield* fillRecipients(ids);
    yield* fillDeliveries(ids);
    yield* fillOutbox(ids);
  });
  return ids;
}

function make(count: number, prefix: Parameters<typeof newId>[0]): string[] {
  return Array.from({ length: count }, (_, index) => newId(prefix, NOON + index * 1000));
}

function* insert<Table extends keyof Tables>(
  table: Table,
  ...rows: readonly Insertable<Tables[Table]>[]
): Steps<void> {
  for (const row of rows) yield* run(query.insertInto(table).values(row));
}

function* fillAccounts({ accountId, workspaceId }: Filled): Steps<void> {
  yield* insert("account", { id: accountId, email: "Ana@Example.org", created_at: NOON, is_operator: 1 });
  yield* insert("workspace", {
    id: workspaceId,
    account_id: accountId,
    name: HOSTILE,
    plan: "hobby",
    brand_colour: "#0b6e5f",
    brand_name: HOSTILE,
    brand_footer: HOSTILE,
    created_at: NOON,
  });
  yield* fillInvitations(workspaceId, accountId);
  yield* insert("usage", { workspace_id: workspaceId, month: "2026-06", used: 7 });
  yield* insert("limit_notice", { workspace_id: workspaceId, month: "2026-06", what: "near", told_at: NOON });
  yield* insert("workspace_spam", { workspace_id: workspaceId, choices: '{"threshold":60}' });
  yield* fillSignIn(accountId, HOSTILE);
  yield* insert("audit_event", {
    at: NOON,
    account_id: accountId,
    email: "ana@example.org",
    token_id: "tok_gone",
    token_name: HOSTILE,
    terminal_user: null,
    workspace_id: null,
    action: "account.create",
    subject: HOSTILE,
    detail: null,
  });
  yield* insert("api_answer", {
    owner: accountId,
    operation: "endpoint.create",
    key_hash: Buffer.alloc(32, 9),
    body_hash: Buffer.alloc(32, 10),
    status: 201,
    answer: JSON.stringify({ name: HOSTILE }),
    created_at: NOON,
  });
  yield* insert("api_token", token({ account_id: accountId, workspace_id: null, endpoint_id: null }));
  yield* insert("login_request", {
    device_hash: Buffer.alloc(32, 11),
    user_code: "BCDF-GHJK",
    client_name: "ada on laptop",
    scopes: "endpoints:read",
    client_address: "203.0.113.9",
    state: "approved",
    account_id: accountId,
    polled_at: 5,
    created_at: 5,
  });
  yield* insert("settings_change", { slot: 1, version: 1, subject: "everything" });
  yield* insert("clock_seen", { id: 1, seen_at: NOON, doubted_at: NOON, waited_ms: 7 });
  yield* insert("untrusted_proxy", { id: 1, address: "192.0.2.1", seen_at: NOON });
  yield* insert("told_problem", { topic: HOSTILE, told_to: "ops@example.org", finding: "{}" });
}

function token(bound: Pick<Tables["api_token"], "account_id" | "workspace_id" | "endpoint_id">) {
  const id = newId("tok", NOON);
  return {
    ...bound,
    id,
    name: HOSTILE,
    lookup: id.slice(-12),
    hash: Buffer.alloc(32, 8),
    scopes: '["endpoints:read"]',
    created_at: NOON,
    expires_at: NOON + DAY_MS,
    last_used_at: null,
    revoked_at: null,
  };
}

function* fillRedirects({ endpointIds }: Filled): Steps<void> {
  for (const id of endpointIds)
    yield* insert("page_fault", { endpoint_id: id, kind: "redirect", what: HOSTILE, seen_at: NOON });
}

function* fillEndpoints({ workspaceId, endpointIds }: Filled): Steps<void> {
  for (const id of endpointIds) {
    yield* insert("endpoint", {
      id,
      workspace_id: workspaceId,
      name: "Contact",
      state: "active",
      schema_version: 1,
      allowed_origins: "[]",
      unknown_fields: "drop",
      honeypots: null,
      success_url: null,
      error_url: null,
      language: "de",
      keep_days: 30,
      store_address: "full",
      created_at: NOON,
    });
    yield* insert("endpoint_schema", { endpoint_id: id, version: 1, definition: "{}", created_at: NOON });
    yield* insert("endpoint_spam", { endpoint_id: id, choices: "{}" });
    yield* insert("api_token", token({ account_id: null, workspace_id: workspaceId, endpoint_id: id }));
    yield* insert("refused_origin", {
      endpoint_id: id,
      origin: "https://a.example",
      posts: 3,
      last_at: NOON,
    });
    yield* insert("api_key", {
      id: newId("key", NOON),
      endpoint_id: id,
      kind: "secret",
      lookup: id.slice(-12),
      hash: "$argon2id$",
      created_at: NOON,
      revoked_at: NOON + DAY_MS,
      seen_in_browser_at: NOON,
    });
    yield* insert("spent_proof", { id: Buffer.from(id), used_by: "sub_x", expires_at: 1 });
    yield* insert("idempotency", {
      endpoint_id: id,
      kind: "secret",
      key_hash: Buffer.alloc(32, 2),
      body_hash: Buffer.alloc(32, 3),
      submission_id: "sub_gone",
      created_at: NOON,
    });
  }
}

const content = (id: string, index: number) => ({
  id,
  schema_version: 1,
  data: JSON.stringify({ message: index % 3 === 0 ? `A Quiet Table ${HOSTILE} \0` : "else", index }),
  spam_score: index % 76,
  spam_reasons: "[]",
  spam_version: 1,
  ip_address: "192.0.2.1",
  user_agent: HOSTILE,
  created_at: NOON + index * 1000,
});

function* fillSubmissions({ accountId, submissionIds }: Filled): Steps<void> {
  for (const [index, id] of submissionIds.entries()) {
    const endpointNumber = (index % 3) + 1;
    const leftOut = { id: "wh_1", kind: "webhook", field: HOSTILE, is: "=", value: HOSTILE };
    const sent = { event_head: "{", event_tail: "}", not_sent: JSON.stringify([leftOut]) };
    const event = index % 2 === 0 ? sent : {};
    yield* insert("submission", { ...content(id, index), endpoint_number: endpointNumber, ...event });
    if (index % 7 === 0) yield* insert("reply_language", { submission_id: id, language: "de" });
    if (index % 4 === 0) yield* insert("submission_read", { submission_id: id, account_id: accountId });
    if (index % 5 === 0) {
      yield* insert("submission_work", {
        id,
        endpoint_number: endpointNumber,
        state: index % 2 === 0 ? "done" : "open",
        assignee_id: index % 3 === 0 ? accountId : null,
      });
      yield* insert("submission_note", {
        id: newId("note", NOON + index),
        submission_id: id,
        text: HOSTILE,
        author: index % 2 === 0 ? HOSTILE : null,
        created_at: NOON + index,
      });
    }
    if (index % 7 === 6)
      yield* insert("submission_bin", { id, endpoint_number: endpointNumber, deleted_at: NOON + index });
  }
}

function* fillHeld({ workspaceId, endpointIds, heldIds }: Filled): Steps<void> {
  for (const [index, id] of heldIds.entries()) {
    yield* insert("held", {
      ...content(id, index),
      workspace_id: workspaceId,
      endpoint_id: endpointIds[index % 3] ?? "",
      why: index % 2 === 0 ? "spam" : "limit",
      trapped: index % 2,
      network: `network ${index % 4}`,
      key_hash: index % 5 === 0 ? Buffer.alloc(32, index) : null,
      origin: null,
      sent_kind: index % 5 === 0 ? "secret" : null,
      sent_key_hash: index % 5 === 0 ? Buffer.alloc(32, index) : null,
      sent_body_hash: index % 5 === 0 ? Buffer.alloc(32, 255) : null,
      bytes: 100 + index,
    });
  }
}

function* fillHistory({ workspaceId, submissionIds }: Filled): Steps<void> {
  yield* insert("remembered_text", {
    workspace_id: workspaceId,
    keys: "[1,2]",
    sketch: Buffer.alloc(8, 9),
    senders: "[]",
  });
  yield* insert("remembered_text_key", { key: Number.MAX_SAFE_INTEGER, text_id: 1 });
  yield* insert("lesson", {
    workspace_id: workspaceId,
    submission_id: submissionIds[0] ?? "",
    mark: "spam",
    email: null,
    text_id: 1,
    buckets: Buffer.alloc(4, 5),
    odds: -1500,
    created_at: NOON,
  });
  yield* insert("learned_weights", { workspace_id: workspaceId, version: 1, weights: Buffer.alloc(64, 6) });
}

function* fillRecipients({ endpointIds, recipientIds }: Filled): Steps<void> {
  for (const [index, id] of recipientIds.entries()) {
    yield* insert("recipient", {
      id,
      kind: "webhook",
      endpoint_id: endpointIds[index] ?? "",
      max_spam_score: 50,
      conditions: index === 0 ? JSON.stringify([{ field: HOSTILE, is: "=", value: HOSTILE }]) : null,
      state: index === 1 ? "disabled" : "enabled",
      breaker: index === 2 ? "open" : "closed",
      breaker_count: index,
      not_before: NOON,
      gone_at: null,
      failing_since: index === 2 ? NOON : null,
      confirmed_at: index === 1 ? null : NOON,
      created_at: NOON,
    });
    yield* insert("mail_recipient", {
      id,
      address: "ada@example.org",
      subject: index === 0 ? HOSTILE : null,
      digest: "hourly",
      confirmation_hash: index === 1 ? Buffer.alloc(32, index) : null,
      confirmation_expires_at: index === 1 ? NOON : null,
      unsubscribe_token: "token",
      unsubscribed_at: null,
    });
    yield* insert("letter", {
      id: newId("msg", NOON + index),
      kind: "confirmation",
      topic: `confirmation ${id}`,
      address: "ada@example.org",
      recipient_id: id,
      content: JSON.stringify({ subject: HOSTILE, paragraphs: [], link: null }),
      state: index === 0 ? "failed" : "pending",
      due_at: NOON,
      claimed_by: null,
      last_attempt: index === 0 ? "{}" : null,
      finished_at: index === 0 ? NOON : null,
    });
    yield* insert("auto_reply", {
      id,
      field: "email",
      subject: index === 0 ? HOSTILE : null,
      text: index === 1 ? HOSTILE : null,
      reply_to: index === 2 ? id : null,
      begun_at: index === 0 ? NOON : null,
      sent_at: index === 0 ? NOON + 1 : null,
    });
    yield* insert("recipient_pace", {
      recipient_id: id,
      window_at: NOON,
      window_sent: 1,
      hour_at: NOON,
      hour_sent: 2,
      gathers_until: index === 0 ? NOON : null,
    });
    const secret = { format: "slack", secret_url: Buffer.from("https://example.org/hook") };
    yield* insert("webhook", {
      id,
      url: "https://example.org/…hook",
      headers: "{}",
      allow_private: 0,
      ...secret,
    });
    yield* insert("webhook_secret", {
      webhook_id: id,
      key: Buffer.alloc(24, index),
      created_at: NOON,
      expires_at: null,
    });
  }
}

function* fillDeliveries({ submissionIds, recipientIds }: Filled): Steps<void> {
  yield* insert("quota_use", {
    key: Buffer.alloc(32, 7),
    expires_at: NOON,
    submission_id: submissionIds[0] ?? "",
  });
  const fault = { kind: "mail", place: "mail.example.org:587", since: NOON, message: HOSTILE };
  yield* insert("place_fault", { ...fault, next_probe_at: NOON });
  // A delivery may name one that comes after it.
  const lastId = newId("msg", NOON + 19_000);
  const states = ["pending", "sending", "delivered", "held", "failed"] as const;
  for (const [index, submissionId] of submissionIds.slice(0, 20).entries()) {
    const id = index === 19 ? lastId : newId("msg", NOON + index * 1000);
    yield* insert("delivery", {
      id,
      submission_id: submissionId,
      recipient_id: recipientIds[index % 3] ?? "",
      state: states[index % 5] ?? "failed",
      due_at: NOON + index,
      claimed_at: null,
      finished_at: index % 5 === 2 ? NOON : null,
      last_status: index % 2 === 0 ? 503 : null,
      lead_id: index === 4 ? lastId : null,
    });
    if (index === 0) yield* insert("mail_frame", { delivery_id: id, frame: JSON.stringify(HOSTILE) });
    yield* insert("attempt", {
      delivery_id: id,
      number: 1,
      started_at: NOON,
      duration_ms: 12,
      outcome: "failed",
      status: 503,
      message: HOSTILE,
      answer: null,
      is_probe: 0,
    });
  }
}

function* fillOutbox({ submissionIds, recipientIds }: Filled): Steps<void> {
  for (const [index, submissionId] of submissionIds.slice(20).entries()) {
    yield* insert("outbox", {
      recipient_id: recipientIds[index % 3] ?? "",
      queued_at: NOON + index,
      message_count: 1,
      messages: JSON.stringify([[newId("msg", NOON + 60_000 + index), submissionId]]),
    });
  }
}
