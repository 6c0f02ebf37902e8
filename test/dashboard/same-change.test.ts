import { performOn } from "../support/terminal.ts";
import { expect, onTestFinished, test } from "vitest";
import { type Config, defaultConfig } from "../../src/config/config.ts";
import { CHANGE_WORDS } from "../../src/dashboard/system/change-words.ts";
import type { SqliteDatabase } from "../../src/database/sqlite/sqlite-database.ts";
import { systemClock } from "../../src/foundation/clock.ts";
import { createLog } from "../../src/foundation/log.ts";
import { deleteRecipient } from "../../src/mail/recipient-operations.ts";
import { startServer } from "../../src/server/start-server.ts";
import { storePassword, storeRecoveryCodes, storeTotp } from "../../src/sessions/credential-store.ts";
import { startSession } from "../../src/sessions/session.ts";
import { deleteWebhook } from "../../src/webhooks/webhook-operations.ts";
import { setRecipientEnabled } from "../../src/outbox/queue/recipient-store.ts";
import { insertAccountRows } from "../../src/workspaces/workspace-store.ts";
import { sendRequest } from "../support/http-client.ts";
import { operatorMachine } from "../support/operator-machine.ts";
import { furnish, type OwnerHome } from "../support/owner-home.ts";
import { formOf } from "../support/page.ts";
import { startReceiverWith } from "../support/receivers.ts";
import { changeBothWays } from "../support/same-change.ts";
import { goodPost, startServer as startTestServer, type TestServer } from "../support/test-server.ts";
import { until } from "../support/until.ts";
import { visit, type Visitor } from "../support/visitor.ts";

/*
 * A page and a command that make the same change leave the same rows, with the record of it; only who did it differs. Members, notes,
 * moves of forms, and names, owners and ends of workspaces and accounts are not here: other tests try their pages and commands.
 */

const ADA = "ada@example.com";
const BEN = "ben@example.com";
const NO_LIMITS = { monthlySubmissions: null, endpoints: null, heldBytes: null, fileBytes: null };
const UNLIMITED = { ...NO_LIMITS, customSpam: true };
const SHARED = { plans: { hobby: UNLIMITED, pro: UNLIMITED }, held: { ...defaultConfig.held, days: null } };

const config: Config = { ...defaultConfig, ...SHARED, server: { ...defaultConfig.server, port: 0 } };
const log = createLog("fatal", "json", () => ({ write: () => {} }));

/** A change that somebody makes in the dashboard. */
type PageWrite = (visitor: Visitor) => Promise<void>;

/** Sends a form of a page with these values. */
function sending(page: string, values: Record<string, string>, action = page, status = 303): PageWrite {
  return async (visitor) => {
    const form = formOf((await visitor.get(page)).text, action).values;
    for (const [name, value] of Object.entries(values)) form.set(name, value);
    const answer = await visitor.post(action, form);
    expect(answer.status, `${action}: ${answer.text}`).toBe(status);
  };
}

/** Sends what a page asks once more about. */
function confirming(action: string, values: Record<string, string>): PageWrite {
  return async (visitor) => {
    const asked = await visitor.post(action, values);
    const form = formOf(asked.text, action).values;
    expect((await visitor.post(action, form)).status).toBe(303);
  };
}

/** Ada's things, with nothing left to be sent: the dashboard's server would send it, and a command would not. */
async function begin(): Promise<{ server: TestServer; home: OwnerHome }> {
  const server = await startTestServer(SHARED);
  const receiver = await startReceiverWith((response) => response.writeHead(204).end());
  onTestFinished(() => receiver[Symbol.asyncDispose]());
  server.clock.set(Date.now() - 60_000);
  const home = await furnish(server, ADA, { receiverUrl: receiver.url });
  await until(() => server.owner.prepare("SELECT 1 FROM delivery WHERE state = 'delivered'").get());
  return { server, home };
}

/**
 * Makes changes both ways, and expects the same rows and one record of each change.
 *
 * @param changes what is recorded, the page's way and the command. @returns the rows.
 */
