import { describe, expect, test } from "vitest";
import { listChanges } from "../../src/audit/audit-store.ts";
import { defaultConfig } from "../../src/config/config.ts";
import type { Database } from "../../src/database/database.ts";
import { createEndpoint } from "../../src/endpoints/create-endpoint.ts";
import { startConfirmation } from "../../src/mail/recipients/agree-to-mail.ts";
import { askRecipient, createRecipient } from "../../src/mail/recipients/ask-recipient.ts";
import { confirmRecipient, unsubscribeRecipient } from "../../src/mail/recipients/follow-link.ts";
import { getMailRecipient } from "../../src/mail/recipients/mail-recipient-store.ts";
import { MailTests } from "../../src/mail/health/mail-tests.ts";
import { mailRecipientOperations, setRecipient } from "../../src/mail/recipients/recipient-operations.ts";
import { testRecipient } from "../../src/mail/recipients/test-recipient.ts";
import type { Actor } from "../../src/operations/actor.ts";
import { exampleSchema } from "../support/example-schema.ts";
import { noteEmailProved } from "../../src/workspaces/proved-email.ts";
import { threeOwners, tokenOf } from "../support/actors.ts";
import { NOON } from "../support/fake-clock.ts";
import { performOn } from "../support/terminal.ts";

const ADDRESS = "holder@example.org";
const config = {
  ...defaultConfig,
  server: { ...defaultConfig.server, baseUrl: "https://forms.example.com" },
  mail: { ...defaultConfig.mail, host: "127.0.0.1", from: "forms@example.com" },
};
const parts = { storedLetters: { wake: () => undefined } };

/** A recipient that was made at the machine, whose holder counts as agreed. */
const add = async (db: Database, endpoint: string, address = ADDRESS): Promise<string> =>
  (await performOn(db, createRecipient, { endpoint, address }, { parts })).recipient.id;

/** Every operation on one recipient. */
function everyUse(db: Database, recipient: string, actor: Actor): Promise<unknown>[] {
  const named = { recipient };
  const door = { actor, config };
  return [
    performOn(db, mailRecipientOperations.show, named, door),
    performOn(db, setRecipient, { ...named, max_spam_score: 1 }, door),
    performOn(db, mailRecipientOperations.enable, named, door),
    performOn(db, mailRecipientOperations.disable, named, door),
    performOn(db, askRecipient, named, { ...door, parts }),
    performOn(db, testRecipient, named, { ...door, parts: { mailTests: null } }),
    performOn(db, mailRecipientOperations.delete, named, door),
  ];
}

async function expectLikeNone(db: Database, id: string, actor: Actor): Promise<void> {
  for (const end of await Promise.allSettled(everyUse(db, id, actor)))
    expect(end).toMatchObject({ reason: { code: "not_found", message: `there is no recipient ${id}` } });
}

test("a form has at most 50 recipients; the 51st is refused, another form takes its own, and a deleted one makes room", async () => {
  const { db, ben, cleo } = await threeOwners();
  const ids: string[] = [];
  for (let index = 0; index < 50; index += 1)
    ids.push(await add(db, ben.endpoint, `holder-${index}@example.org`));
  await expect(add(db, ben.endpoint)).rejects.toMatchObject({
    code: "usage",
    message: "an endpoint has at most 50 recipients",
  });
  await add(db, cleo.endpoint);
  await performOn(db, mailRecipientOperations.delete, { recipient: ids[0] ?? "" }, {});
  await add(db, ben.endpoint);
});

