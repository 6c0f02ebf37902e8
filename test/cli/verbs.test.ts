import { expect, test } from "vitest";
import type { z } from "zod";
import type { Database } from "../../src/database/database.ts";
import { defaultConfig } from "../../src/config/config.ts";
import { spamDefaults } from "../../src/app/features.ts";
import { setSpam, showSpam } from "../../src/endpoints/spam-operations.ts";
import { explainScore, previewSpam, scorePost } from "../../src/submissions/manage/spam-operations.ts";
import { issueKey } from "../../src/endpoints/key-operations.ts";
import { importFrom, performOn } from "../support/terminal.ts";
import { newId } from "../../src/foundation/id.ts";
import { submissionJson } from "../../src/submissions/stored/submission-json.ts";
import { getSubmission } from "../../src/submissions/stored/submission-store.ts";
import { listHeldPosts } from "../../src/submissions/held/held-post.ts";
import { dropHeld, listHeld, releaseHeld, showHeld } from "../../src/submissions/held/held-operations.ts";
import { listWebhookDeliveries, replayWebhook } from "../../src/webhooks/webhook-deliveries.ts";
import { setRecipientEnabled } from "../../src/outbox/queue/recipient-store.ts";
import {
  createWebhook,
  rotateSecret,
  setWebhook,
  webhookOperations,
} from "../../src/webhooks/webhook-operations.ts";
import { createRecipient } from "../../src/mail/recipients/ask-recipient.ts";
import { mailRecipientOperations, setRecipient } from "../../src/mail/recipients/recipient-operations.ts";
import { addMailRecipient } from "../support/mail-recipients.ts";
import { defaultMailRecipientSettings } from "../../src/mail/recipients/mail-recipient.ts";
import { operatorMachine } from "../support/operator-machine.ts";
import { changeBothWays } from "../support/same-change.ts";
import { WebhookWorld } from "../support/webhook-world.ts";
import { receiving } from "../support/receiving.ts";
import { DAY_MS } from "../../src/foundation/time-units.ts";

/** A page calls the verb directly, a person types the command: both must leave the same rows. */

const pitch = {
  email: "sam@example.org",
  message: "We offer SEO and backlinks with guaranteed first page of Google rankings: https://bit.ly/abc",
};
const any = { endpointIds: null, since: null, until: null };

test("enabling a webhook releases what was held for it, by the verb as by the command", async () => {
  await using world = new WebhookWorld();
  const { webhook } = world.addWebhook("https://example.com/");
  world.db.now(() => setRecipientEnabled(webhook.id, false));
  world.post(3);
  await world.spread();
  expect(world.states()).toEqual({ held: 3 });
  const enable = (db: typeof world.db) =>
    performOn(db, webhookOperations.enable, { webhook: webhook.id }, { now: Date.now() });
  const command = ["webhook", "enable", webhook.id];
  const rows = await changeBothWays(operatorMachine(), world.db, enable, command);
  expect(rows.verb).toEqual(rows.command);
  expect(rows.verb.filter((row) => /^delivery .*"pending"/.test(row))).toHaveLength(3);
});

test("a webhook is added, changed, given a new secret and deleted, by the verb as by the command, and each is recorded", async () => {
  await using world = new WebhookWorld();
  const { webhook } = world.addWebhook("https://example.com/", { headers: { "x-one": "1" } });
  const { keyring, endpointId } = world;
  const { id } = webhook;
  const url = "https://example.com/new";
  const change = { url: "https://example.com/moved", max_spam_score: 40 };
  const door = () => ({ parts: { keyring }, now: Date.now() });
  type Verb = (db: typeof world.db) => Promise<unknown>;
  const both: [verb: Verb, command: string[]][] = [
    [
      (db) => performOn(db, createWebhook, { endpoint: endpointId, url }, door()),
      ["create", "--endpoint", endpointId, "--url", url],
    ],
    [
      (db) => performOn(db, setWebhook, { webhook: id, ...change }, door()),
      ["set", id, "--url", change.url, "--max-spam-score", "40"],
    ],
    [(db) => performOn(db, rotateSecret, { webhook: id }, door()), ["rotate-secret", id]],
    [(db) => performOn(db, webhookOperations.delete, { webhook: id }, door()), ["delete", id, "--yes"]],
  ];
  for (const [verb, command] of both) {
    const rows = await changeBothWays(operatorMachine(), world.db, verb, ["webhook", ...command]);
    expect(rows.verb, command[0]).toEqual(rows.command);
    expect(rows.verb.filter((row) => row.startsWith("audit_event"))).toHaveLength(1);
  }
});

