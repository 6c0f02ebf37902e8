import { describe, expect, test } from "vitest";
import { listChanges } from "../../src/audit/audit-store.ts";
import { defaultConfig } from "../../src/config/config.ts";
import { createEndpoint } from "../../src/endpoints/create-endpoint.ts";
import { newId } from "../../src/foundation/id.ts";
import { createRecipient } from "../../src/mail/recipients/ask-recipient.ts";
import { listMailDeliveries, replayMail, showMailDelivery } from "../../src/mail/mail-deliveries.ts";
import { mailRecipientOperations } from "../../src/mail/recipients/recipient-operations.ts";
import type { Actor } from "../../src/operations/actor.ts";
import { exampleSchema } from "../support/example-schema.ts";
import { createKeyring } from "../../src/secrets/keyring.ts";
import {
  listWebhookDeliveries,
  replayWebhook,
  showWebhookDelivery,
} from "../../src/webhooks/webhook-deliveries.ts";
import { createWebhook, webhookOperations } from "../../src/webhooks/webhook-operations.ts";
import { submissionAdder } from "../support/add-submission.ts";
import { threeOwners, tokenOf } from "../support/actors.ts";
import { NOON } from "../support/fake-clock.ts";
import { performOn } from "../support/terminal.ts";

/** A range ends with what was made before it. */
const LATER = NOON + 1000;

type Db = Awaited<ReturnType<typeof threeOwners>>["db"];

/** A form's webhook and recipient, with a delivery each that failed. */
async function furnish(db: Db, endpoint: string) {
  const submission = newId("sub", NOON);
  const told = { endpointId: endpoint, spamScore: 0, ipAddress: "192.0.2.1", userAgent: "test" };
  submissionAdder(db)({ ...told, id: submission, createdAt: NOON, data: {} });
  const parts = { keyring: createKeyring(defaultConfig.secrets), storedLetters: null };
  const url = "https://192.0.2.7/";
  const { webhook } = await performOn(db, createWebhook, { endpoint, url }, { parts });
  const input = { endpoint, address: "ada@example.org" };
  const { recipient } = await performOn(db, createRecipient, input, { parts });
  const add = db.prepare(
    "INSERT INTO delivery (id, submission_id, recipient_id, state, due_at) VALUES (?, ?, ?, 'failed', 0)",
  );
  const toWebhook = newId("msg", NOON);
  const toRecipient = newId("msg", NOON);
  add.run(toWebhook, submission, webhook.id);
  add.run(toRecipient, submission, recipient.id);
  return { submission, webhook: webhook.id, recipient: recipient.id, toWebhook, toRecipient };
}

type Furnished = Awaited<ReturnType<typeof furnish>>;

/** Ben has two forms, Cleo has one. */
async function begin() {
  const owners = await threeOwners();
  const { db, ben, cleo } = owners;
  const shop = { name: "Shop", schema: exampleSchema, workspace: ben.workspace };
  const { endpoint } = await performOn(db, createEndpoint, shop);
  const home = await furnish(db, ben.endpoint);
  const bound = await furnish(db, endpoint.id);
  const hers = await furnish(db, cleo.endpoint);
  const reach = { workspaceId: ben.workspace, endpointId: endpoint.id };
  return { ...owners, home, bound, hers, reach };
}

/** Every operation on deliveries that names something of a form. */
function everyUse(db: Db, of: Furnished, actor: Actor): Promise<unknown>[] {
  const door = { actor };
  return [
    performOn(db, listWebhookDeliveries, { webhook: of.webhook }, door),
    performOn(db, listWebhookDeliveries, { submission: of.submission }, door),
    performOn(db, showWebhookDelivery, { delivery: of.toWebhook }, door),
    performOn(db, replayWebhook, { delivery: of.toWebhook }, door),
    performOn(db, replayWebhook, { delivery: of.toWebhook, dry_run: true }, door),
    performOn(db, replayWebhook, { webhook: of.webhook, failed: true }, door),
    performOn(db, webhookOperations.try, { webhook: of.webhook }, door),
    performOn(db, listMailDeliveries, { recipient: of.recipient }, door),
    performOn(db, listMailDeliveries, { submission: of.submission }, door),
    performOn(db, showMailDelivery, { delivery: of.toRecipient }, door),
    performOn(db, replayMail, { delivery: of.toRecipient }, door),
    performOn(db, replayMail, { recipient: of.recipient, failed: true }, door),
    performOn(db, mailRecipientOperations.try, { recipient: of.recipient }, door),
  ];
}

const states = (db: Db): Record<string, string> =>
  Object.fromEntries(
    (db.prepare("SELECT id, state FROM delivery ORDER BY id").all() as { id: string; state: string }[]).map(
      ({ id, state }) => [id, state],
    ),
  );

