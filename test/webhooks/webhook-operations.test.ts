import { describe, expect, test } from "vitest";
import { createEndpoint } from "../../src/endpoints/create-endpoint.ts";
import { listChanges } from "../../src/audit/audit-store.ts";
import { defaultConfig } from "../../src/config/config.ts";
import type { Database } from "../../src/database/database.ts";
import { exampleSchema } from "../support/example-schema.ts";
import { createKeyring } from "../../src/secrets/keyring.ts";
import type { Actor } from "../../src/operations/actor.ts";
import { createHttpSender } from "../../src/webhooks/send.ts";
import { createHostResolver } from "../../src/webhooks/resolve-host.ts";
import { parseAllowedNetworks } from "../../src/webhooks/address-guard.ts";
import { TestSlots } from "../../src/webhooks/test-slots.ts";
import { testWebhook } from "../../src/webhooks/test-webhook.ts";
import {
  createWebhook,
  rotateSecret,
  setWebhook,
  webhookOperations,
} from "../../src/webhooks/webhook-operations.ts";
import { threeOwners, tokenOf } from "../support/actors.ts";
import { startReceiverWith } from "../support/receivers.ts";
import { performOn } from "../support/terminal.ts";

/** An address that no name server is asked for, and no receiver is at. */
const URL_GIVEN = "https://192.0.2.7/hook";
const parts = { keyring: createKeyring(defaultConfig.secrets) };

async function sendingParts() {
  const allowed = parseAllowedNetworks(["127.0.0.1"]);
  const sender = createHttpSender({ allowed, timeoutMs: 2000, resolveHost: createHostResolver() });
  return { ...parts, sender, testSlots: new TestSlots(), dashboardUrl: null };
}

/** Every operation on one webhook. */
function everyUse(db: Database, webhook: string, actor: Actor): Promise<unknown>[] {
  const named = { webhook };
  const door = { actor, parts };
  return [
    performOn(db, webhookOperations.show, named, door),
    performOn(db, setWebhook, { ...named, max_spam_score: 1 }, door),
    performOn(db, webhookOperations.enable, named, door),
    performOn(db, webhookOperations.disable, named, door),
    performOn(db, rotateSecret, named, door),
    performOn(db, testWebhook, named, { actor, parts: { ...parts, testSlots: new TestSlots() } }),
    performOn(db, webhookOperations.delete, named, door),
  ];
}

async function expectLikeNone(db: Database, id: string, actor: Actor): Promise<void> {
  const ends = await Promise.allSettled(everyUse(db, id, actor));
  for (const end of ends)
    expect(end).toMatchObject({ reason: { code: "not_found", message: `there is no webhook ${id}` } });
}

const add = async (db: Database, endpoint: string): Promise<string> =>
  (await performOn(db, createWebhook, { endpoint, url: URL_GIVEN }, { parts })).webhook.id;

