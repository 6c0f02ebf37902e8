import { expect, test } from "vitest";
import { query } from "../../src/database/database.ts";
import { all, run } from "../../src/database/steps.ts";
import { performOn, removeEndpoint } from "../support/terminal.ts";
import { listChanges } from "../../src/audit/audit-store.ts";
import {
  confirmMailRecipient,
  readAsked,
  readSubscribed,
  startConfirmation,
} from "../../src/mail/recipients/agree-to-mail.ts";
import { createRecipient } from "../../src/mail/recipients/ask-recipient.ts";
import { mailRecipientOperations, setRecipient } from "../../src/mail/recipients/recipient-operations.ts";
import { addMailRecipient } from "../support/mail-recipients.ts";
import { unsubscribeRecipient } from "../../src/mail/recipients/follow-link.ts";
import {
  defaultMailRecipientSettings,
  type MailRecipient,
  type MailRecipientSettings,
} from "../../src/mail/recipients/mail-recipient.ts";
import { findRecipientOf } from "../../src/recipients/recipient-type.ts";
import { mailRecipientJson } from "../../src/mail/recipients/mail-recipient-json.ts";
import {
  getMailRecipient,
  listMailRecipients,
  MAIL_RECIPIENTS,
} from "../../src/mail/recipients/mail-recipient-store.ts";
import { listOwned, viewRecipient } from "../../src/recipients/reach-recipient.ts";
import { insertAccountRows } from "../../src/workspaces/workspace-store.ts";
import { WebhookWorld } from "../support/webhook-world.ts";
import { DAY_MS } from "../../src/foundation/time-units.ts";

function add(
  world: WebhookWorld,
  address: string,
  settings: Partial<MailRecipientSettings> = {},
  isConfirmed = true,
) {
  const { endpointId } = world;
  const made = {
    endpointId,
    settings: { ...defaultMailRecipientSettings, address, ...settings },
    isConfirmed,
  };
  return world.db.transaction(() => addMailRecipient(made, world.clock.now()));
}

test("a recipient is stored with the settings that it was given, its address in normal form", async () => {
  await using world = new WebhookWorld();
  const made = await add(world, "Ada@BÜCHER.example", {
    digest: "daily",
    subject: "{endpoint}",
    maxSpamScore: 7,
  });
  expect(mailRecipientJson(made)).toMatchObject({
    endpoint_id: world.endpointId,
    address: "Ada@xn--bcher-kva.example",
    state: "enabled",
    digest: "daily",
    subject: "{endpoint}",
    max_spam_score: 7,
    failing_since: null,
  });
  expect(JSON.stringify(mailRecipientJson(made))).not.toContain(made.unsubscribeToken);
  expect(world.db.now(() => listMailRecipients(world.endpointId))).toEqual([made]);
  expect(world.db.now(() => listMailRecipients("ep_other"))).toEqual([]);
});

test("recipients are listed oldest first, without one whose own row is gone", async () => {
  await using world = new WebhookWorld();
  const { db, clock, endpointId } = world;
  const made: MailRecipient[] = [];
  for (const address of ["c@example.com", "a@example.com", "b@example.com"]) {
    made.push(await add(world, address));
    clock.advance(1);
  }
  expect(db.now(() => listMailRecipients(endpointId))).toEqual(made);
  const [gone, ...others] = made;
  await db.transaction(() => run(query.deleteFrom("mail_recipient").where("id", "=", gone?.id ?? "")));
  expect(db.now(() => listMailRecipients(null))).toEqual(others);
  expect(db.now(() => findRecipientOf(MAIL_RECIPIENTS, gone?.id ?? ""))).toBeUndefined();
});