test("a recipient is added, changed, switched and removed, by the verb as by the command, and each is recorded", async () => {
  await using world = new WebhookWorld();
  const { endpointId } = world;
  const settings = { ...defaultMailRecipientSettings, address: "ada@example.com" };
  const made = { endpointId, settings, isConfirmed: true };
  const { id } = await world.db.transaction(() => addMailRecipient(made, Date.now()));
  const address = "bob@example.com";
  const change = { digest: "hourly", max_spam_score: 40 } as const;
  const door = () => ({ parts: { storedLetters: null }, now: Date.now() });
  type Verb = (db: typeof world.db) => Promise<unknown>;
  const both: [verb: Verb, command: string[]][] = [
    [
      (db) => performOn(db, createRecipient, { endpoint: endpointId, address }, door()),
      ["add", address, "--endpoint", endpointId],
    ],
    [
      (db) => performOn(db, setRecipient, { recipient: id, ...change }, door()),
      ["set", id, "--digest", "hourly", "--max-spam-score", "40"],
    ],
    [(db) => performOn(db, mailRecipientOperations.disable, { recipient: id }, door()), ["disable", id]],
    [
      (db) => performOn(db, mailRecipientOperations.delete, { recipient: id }, door()),
      ["remove", id, "--yes"],
    ],
  ];
  for (const [verb, command] of both) {
    const rows = await changeBothWays(operatorMachine(), world.db, verb, ["recipient", ...command]);
    expect(rows.verb, command[0]).toEqual(rows.command);
    expect(rows.verb.filter((row) => row.startsWith("audit_event"))).toHaveLength(1);
  }
});

test("what failed is replayed, by the verb as by the command; a dry run counts it and changes nothing", async () => {
  await using world = new WebhookWorld();
  const { webhook } = world.addWebhook("https://example.com/");
  world.post(3);
  await world.spread();
  world.db.execute("UPDATE delivery SET state = 'failed'");
  const all = { webhook: webhook.id, failed: true };
  const send = (db: typeof world.db, what: z.input<(typeof replayWebhook)["input"]> = all) =>
    performOn(db, replayWebhook, what, { now: Date.now() });
  expect(await send(world.db, { ...all, dry_run: true })).toEqual({ matched: 3, replayed: 0 });
  const [id = ""] = world.deliveryIds();
  expect(await send(world.db, { delivery: id, dry_run: true })).toEqual({ matched: 1, replayed: 0, id });
  expect(world.states()).toEqual({ failed: 3 });
  const command = ["webhook", "replay", "--failed", "--webhook", webhook.id];
  const rows = await changeBothWays(operatorMachine(), world.db, send, command);
  expect(rows.verb).toEqual(rows.command);
  expect(rows.verb.filter((row) => /^delivery .*"pending"/.test(row))).toHaveLength(3);
});

test("deliveries of a webhook or submission that is not there are neither listed nor replayed, not even in a dry run", async () => {
  await using world = new WebhookWorld();
  const missing = expect.objectContaining({ code: "not_found" });
  const submission = newId("sub", Date.now());
  for (const named of [{ webhook: "wh_none" }, { submission }])
    await expect(performOn(world.db, listWebhookDeliveries, named)).rejects.toEqual(missing);
  for (const what of [{ webhook: "wh_none", failed: true }, { delivery: "msg_none" }])
    await expect(performOn(world.db, replayWebhook, { ...what, dry_run: true })).rejects.toEqual(missing);
});

test("an import goes to the endpoint that is named, by the verb as by the command, and to none that is not there", async () => {
  const service = await receiving();
  const { db, endpointId } = service;
  const id = await service.submit({ email: "ada@example.org", message: "Hello" });
  const stored = submissionJson(db.now(() => getSubmission(id)));
  const machine = operatorMachine();
  const elsewhere = newId("ep", Date.now());
  const line = { ...stored, id: newId("sub", Date.now()), endpoint_id: elsewhere };
  const file = machine.write("export.ndjson", line);
  const bring = (into: typeof db, endpoint: string | null = endpointId) => importFrom(into, file, endpoint);
  await expect(bring(db, null)).rejects.toThrow(`there is no endpoint ${elsewhere} here`);
  await expect(bring(db, "Nobody")).rejects.toMatchObject({ code: "not_found" });
  const command = ["submission", "import", file, "--endpoint", endpointId];
  const rows = await changeBothWays(machine, db, bring, command);
  expect(rows.verb).toEqual(rows.command);
  expect(rows.verb.filter((row) => row.startsWith("submission "))).toHaveLength(2);
  expect(db.prepare("SELECT count(*) FROM submission").pluck().get()).toBe(1);
});

test("a further key is the endpoint's own, by the verb as by the command", async () => {
  const service = await receiving();
  const command = ["key", "issue", service.endpointId, "--kind", "secret"];
  const issue = (db: typeof service.db) =>
    performOn(db, issueKey, { endpoint: service.endpointId, kind: "secret" }, { now: Date.now() });
  const rows = await changeBothWays(operatorMachine(), service.db, issue, command);
  expect(rows.verb).toEqual(rows.command);
  expect(rows.verb.filter((row) => row.startsWith("api_key") && row.includes("new key"))).toHaveLength(1);
});