async function bothWays(
  { owner }: TestServer,
  changes: readonly (readonly [action: string, page: PageWrite, command: readonly string[]])[],
): Promise<readonly string[]> {
  const machine = operatorMachine(SHARED);
  const inDashboard = async (db: SqliteDatabase): Promise<void> => {
    const running = await startServer({ db, config, clock: systemClock, log });
    const request = (made: Parameters<typeof sendRequest>[1]) => sendRequest(running.url, made);
    const visitor = await visit({ owner: db, clock: systemClock, request }, ADA);
    for (const [, page] of changes) await page(visitor);
    await running.stop();
  };
  const recorded = Number(owner.prepare("SELECT count(*) FROM audit_event").pluck().get());
  const account = owner.prepare("SELECT id FROM account WHERE email = ?").pluck().get(ADA);
  const rows = await changeBothWays(machine, owner, inDashboard, ...changes.map(([, , command]) => command));
  // Being signed in and having read something are the page's own matter.
  const kept = (all: readonly string[]) =>
    all
      .filter((row) => !(/^(?:session|submission_read) /.test(row) && row.includes(String(account))))
      .map((row) => row.replace(/^(audit_event .*)"account_id":[^,]*,"email":[^,]*/, "$1"));
  expect(kept(rows.verb)).toEqual(kept(rows.command));
  const numberOf = (row: string): number => Number(/"id":(\d+)/.exec(row)?.[1]);
  const made = kept(rows.verb)
    .filter((row) => row.startsWith("audit_event "))
    .toSorted((one, other) => numberOf(one) - numberOf(other));
  const actions = made.map((row) => /"action":"([^"]+)"/.exec(row)?.[1] ?? "");
  expect(actions.slice(-changes.length)).toEqual(changes.map(([action]) => action));
  expect(actions).toHaveLength(recorded + changes.length);
  for (const action of actions) expect(CHANGE_WORDS).toHaveProperty([action]);
  return kept(rows.verb);
}

const count = (rows: readonly string[], pattern: RegExp): number =>
  rows.filter((row) => pattern.test(row)).length;

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
  const rows = await bothWays(server, [
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
  expect(count(rows, /^endpoint .*News/)).toBe(1);
  expect(count(rows, /^endpoint .*"keep_days":9/)).toBe(1);
  expect(count(rows, /^endpoint_schema .*maximum/)).toBe(1);
  const left = await bothWays(server, [
    [
      "endpoint.delete",
      sending(path, { confirm: name ?? "" }, `${path}/delete`),
      ["endpoint", "delete", id, "--yes"],
    ],
  ]);
  expect(count(left, /^endpoint /)).toBe(0);
});

test("keys are issued, rotated and revoked", async () => {
  const { server, home } = await begin();
  const { endpointId, keyId } = home;
  const path = `/dashboard/endpoints/${endpointId}/keys`;
  const other = String(
    server.owner.prepare("SELECT id FROM api_key WHERE kind = 'publishable'").pluck().get(),
  );
  const rows = await bothWays(server, [
    [
      "key.issue",
      sending(path, { kind: "secret" }, path, 201),
      ["key", "issue", endpointId, "--kind", "secret"],
    ],
    ["key.rotate", sending(path, { grace: "now" }, `${path}/${keyId}/rotate`, 201), ["key", "rotate", keyId]],
    ["key.revoke", sending(path, {}, `${path}/${other}/revoke`), ["key", "revoke", other]],
  ]);
  expect(count(rows, /^api_key .*new key/)).toBe(2);
  expect(count(rows, /^api_key .*"is_revoked":1/)).toBe(2);
});

