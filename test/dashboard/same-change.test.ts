import { expect, test } from "vitest";
import { mailRecipientOperations } from "../../src/mail/recipients/recipient-operations.ts";
import { setRecipientEnabled } from "../../src/outbox/queue/recipient-store.ts";
import { storePassword, storeRecoveryCodes, storeTotp } from "../../src/sessions/credential-store.ts";
import { startSession } from "../../src/sessions/session.ts";
import { webhookOperations } from "../../src/webhooks/webhook-operations.ts";
import { insertAccountRows } from "../../src/workspaces/workspace-store.ts";
import { operatorMachine } from "../support/operator-machine.ts";
import {
  begin,
  confirming,
  countRows,
  type PageWrite,
  sameChanges,
  sending,
} from "../support/same-changes.ts";
import { performOn } from "../support/terminal.ts";
import { goodPost } from "../support/test-server.ts";
import { until } from "../support/until.ts";

/*
 * A page and a command that make the same change leave the same rows, with the record of it; only who did it differs. Members, notes,
 * moves of forms, and names, owners and ends of workspaces and accounts are in same-people-changes.test.ts, with the API.
 */

const ADA = "ada@example.com";
const BEN = "ben@example.com";

test("an endpoint is made, set, given other fields, paused, opened and deleted", async () => {
  const { server, home } = await begin();
  const { endpointId: id } = home;
  const path = `/dashboard/endpoints/${id}`;
  const [name] = server.owner.prepare("SELECT name FROM endpoint").pluck().all() as string[];
  const machine = operatorMachine();
  const example = machine.write("example.json", {
    name: { type: "string", required: true, label: "Your name", maxLength: 100 },
    email: { type: "string", format: "email", required: true, label: "E-mail" },
    message: { type: "string", label: "Message", maxLength: 5000 },
  });
  const schema = machine.write("schema.json", { a: { type: "number", maximum: 3 } });
  const created = "/dashboard/endpoints/new";
  const settings = {
    allowed_origins: "https://example.com",
    keep_days: "9",
    honeypots: "fax",
    unknown_fields: "keep",
  };
  const flags = ["--allow-origin", settings.allowed_origins, "--keep-days", "9", "--honeypot", "fax"];
  const json = { action: "save", view: "json", schema: '{"a":{"type":"number","maximum":3}}' };
  const rows = await sameChanges(server, [
    [
      "endpoint.create",
      sending(created, { name: "News", action: "create" }, created, 201),
      ["endpoint", "create", "--name", "News", "--schema", example],
    ],
    ["endpoint.set", sending(path, settings), ["endpoint", "set", id, ...flags, "--unknown-fields", "keep"]],
    ["schema.set", sending(`${path}/fields`, json), ["schema", "set", id, schema]],
    ["endpoint.pause", sending(path, { state: "paused" }, `${path}/state`), ["endpoint", "pause", id]],
    ["endpoint.resume", sending(path, { state: "active" }, `${path}/state`), ["endpoint", "resume", id]],
  ]);
  expect(countRows(rows, /^endpoint .*News/)).toBe(1);
  expect(countRows(rows, /^endpoint .*"keep_days":9/)).toBe(1);
  expect(countRows(rows, /^endpoint_schema .*maximum/)).toBe(1);
  const left = await sameChanges(server, [
    [
      "endpoint.delete",
      sending(path, { confirm: name ?? "" }, `${path}/delete`),
      ["endpoint", "delete", id, "--yes"],
    ],
  ]);
  expect(countRows(left, /^endpoint /)).toBe(0);
});

test("keys are issued, rotated and revoked", async () => {
  const { server, home } = await begin();
  const { endpointId, keyId } = home;
  const path = `/dashboard/endpoints/${endpointId}/keys`;
  const other = String(
    server.owner.prepare("SELECT id FROM api_key WHERE kind = 'publishable'").pluck().get(),
  );
  const rows = await sameChanges(server, [
    [
      "key.issue",
      sending(path, { kind: "secret" }, path, 201),
      ["key", "issue", endpointId, "--kind", "secret"],
    ],
    ["key.rotate", sending(path, { grace: "now" }, `${path}/${keyId}/rotate`, 201), ["key", "rotate", keyId]],
    ["key.revoke", sending(path, {}, `${path}/${other}/revoke`), ["key", "revoke", other]],
  ]);
  expect(countRows(rows, /^api_key .*new key/)).toBe(2);
  expect(countRows(rows, /^api_key .*"is_revoked":1/)).toBe(2);
});

test("spam settings of an endpoint and of a workspace are set", async () => {
  const { server, home } = await begin();
  const { endpointId, workspaceId } = home;
  const save = { action: "save", maxLinks: "1", keywords: "casino = 40" };
  const flags = ["--max-links", "1", "--keyword", "casino=40"];
  const rows = await sameChanges(server, [
    [
      "spam.set",
      sending(`/dashboard/spam/endpoints/${endpointId}`, save),
      ["spam", "set", "--endpoint", endpointId, ...flags],
    ],
    [
      "spam.set",
      sending(`/dashboard/spam/workspaces/${workspaceId}`, save),
      ["spam", "set", "--workspace", workspaceId, ...flags],
    ],
  ]);
  expect(countRows(rows, /^(?:endpoint|workspace)_spam /)).toBe(2);
});