test("settings out of their bounds, an address twice and the 51st are refused, and nothing is stored", async () => {
  await using world = new WebhookWorld();
  await add(world, "ada@example.com");
  for (const [address, settings, code] of [
    ["ADA@example.com", {}, "already_exists"],
    ["ada", {}, "usage"],
    ["Ada <ada@example.com>", {}, "usage"],
    ["a@example.com,b@example.com", {}, "usage"],
    ["ada@example.com\r\nBcc: b@example.com", {}, "usage"],
    ["b@example.com", { maxSpamScore: 101 }, "usage"],
    ["b@example.com", { maxSpamScore: 0.5 }, "usage"],
    ["b@example.com", { subject: "" }, "usage"],
    ["b@example.com", { subject: "a\r\nBcc: c@example.com" }, "usage"],
    ["b@example.com", { subject: "a".repeat(201) }, "usage"],
  ] as const)
    await expect(add(world, address, settings), address).rejects.toMatchObject({ code });
  for (let index = 1; index < 50; index += 1) await add(world, `a${index}@example.com`);
  await expect(add(world, "last@example.com")).rejects.toMatchObject({ code: "usage" });
  expect(world.db.now(() => listMailRecipients(null))).toHaveLength(50);
});

test("a change keeps what it does not name, and a removal leaves nothing but its record", async () => {
  await using world = new WebhookWorld();
  const { db, endpointId: endpoint } = world;
  const door = { parts: { storedLetters: null } };
  const given = { endpoint, address: "ada@example.com", subject: "Hello" };
  const { id } = (await performOn(db, createRecipient, given, door)).recipient;
  const change = { digest: "hourly", max_spam_score: 10 } as const;
  const { recipient } = await performOn(db, setRecipient, { recipient: id, ...change });
  expect(recipient).toMatchObject({ address: "ada@example.com", subject: "Hello", ...change });
  world.post(3);
  await world.spread();
  await performOn(db, mailRecipientOperations.delete, { recipient: id });
  expect(world.db.now(() => findRecipientOf(MAIL_RECIPIENTS, id))).toBeUndefined();
  expect(world.states()).toEqual({});
  expect(
    world.db.now(() => listChanges(9)).map(({ action, subject, detail }) => [action, subject, detail]),
  ).toEqual(
    ["delete", "set", "create"].map((verb) => [`recipient.${verb}`, id, "an address at example.com"]),
  );
  await expect(performOn(db, mailRecipientOperations.delete, { recipient: id })).rejects.toMatchObject({
    code: "not_found",
  });
});

test("with an endpoint its recipients are deleted, and with a submission its messages", async () => {
  await using world = new WebhookWorld();
  await add(world, "ada@example.com");
  const [first = ""] = world.post(2);
  await world.spread();
  world.db.now(() => run(query.deleteFrom("submission").where("id", "=", first)));
  expect(world.states()).toEqual({ pending: 1 });
  await removeEndpoint(world.db, world.endpointId);
  expect(world.states()).toEqual({});
  expect(world.db.now(() => all(query.selectFrom("mail_recipient").select("id")))).toEqual([]);
});

test("disabling holds what comes, and enabling sends it and forgives refusals", async () => {
  await using world = new WebhookWorld();
  const { id } = await add(world, "ada@example.com");
  const to = async (operation: typeof mailRecipientOperations.enable) =>
    (await performOn(world.db, operation, { recipient: id }, { now: world.clock.now() })).recipient;
  expect(await to(mailRecipientOperations.disable)).toMatchObject({ state: "disabled" });
  world.post(2);
  await world.spread();
  expect(world.states()).toEqual({ held: 2 });
  world.db.execute(
    `UPDATE recipient SET state = 'stopped', refusals = 3, failing_since = 1 WHERE id = '${id}'`,
  );
  const stopped = world.db.now(() => getMailRecipient(id));
  expect(mailRecipientJson(stopped)).toMatchObject({ state: "failing", refusals: 3 });
  expect(await to(mailRecipientOperations.enable)).toMatchObject({
    state: "enabled",
    refusals: 0,
    failing_since: null,
  });
  expect(world.states()).toEqual({ pending: 2 });
});

