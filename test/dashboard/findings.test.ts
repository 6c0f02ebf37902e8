import { openFileLinks, spamDefaults, WORKSPACE_CONTENTS } from "../../src/app/features.ts";
import { expect, test } from "vitest";
import { findingText } from "../../src/dashboard/system/finding-words.ts";
import { readFindings } from "../../src/dashboard/system/findings.ts";
import { run, text } from "../../src/database/steps.ts";
import { createBackground } from "../../src/foundation/background.ts";
import { silentLog } from "../support/silent-log.ts";
import { createKeyring } from "../../src/secrets/keyring.ts";
import { createSelfExamination } from "../../src/server/examine-self.ts";
import { createRateLimiter } from "../../src/foundation/rate-limit.ts";
import { createNews } from "../../src/submissions/find/news.ts";
import { ImportSpool } from "../../src/submissions/import/import-spool.ts";
import { SearchSlots } from "../../src/submissions/find/search-slots.ts";
import { checkReceivers } from "../../src/webhooks/webhook-health.ts";
import { insertWebhookRows } from "../../src/webhooks/webhook-store.ts";
import { TestSlots } from "../../src/webhooks/test-slots.ts";
import { defaultWebhookSettings } from "../../src/webhooks/webhook.ts";
import { addMailRecipient } from "../support/mail-recipients.ts";
import { defaultMailRecipientSettings } from "../../src/mail/recipients/mail-recipient.ts";
import { insertAccountRows } from "../../src/workspaces/workspace-store.ts";
import { goodPost, startServer, type TestServer } from "../support/test-server.ts";
import { until } from "../support/until.ts";
import { HOUR_MS } from "../../src/foundation/time-units.ts";

/** The lines for an account, as the inbox asks for them. */
async function linesFor(
  server: TestServer,
  accountId: string,
  isOperator = false,
): Promise<readonly string[]> {
  const { owner: db, config, clock } = server;
  const log = silentLog;
  const background = createBackground(() => {});
  const keyring = createKeyring(config.secrets);
  const parts = {
    db,
    config,
    configFile: null,
    clock,
    log,
    keyring,
    fileLinks: openFileLinks({ db, config }, keyring),
    sender: { send: async () => Promise.reject(new Error("nothing is sent")) },
    letters: null,
    storedLetters: null,
    mailTests: null,
    examine: createSelfExamination({ db, config, clock, log }, null, background),
    background,
    endpointContents: { deletions: [], moves: [] },
    workspaceContents: WORKSPACE_CONTENTS,
    spamDefaults: spamDefaults(config),
    dashboardUrl: null,
    blindness: () => null,
    news: createNews(),
    limiter: createRateLimiter(),
    searches: new SearchSlots(),
    testSlots: new TestSlots(),
    imports: new ImportSpool({ folder: "", freeBytes: () => null, minFreeBytes: 0, clock: server.clock }),
    onChange: () => {},
  };
  const viewer = { accountId, email: "a@example.com", isOperator, sessionId: "ses_1", seenAt: 0 };
  return (await readFindings(parts, viewer)).map(({ text: line }) => String(line).replaceAll(/<[^>]*>/g, ""));
}

async function withWebhook(server: TestServer) {
  const { owner, clock } = server;
  const endpoint = await server.addEndpoint();
  const settings = { ...defaultWebhookSettings, url: "https://crm.example.com/secret-path" };
  const keyring = createKeyring(server.config.secrets);
  const { webhook } = owner.now(() => insertWebhookRows(keyring, endpoint.id, settings, clock.now()));
  return { endpoint, webhook, accountId: ownerOf(server) };
}

function ownerOf({ owner }: TestServer): string {
  const [account = ""] = owner.prepare("SELECT id FROM account").pluck().all() as string[];
  return account;
}

test("an owner with nothing to do sees no line", async () => {
  const server = await startServer();
  const { accountId } = await withWebhook(server);
  expect(await linesFor(server, accountId)).toEqual([]);
});