describe("who may do what", () => {
  test("somebody else's recipient is like none in each operation, and nobody adds one to somebody else's form", async () => {
    const { db, ben, cleo } = await threeOwners();
    const id = await add(db, cleo.endpoint);
    const before = db.now(() => listChanges(50)).length;
    await expectLikeNone(db, id, ben.actor);
    const elsewhere = { endpoint: cleo.endpoint, address: ADDRESS };
    const door = { actor: ben.actor, config, parts };
    await expect(performOn(db, createRecipient, elsewhere, door)).rejects.toMatchObject({
      code: "not_found",
    });
    expect(await performOn(db, mailRecipientOperations.list, {}, door)).toEqual({ data: [] });
    expect(db.now(() => listChanges(50))).toHaveLength(before);
  });

  test("a token that is bound to one form reaches the recipients of no other form of its workspace", async () => {
    const { db, ben } = await threeOwners();
    const shop = { name: "Shop", schema: exampleSchema, workspace: ben.workspace };
    const { endpoint } = await performOn(db, createEndpoint, shop);
    const own = await add(db, endpoint.id);
    const other = await add(db, ben.endpoint);
    const reach = { workspaceId: ben.workspace, endpointId: endpoint.id };
    for (const owner of [ben.identity, null]) {
      const actor = tokenOf(owner, ["recipients:write", "submissions:read"], reach);
      await expectLikeNone(db, other, actor);
      const { data } = await performOn(db, mailRecipientOperations.list, {}, { actor });
      expect(data.map(({ id }) => id)).toEqual([own]);
      const elsewhere = { endpoint: ben.endpoint, address: "more@example.org" };
      const adding = performOn(db, createRecipient, elsewhere, { actor, config, parts });
      await expect(adding).rejects.toMatchObject({ code: "not_found" });
    }
  });

  test("only a token that may read what was sent adds a recipient; one that may not still changes them", async () => {
    const { db, ben } = await threeOwners();
    const recipient = await add(db, ben.endpoint);
    const actor = tokenOf(ben.identity, ["recipients:write"]);
    const input = { endpoint: ben.endpoint, address: "more@example.org" };
    await expect(performOn(db, createRecipient, input, { actor, config, parts })).rejects.toMatchObject({
      code: "forbidden",
      message: "the token does not have the scope submissions:read",
    });
    const set = await performOn(db, setRecipient, { recipient, digest: "daily" }, { actor });
    expect(set.recipient).toMatchObject({ digest: "daily", address: ADDRESS });
  });
});

test("whoever adds an address with an account has its holder asked, but for the own one that is proved", async () => {
  const { db, ben } = await threeOwners();
  const reader = tokenOf(ben.identity, ["recipients:write", "submissions:read"]);
  const service = tokenOf(null, ["recipients:write", "submissions:read"], {
    workspaceId: ben.workspace,
    endpointId: null,
  });
  for (const [actor, address] of [
    [ben.actor, "one@example.org"],
    [reader, "two@example.org"],
    [service, "three@example.org"],
    [ben.actor, "ben@example.com"],
  ] as const) {
    const input = { endpoint: ben.endpoint, address };
    const made = await performOn(db, createRecipient, input, { actor, config, parts });
    expect(made).toMatchObject({ recipient: { state: "unconfirmed", confirmed_at: null }, asked: true });
  }
  const letters = db.prepare("SELECT address FROM letter WHERE kind = 'confirmation' ORDER BY id").pluck();
  expect(letters.all()).toHaveLength(4);
  db.now(() => noteEmailProved(ben.identity.accountId, NOON));
  const shop = { name: "Shop", schema: exampleSchema, workspace: ben.workspace };
  const { endpoint } = await performOn(db, createEndpoint, shop);
  const own = { endpoint: endpoint.id, address: "ben@example.com" };
  const made = await performOn(db, createRecipient, own, { actor: reader, config, parts });
  expect(made).toMatchObject({ recipient: { state: "enabled" }, asked: null });
  expect(letters.all()).toHaveLength(4);
});

test("without a mail server nobody is asked and nothing is stored, and at the machine a recipient is added all the same", async () => {
  const { db, ben } = await threeOwners();
  const input = { endpoint: ben.endpoint, address: ADDRESS };
  const adding = performOn(db, createRecipient, input, { actor: ben.actor, parts: { storedLetters: null } });
  await expect(adding).rejects.toMatchObject({ code: "unavailable" });
  expect(db.prepare("SELECT count(*) FROM mail_recipient").pluck().get()).toBe(0);
  const made = await performOn(db, createRecipient, input, { parts: { storedLetters: null } });
  expect(made).toMatchObject({ recipient: { state: "enabled" }, asked: null });
});

test("who agreed, and who wants no e-mail any more, is not asked again", async () => {
  const { db, ben } = await threeOwners();
  const recipient = await add(db, ben.endpoint);
  const door = { actor: ben.actor, config, parts };
  await expect(performOn(db, askRecipient, { recipient }, door)).rejects.toMatchObject({ code: "conflict" });
  const { unsubscribeToken: token } = db.now(() => getMailRecipient(recipient));
  await performOn(db, unsubscribeRecipient, { recipient, token }, { actor: { kind: "visitor" } });
  await expect(performOn(db, askRecipient, { recipient }, door)).rejects.toMatchObject({ code: "conflict" });
  expect(db.prepare("SELECT count(*) FROM letter").pluck().get()).toBe(0);
});