test("spam settings of an endpoint and of a workspace are set", async () => {
  const { server, home } = await begin();
  const { endpointId, workspaceId } = home;
  const save = { action: "save", maxLinks: "1", keywords: "casino = 40" };
  const flags = ["--max-links", "1", "--keyword", "casino=40"];
  const rows = await bothWays(server, [
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
  expect(count(rows, /^(?:endpoint|workspace)_spam /)).toBe(2);
});

test("submissions are marked and deleted, held posts are released and dropped", async () => {
  const { server, home } = await begin();
  const { owner } = server;
  // Else the dashboard's server would send what is released.
  await performOn(owner, deleteWebhook, { webhook: home.webhookId });
  await performOn(owner, deleteRecipient, { recipient: home.mailRecipientId });
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
  const rows = await bothWays(server, [
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
  expect(count(rows, /^held /)).toBe(0);
  expect(count(rows, /^submission /)).toBe(2);
});

test("a webhook is added, changed, paused, started, given a new secret and deleted", async () => {
  const { server, home } = await begin();
  const { endpointId, webhookId: id } = home;
  const path = `/dashboard/webhooks/${id}`;
  const created = "/dashboard/webhooks/new";
  const url = "https://example.com/hook";
  const edited = { url: "https://example.com/moved", max_spam_score: "40" };
  const rows = await bothWays(server, [
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
  expect(count(rows, /^webhook .*moved/)).toBe(1);
  const left = await bothWays(server, [
    ["webhook.delete", sending(`${path}/delete`, {}), ["webhook", "delete", id, "--yes"]],
  ]);
  expect(count(left, /^webhook /)).toBe(0);
});

test("an e-mail recipient and the automatic reply are changed, and an e-mail is sent again", async () => {
  const { server, home } = await begin();
  const { mailRecipientId: id, mailDeliveryId } = home;
  const path = `/dashboard/recipients/${id}`;
  const edited = { digest: "daily", max_spam_score: "40", subject: "{endpoint}: {name}" };
  const message = `${path}/deliveries/${mailDeliveryId}`;
  const reply = `/dashboard/endpoints/${home.endpointId}/reply`;
  const set = ["set", home.endpointId, "--text", "Thanks."];
  const rows = await bothWays(server, [
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
  expect(count(rows, /^mail_recipient .*"digest":"daily"/)).toBe(1);
  expect(count(rows, /^auto_reply .*"text":"Thanks\."/)).toBe(1);
  const left = await bothWays(server, [
    ["recipient.delete", sending(`${path}/delete`, {}), ["recipient", "remove", id, "--yes"]],
  ]);
  expect(count(left, /^mail_recipient /)).toBe(0);
});

test("messages are sent again, one and all that were given up", async () => {
  const { server, home } = await begin();
  const { owner } = server;
  const { webhookId, deliveryId } = home;
  // Else one of the two could be further with what waits for it.
  await performOn(owner, deleteRecipient, { recipient: home.mailRecipientId });
  await server.post(home.secret, goodPost);
  await until(() =>
    owner.prepare("SELECT 1 FROM delivery WHERE state = 'delivered' LIMIT 1 OFFSET 1").pluck().get(),
  );
  owner.execute("UPDATE delivery SET state = 'failed'");
  // It then keeps what is to be sent, else the dashboard's server would send it.
  owner.now(() => setRecipientEnabled(webhookId, false));
  const path = `/dashboard/webhooks/${webhookId}`;
  const rows = await bothWays(server, [
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
  expect(count(rows, /^delivery .*"state":"held"/)).toBe(2);
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
  const rows = await bothWays(server, [
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
  expect(count(rows, /^recovery_code /)).toBe(0);
  expect(count(rows, /^sign_in_link /)).toBe(1);
  owner.now(() => startSession(ben, { userAgent: "Firefox", ipAddress: null }, Date.now()));
  const left = await bothWays(server, [
    [
      "account.end-sessions",
      sending(path, {}, `${path}/end-sessions`),
      ["account", "end-sessions", BEN, "--yes"],
    ],
  ]);
  expect(count(left, /^session /)).toBe(0);
});

test("one of an account's browsers is signed out", async () => {
  const { server, home } = await begin();
  const { id } = server.owner.now(() =>
    startSession(home.accountId, { userAgent: "Firefox", ipAddress: null }, Date.now()),
  );
  const rows = await bothWays(server, [
    [
      "account.end-sessions",
      sending("/dashboard/account", { session: id }, "/dashboard/account/sessions/end"),
      ["account", "end-sessions", ADA, "--session", id, "--yes"],
    ],
  ]);
  expect(count(rows, /^audit_event .*"1 ended"/)).toBe(1);
});