test("until its holder agrees, nothing is queued for a recipient, and nobody else can enable it", async () => {
  await using world = new WebhookWorld();
  const { id } = await add(world, "ada@example.com", {}, false);
  const now = world.clock.now();
  const enable = () => performOn(world.db, mailRecipientOperations.enable, { recipient: id });
  world.post(2);
  expect(world.states()).toEqual({});
  await expect(enable()).rejects.toMatchObject({ code: "conflict" });
  const first = await world.db.transaction(() => startConfirmation(id, now));
  const token = await world.db.transaction(() => startConfirmation(id, now));
  expect(token).toMatch(/^[\w-]{32}$/);
  const dead: [id: string, token: string, at: number][] = [
    [id, first, now],
    [id, "", now],
    [id, token, now + 7 * DAY_MS],
    ["rcpt_none", token, now],
  ];
  for (const link of dead) {
    await expect(world.db.read(() => readAsked(...link))).rejects.toMatchObject({
      code: "not_found",
      message: expect.stringContaining("The link does not work") as string,
    });
  }
  expect(await world.db.read(() => readAsked(id, token, now))).toMatchObject({ confirmedAt: null });
  const confirmed = await world.db.transaction(() => confirmMailRecipient(id, token, now));
  expect(confirmed.confirmedAt).toBe(now);
  await expect(world.db.read(() => readAsked(id, token, now))).rejects.toMatchObject({ code: "not_found" });
  await expect(world.db.transaction(() => startConfirmation(id, now))).rejects.toMatchObject({
    code: "conflict",
  });
  world.outbox.forget();
  world.post(2);
  await world.spread();
  expect(world.states()).toEqual({ pending: 2 });
});

test("whoever has the token of an e-mail ends them, once and for all, and nobody without it", async () => {
  await using world = new WebhookWorld();
  const { id, unsubscribeToken } = await add(world, "ada@example.com");
  const other = await add(world, "bob@example.com");
  for (const wrong of ["", "x", other.unsubscribeToken])
    await expect(world.db.read(() => readSubscribed(id, wrong))).rejects.toMatchObject({ code: "not_found" });
  await expect(world.db.read(() => readSubscribed("rcpt_none", ""))).rejects.toMatchObject({
    code: "not_found",
  });
  expect(await world.db.read(() => readSubscribed(id, unsubscribeToken))).toMatchObject({ state: "enabled" });
  const door = (now: number) => ({ now, actor: { kind: "visitor" } as const });
  const end = async (at: number): Promise<MailRecipient> => {
    await performOn(world.db, unsubscribeRecipient, { recipient: id, token: unsubscribeToken }, door(at));
    return world.db.now(() => getMailRecipient(id));
  };
  expect(await end(5)).toMatchObject({ state: "disabled", unsubscribedAt: 5 });
  expect(await end(9)).toMatchObject({ unsubscribedAt: 5 });
  expect(mailRecipientJson(await end(9))).toMatchObject({ state: "unsubscribed", enabled: false });
  const enable = performOn(world.db, mailRecipientOperations.enable, { recipient: id });
  await expect(enable).rejects.toMatchObject({ code: "conflict" });
  const asked = world.db.transaction(() => startConfirmation(id, 9));
  await expect(asked).rejects.toMatchObject({ code: "conflict" });
  expect(world.db.now(() => getMailRecipient(other.id))).toMatchObject({ state: "enabled" });
  world.outbox.forget();
  world.post(1);
  await world.spread();
  expect(world.states()).toEqual({ pending: 1 });
});

test("somebody sees the recipients of their own endpoints, and another's is like none", async () => {
  await using world = new WebhookWorld();
  const made = await add(world, "ada@example.com");
  const { account } = world.db.now(() => insertAccountRows("other@example.com", 1));
  const operator = { accountId: "acct_none", isOperator: true };
  const stranger = { accountId: account.id, isOperator: false };
  expect(world.db.now(() => viewRecipient(operator, MAIL_RECIPIENTS, made.id)).recipient).toEqual(made);
  expect(world.db.now(() => listOwned(operator, MAIL_RECIPIENTS, null, 9))).toMatchObject([
    { recipient: made },
  ]);
  expect(world.db.now(() => listOwned(operator, MAIL_RECIPIENTS, made.id, 9))).toEqual([]);
  expect(world.db.now(() => listOwned(stranger, MAIL_RECIPIENTS, null, 9))).toEqual([]);
  for (const id of [made.id, "rcpt_none"])
    expect(() => world.db.now(() => viewRecipient(stranger, MAIL_RECIPIENTS, id))).toThrow(
      `there is no recipient ${id}`,
    );
});