test("submissions are marked and deleted, held posts are released and dropped", async () => {
  const { server, home } = await begin();
  const { owner } = server;
  // Else the dashboard's server would send what is released.
  await performOn(owner, webhookOperations.delete, { webhook: home.webhookId });
  await performOn(owner, mailRecipientOperations.delete, { recipient: home.mailRecipientId });
  const [first = ""] = home.submissionIds;
  const { json } = await server.post(home.secret, goodPost);
  const second = String(json["submission_id"]);
  for (const name of ["A robot", "Another robot"])
    await server.post(home.secret, { ...goodPost, name, _gotcha: "x" });
  await until(() => owner.prepare("SELECT 1 FROM held LIMIT 1 OFFSET 2").pluck().get());
  const [one = "", other = "", last = ""] = owner
    .prepare("SELECT id FROM held ORDER BY id")
    .pluck()
    .all() as string[];
  const mark = (id: string, what: string): PageWrite =>
    sending(`/dashboard/submissions/${id}`, { do: what }, `/dashboard/bulk?on=${id}`);
  const purge = confirming("/dashboard/bulk", { id: second, do: "purge" });
  const rows = await sameChanges(server, [
    ["submission.mark", mark(first, "spam"), ["submission", "mark", first, "spam"]],
    ["submission.mark", mark(second, "ham"), ["submission", "mark", second, "ham"]],
    ["submission.mark", mark(second, "none"), ["submission", "mark", second, "none"]],
    ["submission.delete", mark(second, "delete"), ["submission", "delete", second, "--yes"]],
    ["submission.set", mark(first, "done"), ["submission", "set", first, "--state", "done"]],
    ["submission.undelete", mark(second, "undelete"), ["submission", "undelete", second]],
    ["submission.delete", purge, ["submission", "delete", second, "--now", "--yes"]],
    [
      "held.release",
      sending(`/dashboard/held/${one}`, {}, "/dashboard/held/release"),
      ["held", "release", one],
    ],
    ["held.drop", confirming("/dashboard/held/drop", { id: other }), ["held", "drop", other, "--yes"]],
    ["held.drop", confirming("/dashboard/held/drop-all", { newest: last }), ["held", "drop-all", "--yes"]],
  ]);
  expect(countRows(rows, /^held /)).toBe(0);
  expect(countRows(rows, /^submission /)).toBe(2);
});

test("a webhook is added, changed, paused, started, given a new secret and deleted", async () => {
  const { server, home } = await begin();
  const { endpointId, webhookId: id } = home;
  const path = `/dashboard/webhooks/${id}`;
  const created = "/dashboard/webhooks/new";
  const url = "https://example.com/hook";
  const edited = { url: "https://example.com/moved", max_spam_score: "40" };
  const rows = await sameChanges(server, [
    [
      "webhook.create",
      sending(created, { endpoint: endpointId, url }, created, 201),
      ["webhook", "create", "--endpoint", endpointId, "--url", url],
    ],
    [
      "webhook.set",
      sending(`${path}/edit`, { ...edited, allow_private: "on" }),
      ["webhook", "set", id, "--url", edited.url, "--max-spam-score", "40"],
    ],
    ["webhook.disable", sending(path, {}, `${path}/disable`), ["webhook", "disable", id]],
    ["webhook.enable", sending(path, {}, `${path}/enable`), ["webhook", "enable", id]],
    [
      "webhook.rotate-secret",
      sending(`${path}/rotate-secret`, {}, `${path}/rotate-secret`, 201),
      ["webhook", "rotate-secret", id],
    ],
  ]);
  expect(countRows(rows, /^webhook .*moved/)).toBe(1);
  const left = await sameChanges(server, [
    ["webhook.delete", sending(`${path}/delete`, {}), ["webhook", "delete", id, "--yes"]],
  ]);
  expect(countRows(left, /^webhook /)).toBe(0);
});

test("an e-mail recipient and the automatic reply are changed, and an e-mail is sent again", async () => {
  const { server, home } = await begin();
  const { mailRecipientId: id, mailDeliveryId } = home;
  const path = `/dashboard/recipients/${id}`;
  const edited = { digest: "daily", max_spam_score: "40", subject: "{endpoint}: {name}" };
  const message = `${path}/deliveries/${mailDeliveryId}`;
  const reply = `/dashboard/endpoints/${home.endpointId}/reply`;
  const set = ["set", home.endpointId, "--text", "Thanks."];
  const rows = await sameChanges(server, [
    [
      "recipient.set",
      sending(`${path}/edit`, edited),
      ["recipient", "set", id, "--digest", "daily", "--max-spam-score", "40", "--subject", edited.subject],
    ],
    ["recipient.disable", sending(path, {}, `${path}/disable`), ["recipient", "disable", id]],
    ["recipient.replay", sending(message, {}, `${message}/replay`), ["mail", "replay", mailDeliveryId]],
    ["recipient.enable", sending(path, {}, `${path}/enable`), ["recipient", "enable", id]],
    ["autoreply.off", sending(reply, {}, `${reply}/off`), ["autoreply", "off", home.endpointId]],
    ["autoreply.set", sending(reply, { action: "save", text: "Thanks." }), ["autoreply", ...set]],
  ]);
  expect(countRows(rows, /^mail_recipient .*"digest":"daily"/)).toBe(1);
  expect(countRows(rows, /^auto_reply .*"text":"Thanks\."/)).toBe(1);
  const left = await sameChanges(server, [
    ["recipient.delete", sending(`${path}/delete`, {}), ["recipient", "remove", id, "--yes"]],
  ]);
  expect(countRows(left, /^mail_recipient /)).toBe(0);
});

