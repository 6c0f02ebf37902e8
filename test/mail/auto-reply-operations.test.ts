import { expect, test } from "vitest";
import { listChanges } from "../../src/audit/audit-store.ts";
import type { Database } from "../../src/database/database.ts";
import { createEndpoint } from "../../src/endpoints/create-endpoint.ts";
import { setReply, showReply, turnOffReply } from "../../src/mail/auto-reply/auto-reply-operations.ts";
import { createRecipient } from "../../src/mail/recipients/ask-recipient.ts";
import { changeSchema, performOn } from "../support/terminal.ts";
import { threeOwners, tokenOf } from "../support/actors.ts";
import { NOON } from "../support/fake-clock.ts";

const email = { type: "string", format: "email" } as const;
const SCHEMA = { email, other: email } as const;

async function begin() {
  const owners = await threeOwners();
  const { db, ben, cleo } = owners;
  for (const { endpoint } of [ben, cleo]) db.now(() => changeSchema(endpoint, SCHEMA, NOON));
  return owners;
}

const isOn = async (db: Database, endpoint: string): Promise<boolean> =>
  (await performOn(db, showReply, { endpoint })).auto_reply.state === "on";

test("somebody else's automatic reply is like none, and so is that of a form that a token is not bound to", async () => {
  const { db, ben, cleo } = await begin();
  const shop = { name: "Shop", schema: SCHEMA, workspace: ben.workspace };
  const { endpoint: bound } = await performOn(db, createEndpoint, shop);
  const reach = { workspaceId: ben.workspace, endpointId: bound.id };
  const scopes = ["recipients:write", "submissions:read"] as const;
  for (const [actor, endpoint] of [
    [ben.actor, cleo.endpoint],
    [tokenOf(ben.identity, scopes, reach), ben.endpoint],
    [tokenOf(null, scopes, reach), ben.endpoint],
  ] as const)
    for (const asked of [
      performOn(db, showReply, { endpoint }, { actor }),
      performOn(db, setReply, { endpoint, field: "email" }, { actor }),
      performOn(db, turnOffReply, { endpoint }, { actor }),
    ])
      await expect(asked).rejects.toMatchObject({
        code: "not_found",
        message: `there is no endpoint ${endpoint}`,
      });
  expect([await isOn(db, cleo.endpoint), await isOn(db, ben.endpoint)]).toEqual([false, false]);
});

test("a token that may not read what was sent changes the words of a reply, and neither turns it on nor leads it elsewhere", async () => {
  const { db, ben } = await begin();
  const { endpoint } = ben;
  const address = "ada@example.org";
  await performOn(db, createRecipient, { endpoint, address }, { parts: { storedLetters: null } });
  const writer = { actor: tokenOf(ben.identity, ["recipients:write"]) };
  const reader = { actor: tokenOf(ben.identity, ["recipients:write", "submissions:read"]) };
  const on = { endpoint, field: "email" };
  const refused = { code: "forbidden", message: "the token does not have the scope submissions:read" };
  await expect(performOn(db, setReply, on, writer)).rejects.toMatchObject(refused);
  expect(await isOn(db, endpoint)).toBe(false);
  await performOn(db, setReply, on, reader);
  for (const moved of [{ field: "other" }, { reply_to: address }])
    await expect(performOn(db, setReply, { endpoint, ...moved }, writer)).rejects.toMatchObject(refused);
  const { auto_reply: told } = await performOn(db, setReply, { endpoint, text: "Thank you" }, writer);
  expect(told).toMatchObject({ state: "on", text: "Thank you", field: "email", reply_to: null });
  await performOn(db, turnOffReply, { endpoint }, writer);
  await expect(performOn(db, setReply, { endpoint }, writer)).rejects.toMatchObject(refused);
  expect(await isOn(db, endpoint)).toBe(false);
});

test("each change is recorded with who made it; turning off what is off is none", async () => {
  const { db, ben } = await begin();
  const { actor, endpoint } = ben;
  await performOn(db, turnOffReply, { endpoint }, { actor });
  await performOn(db, setReply, { endpoint, field: "email" }, { actor });
  await performOn(db, turnOffReply, { endpoint }, { actor });
  await performOn(db, turnOffReply, { endpoint }, { actor });
  const changes = db.now(() => listChanges(50)).filter(({ action }) => action.startsWith("autoreply."));
  expect(changes).toMatchObject([
    { action: "autoreply.off", subject: endpoint, workspaceId: ben.workspace, detail: null },
    { action: "autoreply.set", subject: endpoint, actor: { email: "ben@example.com" } },
  ]);
});