test("a held post is released, by the verb as by the command", async () => {
  const forEver = { held: { ...defaultConfig.held, days: null } };
  const service = await receiving(forEver);
  expect(await service.submit(pitch)).toBe("spam_blocked");
  const id = service.db.now(() => listHeldPosts(any, 1, null)).data[0]?.id ?? "";
  const machine = operatorMachine();
  machine.configure({ held: { days: null } });
  const { config } = service;
  const release = (db: typeof service.db) =>
    performOn(db, releaseHeld, { held: id }, { config, now: Date.now() });
  const rows = await changeBothWays(machine, service.db, release, ["held", "release", id]);
  expect(rows.verb).toEqual(rows.command);
  expect(rows.verb.filter((row) => row.startsWith("submission "))).toHaveLength(1);
});

test("own spam settings are stored, by the verb as by the command, on plans that include them only", async () => {
  const service = await receiving();
  const { db, endpointId } = service;
  const machine = operatorMachine();
  const plans = { hobby: { monthlySubmissions: null, endpoints: null, customSpam: true } };
  const set = (on: typeof db, included = plans) =>
    performOn(
      on,
      setSpam,
      { endpoint: endpointId, choices: { maxLinks: 3 } },
      { plans: included, now: Date.now() },
    );
  const command = ["spam", "set", "--endpoint", endpointId, "--max-links", "3"];
  const rows = await changeBothWays(machine, db, set, command);
  expect(rows.verb).toEqual(rows.command);
  expect(rows.verb.filter((row) => row.startsWith("endpoint_spam"))).toHaveLength(1);
  const without = { hobby: { ...plans.hobby, customSpam: false } };
  await expect(set(db, without)).rejects.toThrow("does not include own spam settings");
  const defaults = spamDefaults(service.config);
  const parts = { spamDefaults: defaults, searches: null };
  const tryOut = (included: typeof plans) =>
    performOn(db, previewSpam, { endpoint: endpointId, choices: {} }, { plans: included, parts });
  expect(await tryOut(plans)).toEqual({ posts: 0, changed: 0, changes: [] });
  await expect(tryOut(without)).rejects.toThrow("does not include own spam settings");
  expect(db.prepare("SELECT count(*) FROM endpoint_spam").pluck().get()).toBe(0);
  await set(db);
  const state = (counted: typeof plans) =>
    performOn(db, showSpam, { endpoint: endpointId }, { plans: counted, parts });
  expect(await state(plans)).toMatchObject({
    custom_spam: true,
    chosen: { maxLinks: 3 },
    settings: { maxLinks: 3 },
  });
  expect(await state(without)).toMatchObject({
    chosen: { maxLinks: 3 },
    settings: { maxLinks: defaults.maxLinks },
  });
});

test("a post is explained as the server scores it, without a trace of it in the database", async () => {
  const service = await receiving();
  const { db, config, endpointId: endpoint, clock } = service;
  await service.submit(pitch);
  const [held] = db.now(() => listHeldPosts(any, 1, null)).data;
  const before = db.prepare("SELECT count(*) FROM remembered_text").pluck().get();
  const parts = { spamDefaults: spamDefaults(config) };
  const score = (post: Record<string, unknown>) =>
    performOn(db, scorePost, { endpoint, post }, { parts, now: clock.now() });
  expect(await score(pitch)).toMatchObject({ class: "blocked", unfit: [] });
  expect((await score({ message: 7 })).unfit).toEqual([
    { field: "message", problems: [expect.stringContaining("message must be")] },
  ]);
  const stored = await performOn(db, explainScore, { post: held?.id ?? "" });
  expect(stored).toMatchObject({ score: held?.spamScore, class: "blocked", reasons: held?.spamReasons });
  expect(db.prepare("SELECT count(*) FROM remembered_text").pluck().get()).toBe(before);
});

const GONE: readonly [name: string, ask: (db: Database, held: string, now: number) => Promise<unknown>][] = [
  ["list", async (db, _held, now) => expect((await performOn(db, listHeld, {}, { now })).data).toEqual([])],
  [
    "show",
    (db, held, now) => expect(performOn(db, showHeld, { held }, { now })).rejects.toThrow("no held post"),
  ],
  [
    "release",
    (db, held, now) => expect(performOn(db, releaseHeld, { held }, { now })).rejects.toThrow("no held post"),
  ],
  [
    "drop",
    (db, held, now) =>
      expect(performOn(db, dropHeld, { held: [held] }, { now })).rejects.toThrow("no held post"),
  ],
];

test.each(GONE)("what was held long enough is gone for %s, whether a server runs or not", async (_, ask) => {
  const service = await receiving();
  await service.submit(pitch);
  const { db, clock } = service;
  const id = (await performOn(db, listHeld, {}, { now: clock.now() })).data[0]?.id ?? "";
  expect((await performOn(db, showHeld, { held: id }, { now: clock.now() })).data).toEqual(pitch);
  clock.advance(defaultConfig.held.days! * DAY_MS + 1);
  await ask(db, id, clock.now());
  expect(db.prepare("SELECT count(*) FROM held").pluck().get()).toBe(0);
});