describe("who may do what", () => {
  test("somebody else's webhook is like none in each operation, and nobody makes one for somebody else's form", async () => {
    const { db, ben, cleo } = await threeOwners();
    const id = await add(db, cleo.endpoint);
    const before = db.now(() => listChanges(50)).length;
    await expectLikeNone(db, id, ben.actor);
    const elsewhere = { endpoint: cleo.endpoint, url: URL_GIVEN };
    await expect(performOn(db, createWebhook, elsewhere, { actor: ben.actor, parts })).rejects.toMatchObject({
      code: "not_found",
    });
    expect(await performOn(db, webhookOperations.list, {}, { actor: ben.actor })).toEqual({ data: [] });
    const listed = performOn(db, webhookOperations.list, { workspace: cleo.workspace }, { actor: ben.actor });
    await expect(listed).rejects.toMatchObject({ code: "not_found" });
    expect(db.now(() => listChanges(50))).toHaveLength(before);
    expect(
      (await performOn(db, webhookOperations.list, {}, { actor: cleo.actor })).data.map((one) => one.id),
    ).toEqual([id]);
  });

  test("a token that is bound to one form reaches the webhooks of no other form of its workspace", async () => {
    const { db, ben } = await threeOwners();
    const shop = { name: "Shop", schema: exampleSchema, workspace: ben.workspace };
    const { endpoint } = await performOn(db, createEndpoint, shop);
    const own = await add(db, endpoint.id);
    const other = await add(db, ben.endpoint);
    const reach = { workspaceId: ben.workspace, endpointId: endpoint.id };
    for (const owner of [ben.identity, null]) {
      const actor = tokenOf(owner, ["recipients:write", "submissions:read"], reach);
      await expectLikeNone(db, other, actor);
      const { data } = await performOn(db, webhookOperations.list, {}, { actor });
      expect(data.map(({ id }) => id)).toEqual([own]);
      const elsewhere = { endpoint: ben.endpoint, url: URL_GIVEN };
      await expect(performOn(db, createWebhook, elsewhere, { actor, parts })).rejects.toMatchObject({
        code: "not_found",
      });
      expect((await performOn(db, webhookOperations.show, { webhook: own }, { actor })).webhook.id).toBe(own);
    }
  });

  test("only who may read what was sent makes a webhook or changes where one leads", async () => {
    const { db, ben } = await threeOwners();
    const webhook = await add(db, ben.endpoint);
    const writer = { actor: tokenOf(ben.identity, ["recipients:write"]), parts };
    const reader = { actor: tokenOf(ben.identity, ["recipients:write", "submissions:read"]), parts };
    const make = { endpoint: ben.endpoint, url: URL_GIVEN };
    const move = { webhook, url: "https://192.0.2.8/" };
    const refused = { code: "forbidden", message: "the token does not have the scope submissions:read" };
    await expect(performOn(db, createWebhook, make, writer)).rejects.toMatchObject(refused);
    await expect(performOn(db, setWebhook, move, writer)).rejects.toMatchObject(refused);
    expect((await performOn(db, webhookOperations.show, { webhook })).webhook.url).toBe(URL_GIVEN);
    const same = { webhook, url: URL_GIVEN, max_spam_score: 7 };
    expect((await performOn(db, setWebhook, same, writer)).webhook.max_spam_score).toBe(7);
    expect((await performOn(db, setWebhook, move, reader)).webhook.url).toBe(move.url);
    expect((await performOn(db, createWebhook, make, reader)).webhook.url).toBe(URL_GIVEN);
  });

  test("the secret address of a chat is a new one whatever is given, so it needs the same right", async () => {
    const { db, ben } = await threeOwners();
    const chat = { endpoint: ben.endpoint, format: "slack", url: "https://192.0.2.7/T0/B0/x" } as const;
    const { webhook, secret } = await performOn(db, createWebhook, chat, { parts });
    expect(secret).toBeNull();
    const actor = tokenOf(ben.identity, ["recipients:write"]);
    const move = { webhook: webhook.id, url: "https://192.0.2.7/T0/B0/y" };
    await expect(performOn(db, setWebhook, move, { actor, parts })).rejects.toMatchObject({
      code: "forbidden",
    });
  });

  test("only an operator opens the way to private addresses, or moves a webhook that has it", async () => {
    const { db, ada, ben } = await threeOwners();
    const owner = { actor: ben.actor, parts };
    const refused = { code: "forbidden" };
    const make = { endpoint: ben.endpoint, url: "http://10.1.2.3/", allow_private: true };
    await expect(performOn(db, createWebhook, make, owner)).rejects.toMatchObject(refused);
    const plain = await add(db, ben.endpoint);
    const open = { webhook: plain, allow_private: true };
    await expect(performOn(db, setWebhook, open, owner)).rejects.toMatchObject(refused);
    const { webhook } = await performOn(db, createWebhook, make, { actor: ada.actor, parts });
    const move = { webhook: webhook.id, url: "http://10.1.2.4/" };
    await expect(performOn(db, setWebhook, move, owner)).rejects.toMatchObject(refused);
    const other = { webhook: webhook.id, max_spam_score: 3, allow_private: true };
    expect((await performOn(db, setWebhook, other, owner)).webhook.max_spam_score).toBe(3);
    const closed = await performOn(db, setWebhook, { webhook: webhook.id, allow_private: false }, owner);
    expect(closed.webhook.allow_private).toBe(false);
  });

  test("what is refused of an address tells its network to operators alone", async () => {
    const { db, ben } = await threeOwners();
    const make = { endpoint: ben.endpoint, url: "http://10.1.2.3/" };
    const told = await performOn(db, createWebhook, make, { parts });
    expect(told).toMatchObject({
      remedy: "allow_private",
      refused: expect.stringContaining("10.1.2.3") as string,
    });
    const hidden = await performOn(db, createWebhook, make, { actor: ben.actor, parts });
    expect(hidden.remedy).toBeNull();
    expect(hidden.refused).toMatch(/^Nothing is sent there: the name does not exist, or /);
  });
});