test("each change is recorded with who made it, and names the domain alone", async () => {
  const { db, ben } = await threeOwners();
  const door = { actor: ben.actor, config, parts };
  const input = { endpoint: ben.endpoint, address: ADDRESS };
  const { recipient: made } = await performOn(db, createRecipient, input, door);
  const named = { recipient: made.id };
  // The letter waits, so asking once more writes none.
  expect((await performOn(db, askRecipient, named, door)).asked).toBe(true);
  const token = db.now(() => startConfirmation(made.id, NOON));
  const visitor = { actor: { kind: "visitor" } } as const;
  await performOn(db, confirmRecipient, { ...named, token }, visitor);
  await performOn(db, setRecipient, { ...named, digest: "hourly" }, door);
  await performOn(db, setRecipient, named, door);
  await performOn(db, mailRecipientOperations.disable, named, door);
  await performOn(db, mailRecipientOperations.enable, named, door);
  const { unsubscribeToken } = db.now(() => getMailRecipient(made.id));
  for (let time = 0; time < 2; time += 1)
    await performOn(db, unsubscribeRecipient, { ...named, token: unsubscribeToken }, visitor);
  await performOn(db, mailRecipientOperations.delete, named, door);
  const changes = db.now(() => listChanges(50)).filter(({ subject }) => subject === made.id);
  const told = changes.map(({ action, actor }) => [action, actor === "visitor" ? "visitor" : "ben"]);
  expect(told.toReversed()).toEqual([
    ["recipient.create", "ben"],
    ["recipient.ask", "ben"],
    ["recipient.confirm", "visitor"],
    ["recipient.set", "ben"],
    ["recipient.disable", "ben"],
    ["recipient.enable", "ben"],
    ["recipient.unsubscribe", "visitor"],
    ["recipient.delete", "ben"],
  ]);
  for (const change of changes)
    expect(change).toMatchObject({ workspaceId: ben.workspace, detail: "an address at example.org" });
});

test("a link of a letter does what it is for with its own token, and nothing else", async () => {
  const { db, ben } = await threeOwners();
  const recipient = await add(db, ben.endpoint);
  const visitor = { actor: { kind: "visitor" } } as const;
  const wrong = { recipient, token: "x" };
  for (const follow of [confirmRecipient, unsubscribeRecipient])
    await expect(performOn(db, follow, wrong, visitor)).rejects.toMatchObject({ code: "not_found" });
  for (const forbidden of [
    performOn(db, mailRecipientOperations.show, { recipient }, visitor),
    performOn(db, mailRecipientOperations.enable, { recipient }, visitor),
    performOn(db, mailRecipientOperations.delete, { recipient }, visitor),
  ])
    await expect(forbidden).rejects.toMatchObject({ code: "forbidden" });
  expect((await performOn(db, mailRecipientOperations.show, { recipient })).recipient.state).toBe("enabled");
  expect(db.now(() => listChanges(50)).filter(({ subject }) => subject === recipient)).toHaveLength(1);
});

test("tests of an account and of its tokens count together, and none is sent beyond them", async () => {
  const { db, ben } = await threeOwners();
  const recipient = await add(db, ben.endpoint);
  const sent: string[] = [];
  const result = { stage: "done", reply: { code: 250, text: "queued" }, durationMs: 1 } as const;
  const send = async (to: string) => {
    sent.push(to);
    return {
      messageId: "msg_1",
      to,
      result: result as never,
      outcome: "delivered" as const,
      message: "queued",
    };
  };
  const token = tokenOf(ben.identity, ["recipients:write"]);
  const press = (actor: Actor) =>
    // A new server: what is counted in memory is forgotten, and the account's hour is not.
    performOn(db, testRecipient, { recipient }, { actor, parts: { mailTests: new MailTests(send, 60) } });
  for (let count = 0; count < 60; count += 1) await press(count % 2 === 0 ? ben.actor : token);
  for (const actor of [ben.actor, token])
    await expect(press(actor)).rejects.toMatchObject({ code: "rate_limited" });
  expect(sent).toHaveLength(60);
  const tests = db.now(() => listChanges(100)).filter(({ action }) => action === "recipient.test");
  expect(tests).toHaveLength(60);
});