test("a webhook that keeps failing or is stopped, and messages given up, are told to their owner and to nobody else", async () => {
  const server = await startServer();
  const { webhook, accountId, endpoint } = await withWebhook(server);
  const { owner, clock } = server;
  const other = owner.now(() => insertAccountRows("other@example.com", clock.now())).account.id;
  const since = clock.now() - 2 * HOUR_MS;
  owner.now(() => run(text("UPDATE recipient SET failing_since = ? WHERE id = ?", since, webhook.id)));
  const failing = await linesFor(server, accountId);
  expect(failing).toEqual([
    expect.stringMatching(
      /^The webhook to crm\.example\.com has failed since \d{4}-\d\d-\d\d \d\d:\d\d UTC\./,
    ),
  ]);
  expect(failing.join()).not.toContain("secret-path");
  owner.now(() => run(text("UPDATE recipient SET state = 'stopped' WHERE id = ?", webhook.id)));
  await server.post(endpoint.secret, goodPost);
  owner.execute(
    `INSERT INTO delivery (id, submission_id, recipient_id, state, due_at)
     SELECT 'msg_1', id, '${webhook.id}', 'failed', 0 FROM submission`,
  );
  expect(await linesFor(server, accountId)).toEqual([
    expect.stringContaining("is stopped"),
    "One message was given up; it is kept until you send it again.",
  ]);
  expect(await linesFor(server, other)).toEqual([]);
});

test("an address that refused several e-mails is told to its owner, with the page that says why", async () => {
  const server = await startServer();
  const { accountId, endpoint } = await withWebhook(server);
  const { owner, clock } = server;
  const other = owner.now(() => insertAccountRows("other@example.com", clock.now())).account.id;
  const settings = { ...defaultMailRecipientSettings, address: "team@example.com" };
  const made = { endpointId: endpoint.id, settings, isConfirmed: true };
  const { id } = owner.now(() => addMailRecipient(made, clock.now()));
  expect(await linesFor(server, accountId)).toEqual([]);
  owner.now(() => run(text("UPDATE recipient SET state = 'stopped' WHERE id = ?", id)));
  expect(await linesFor(server, accountId)).toEqual([
    expect.stringContaining("E-mail to team@example.com is stopped"),
  ]);
  expect(await linesFor(server, other)).toEqual([]);
  for (let number = 0; number < 4; number += 1) {
    const further = { ...made, settings: { ...settings, address: `team${number}@example.com` } };
    const recipient = owner.now(() => addMailRecipient(further, clock.now()));
    owner.now(() => run(text("UPDATE recipient SET state = 'stopped' WHERE id = ?", recipient.id)));
  }
  const lines = await linesFor(server, accountId, true);
  expect(lines.filter((line) => line.includes("mail"))).toEqual([
    expect.stringContaining("team@example.com"),
    expect.stringContaining("team0@example.com"),
    expect.stringContaining("team1@example.com"),
    "E-mail to 2 more recipients is stopped.",
  ]);
});

test("a workspace near its limit and held posts are told, in the words of the plan", async () => {
  const server = await startServer({
    plans: { hobby: { monthlySubmissions: 5, endpoints: null, customSpam: false } },
  });
  // It has no webhook, which would fail by itself.
  const endpoint = await server.addEndpoint();
  const accountId = ownerOf(server);
  for (let count = 0; count < 4; count += 1) await server.post(endpoint.secret, goodPost);
  const near = await linesFor(server, accountId);
  expect(near).toEqual([expect.stringMatching(/has used 4 of 5 submissions of this month\.$/)]);
  await server.post(endpoint.secret, goodPost);
  expect((await server.post(endpoint.secret, goodPost)).status).toBe(429);
  await until(() => server.owner.prepare("SELECT posts FROM held_total").pluck().get());
  expect(await linesFor(server, accountId)).toEqual([
    expect.stringMatching(/has used 5 of 5 .* New posts are refused and held\.$/),
    "One refused post is held: look whether it is genuine.",
  ]);
});

test("an operator is told of the machine too: that there is no backup", async () => {
  const server = await startServer();
  const { accountId } = await withWebhook(server);
  const lines = await linesFor(server, accountId, true);
  expect(lines).toContain("Backup: no backup is scheduled, and none was made.");
});

test("a page tells what a check found without ids, and with times as pages show them", async () => {
  const server = await startServer();
  const { webhook } = await withWebhook(server);
  const { owner, clock } = server;
  const since = clock.now() - 2 * HOUR_MS;
  owner.now(() => run(text("UPDATE recipient SET failing_since = ? WHERE id = ?", since, webhook.id)));
  const [finding] = owner.now(() => checkReceivers(clock.now()));
  expect(finding?.message).toContain(webhook.id);
  expect(findingText(finding?.message ?? "")).toMatch(
    /^the receiver crm\.example\.com has failed since \d{4}-\d\d-\d\d \d\d:\d\d UTC$/,
  );
});