test("a form has at most 50 webhooks, chats among them; the 51st is refused and another form takes its own", async () => {
  const { db, ben, cleo } = await threeOwners();
  const make = (format: "standard" | "slack", endpoint = ben.endpoint) =>
    performOn(db, createWebhook, { endpoint, url: URL_GIVEN, format }, { parts });
  for (let index = 0; index < 25; index += 1) {
    await make("standard");
    await make("slack");
  }
  for (const format of ["standard", "slack"] as const)
    await expect(make(format)).rejects.toMatchObject({
      code: "usage",
      message: "an endpoint has at most 50 webhooks",
    });
  const listed = await performOn(db, webhookOperations.list, {}, { actor: ben.actor });
  expect(listed.data).toHaveLength(50);
  await make("slack", cleo.endpoint);
  await performOn(db, webhookOperations.delete, { webhook: listed.data[0]?.id ?? "" }, { parts });
  await make("slack");
});

test("each change of a webhook is recorded with who made it, and names the host alone", async () => {
  const { db, ben } = await threeOwners();
  const door = { actor: ben.actor, parts };
  const make = { endpoint: ben.endpoint, url: `${URL_GIVEN}/secret` };
  const { webhook } = await performOn(db, createWebhook, make, door);
  const named = { webhook: webhook.id };
  await performOn(db, setWebhook, { ...named, max_spam_score: 5 }, door);
  await performOn(db, setWebhook, named, door);
  await performOn(db, webhookOperations.disable, named, door);
  await performOn(db, webhookOperations.enable, named, door);
  await performOn(db, rotateSecret, named, door);
  await performOn(db, webhookOperations.delete, named, door);
  const changes = db.now(() => listChanges(50)).filter(({ subject }) => subject === webhook.id);
  expect(changes.map(({ action }) => action).toReversed()).toEqual([
    "webhook.create",
    "webhook.set",
    "webhook.disable",
    "webhook.enable",
    "webhook.rotate-secret",
    "webhook.delete",
  ]);
  for (const change of changes)
    expect(change).toMatchObject({
      actor: { email: "ben@example.com" },
      workspaceId: ben.workspace,
      detail: "192.0.2.7",
    });
});

test("tests of an account and of its tokens count together, those of the machine are not counted", async () => {
  await using receiver = await startReceiverWith((response) => response.end());
  const { db, ada, ben } = await threeOwners();
  const make = { endpoint: ben.endpoint, url: receiver.url, allow_private: true };
  const { webhook } = await performOn(db, createWebhook, make, { actor: ada.actor, parts });
  const sending = await sendingParts();
  const named = { webhook: webhook.id };
  const token = tokenOf(ben.identity, ["recipients:write"]);
  for (let count = 0; count < 60; count += 1) {
    const actor = count % 2 === 0 ? ben.actor : token;
    await performOn(db, testWebhook, named, { actor, parts: sending });
  }
  for (const actor of [ben.actor, token])
    await expect(performOn(db, testWebhook, named, { actor, parts: sending })).rejects.toMatchObject({
      code: "rate_limited",
    });
  expect(receiver.received).toHaveLength(60);
  const result = await performOn(db, testWebhook, { ...named, data: { a: 1 } }, { parts: sending });
  expect(result).toMatchObject({ outcome: "delivered", webhook_id: webhook.id });
  const service = tokenOf(null, ["recipients:write"], { workspaceId: ben.workspace, endpointId: null });
  await performOn(db, testWebhook, named, { actor: service, parts: sending });
  expect(receiver.received).toHaveLength(62);
  await sending.sender.destroy();
});

test("an account has two tests under way at most, and gives its places back however they end", async () => {
  const places = new TestSlots();
  const waiting = Promise.withResolvers<string>();
  const running = [1, 2].map(() => places.run("acct_1", () => waiting.promise));
  await expect(places.run("acct_1", async () => "third")).rejects.toMatchObject({ code: "unavailable" });
  expect(await places.run("acct_2", async () => "other")).toBe("other");
  waiting.reject(new Error("broken"));
  await expect(Promise.all(running)).rejects.toThrow("broken");
  await Promise.allSettled(running);
  expect(await places.run("acct_1", async () => "again")).toBe("again");
});