describe("who reaches deliveries", () => {
  test("those of somebody else, and of a form that a token is not bound to, are like none", async () => {
    const { db, ben, home, bound, hers, reach } = await begin();
    const before = [states(db), db.now(() => listChanges(99)).length];
    const scopes = ["recipients:write"] as const;
    for (const [actor, foreign] of [
      [ben.actor, hers],
      [tokenOf(ben.identity, scopes, reach), home],
      [tokenOf(null, scopes, reach), home],
    ] as const)
      for (const [number, end] of (await Promise.allSettled(everyUse(db, foreign, actor))).entries())
        expect(end, `use ${number}`).toMatchObject({ reason: { code: "not_found" } });
    expect([states(db), db.now(() => listChanges(99)).length]).toEqual(before);
    const actor = tokenOf(null, scopes, reach);
    const ends = await Promise.allSettled(everyUse(db, bound, actor));
    expect(ends.map(({ status }) => status).filter((status) => status === "rejected")).toEqual([]);
  });

  test("a list and a range without a name are about what is visible alone", async () => {
    const { db, ada, ben, home, bound, hers, reach } = await begin();
    const list = async (actor: Actor) => {
      const webhooks = await performOn(db, listWebhookDeliveries, {}, { actor });
      const mails = await performOn(db, listMailDeliveries, {}, { actor });
      return [...webhooks.data, ...mails.data].map(({ id }) => id).toSorted();
    };
    const idsOf = (...of: Furnished[]): string[] =>
      of.flatMap(({ toWebhook, toRecipient }) => [toWebhook, toRecipient]).toSorted();
    const token = tokenOf(ben.identity, ["recipients:write"], reach);
    expect(await list(ben.actor)).toEqual(idsOf(home, bound));
    expect(await list(token)).toEqual(idsOf(bound));
    expect(await list(ada.actor)).toEqual(idsOf(home, bound, hers));
    const all = { failed: true };
    expect(await performOn(db, replayWebhook, all, { actor: token, now: LATER })).toEqual({
      matched: 1,
      replayed: 1,
    });
    expect(await performOn(db, replayMail, all, { actor: ben.actor, now: LATER })).toEqual({
      matched: 2,
      replayed: 2,
    });
    const after = states(db);
    const failed = Object.keys(after).filter((id) => after[id] === "failed");
    expect(failed.toSorted()).toEqual([home.toWebhook, ...idsOf(hers)].toSorted());
  });

  test("a letter of the server is shown to who sees everything, a question to who sees its recipient", async () => {
    const { db, ada, ben, cleo, hers } = await begin();
    const add = db.prepare(
      `INSERT INTO letter (id, kind, topic, address, recipient_id, content, state, due_at)
       VALUES (?, ?, ?, 'x@example.org', ?, '{}', 'pending', ?)`,
    );
    const [question, notice] = [newId("msg", NOON), newId("msg", NOON)];
    add.run(question, "confirmation", "confirmation x", hers.recipient, NOON);
    add.run(notice, "operator", "notice", null, NOON);
    const see = async (actor: Actor) => {
      const { data } = await performOn(db, listMailDeliveries, {}, { actor });
      return data.map(({ id }) => id).filter((id) => id === question || id === notice);
    };
    expect((await see(ada.actor)).toSorted()).toEqual([question, notice].toSorted());
    expect(await see(cleo.actor)).toEqual([question]);
    expect(await see(ben.actor)).toEqual([]);
    const show = (delivery: string, actor: Actor) => performOn(db, showMailDelivery, { delivery }, { actor });
    expect((await show(question, cleo.actor)).delivery.kind).toBe("confirmation");
    for (const [delivery, actor] of [
      [question, ben.actor],
      [notice, cleo.actor],
    ] as const)
      await expect(show(delivery, actor)).rejects.toMatchObject({ code: "not_found" });
  });
});

test("a replay is recorded with who asked for it, a dry run and one of nothing are not", async () => {
  const { db, ben, home } = await begin();
  const door = { actor: ben.actor, now: LATER };
  await performOn(db, replayWebhook, { delivery: home.toWebhook, dry_run: true }, door);
  await performOn(db, replayWebhook, { delivery: home.toWebhook }, door);
  for (let time = 0; time < 2; time += 1) await performOn(db, replayMail, { failed: true }, door);
  const changes = db.now(() => listChanges(50)).filter(({ action }) => action.endsWith(".replay"));
  expect(changes.toReversed()).toMatchObject([
    {
      action: "webhook.replay",
      subject: home.webhook,
      workspaceId: ben.workspace,
      detail: "192.0.2.7",
      actor: { email: "ben@example.com" },
    },
    { action: "recipient.replay", subject: "every recipient", workspaceId: null },
  ]);
});

test("what an account sends again as new is counted over deliveries and ranges, also by its tokens", async () => {
  const { db, ben, home } = await begin();
  const submissions = db.prepare("SELECT id FROM submission WHERE id = ?").pluck();
  expect(submissions.get(home.submission)).toBe(home.submission);
  const adder = submissionAdder(db);
  const add = db.prepare(
    "INSERT INTO delivery (id, submission_id, recipient_id, state, due_at) VALUES (?, ?, ?, 'failed', 0)",
  );
  const told = { endpointId: ben.endpoint, spamScore: 0, ipAddress: "192.0.2.1", userAgent: "test" };
  for (let count = 0; count < 99; count += 1) {
    const id = newId("sub", NOON);
    adder({ ...told, id, createdAt: NOON, data: {} });
    add.run(newId("msg", NOON), id, home.webhook);
  }
  const actor = tokenOf(ben.identity, ["recipients:write"]);
  const range = { webhook: home.webhook, failed: true, as_new: true };
  expect(await performOn(db, replayWebhook, range, { actor, now: LATER })).toEqual({
    matched: 100,
    replayed: 100,
  });
  const one = performOn(
    db,
    replayMail,
    { delivery: home.toRecipient, as_new: true },
    { actor: ben.actor, now: LATER },
  );
  await expect(one).rejects.toMatchObject({ code: "rate_limited" });
  expect(states(db)[home.toRecipient]).toBe("failed");
});

test("a replay names one delivery or a range, not both and not neither", async () => {
  const { db, home } = await begin();
  for (const input of [{}, { delivery: home.toWebhook, failed: true }])
    await expect(performOn(db, replayWebhook, input)).rejects.toMatchObject({ code: "usage" });
  const odd = performOn(db, replayWebhook, { since: "yesterday" });
  await expect(odd).rejects.toMatchObject({ code: "invalid_request" });
});