test("messages are sent again, one and all that were given up", async () => {
  const { server, home } = await begin();
  const { owner } = server;
  const { webhookId, deliveryId } = home;
  // Else one of the two could be further with what waits for it.
  await performOn(owner, mailRecipientOperations.delete, { recipient: home.mailRecipientId });
  await server.post(home.secret, goodPost);
  await until(() =>
    owner.prepare("SELECT 1 FROM delivery WHERE state = 'delivered' LIMIT 1 OFFSET 1").pluck().get(),
  );
  owner.execute("UPDATE delivery SET state = 'failed'");
  // It then keeps what is to be sent, else the dashboard's server would send it.
  owner.now(() => setRecipientEnabled(webhookId, false));
  const path = `/dashboard/webhooks/${webhookId}`;
  const rows = await sameChanges(server, [
    [
      "webhook.replay",
      sending(`${path}/deliveries/${deliveryId}`, {}, `${path}/deliveries/${deliveryId}/replay`),
      ["webhook", "replay", deliveryId],
    ],
    [
      "webhook.replay",
      sending(path, { which: "failed" }, `${path}/replay`),
      ["webhook", "replay", "--failed", "--webhook", webhookId],
    ],
  ]);
  expect(countRows(rows, /^delivery .*"state":"held"/)).toBe(2);
});

test("a workspace and an account are made, the plan is set, and an account gets help with its sign-in", async () => {
  const { server, home } = await begin();
  const { owner } = server;
  const ben = owner.now(function* () {
    const now = Date.now();
    const { id } = (yield* insertAccountRows(BEN, now)).account;
    yield* storePassword(id, "hash", now);
    yield* storeTotp(id, Buffer.from("secret"), 1, now);
    yield* storeRecoveryCodes(id, [Buffer.alloc(32, 1)]);
    return id;
  });
  const accounts = "/dashboard/system/accounts";
  const workspaces = "/dashboard/system/workspaces";
  const path = `${accounts}/${ben}`;
  const plan = `${workspaces}/${home.workspaceId}/plan`;
  const rows = await sameChanges(server, [
    [
      "account.create",
      sending(accounts, { email: "new@example.com" }),
      ["account", "create", "new@example.com"],
    ],
    [
      "workspace.create",
      sending(workspaces, { name: "Client sites", account: BEN }),
      ["workspace", "create", "--name", "Client sites", "--account", BEN],
    ],
    [
      "workspace.set-plan",
      sending(workspaces, { plan: "pro" }, plan),
      ["workspace", "set-plan", home.workspaceId, "pro"],
    ],
    [
      "account.make-operator",
      sending(path, { operator: "yes" }, `${path}/operator`),
      ["account", "set", BEN, "--operator"],
    ],
    [
      "account.unmake-operator",
      sending(path, { operator: "no" }, `${path}/operator`),
      ["account", "set", BEN, "--no-operator"],
    ],
    ["account.reset-totp", sending(path, {}, `${path}/reset-totp`), ["account", "reset-totp", BEN]],
    [
      "account.sign-in-link",
      sending(path, {}, `${path}/sign-in-link`, 201),
      ["account", "sign-in-link", BEN],
    ],
  ]);
  expect(countRows(rows, /^recovery_code /)).toBe(0);
  expect(countRows(rows, /^sign_in_link /)).toBe(1);
  owner.now(() => startSession(ben, { userAgent: "Firefox", ipAddress: null }, Date.now()));
  const left = await sameChanges(server, [
    [
      "account.end-sessions",
      sending(path, {}, `${path}/end-sessions`),
      ["account", "end-sessions", BEN, "--yes"],
    ],
  ]);
  expect(countRows(left, /^session /)).toBe(0);
});

test("one of an account's browsers is signed out", async () => {
  const { server, home } = await begin();
  const { id } = server.owner.now(() =>
    startSession(home.accountId, { userAgent: "Firefox", ipAddress: null }, Date.now()),
  );
  const rows = await sameChanges(server, [
    [
      "account.end-sessions",
      sending("/dashboard/account", { session: id }, "/dashboard/account/sessions/end"),
      ["account", "end-sessions", ADA, "--session", id, "--yes"],
    ],
  ]);
  expect(countRows(rows, /^audit_event .*"1 ended"/)).toBe(1);
});
