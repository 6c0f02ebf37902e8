import { expect, test } from "vitest";
import { exportFile } from "../../src/apply/export-file.ts";
import { setSchema } from "../../src/endpoints/schema-operations.ts";
import { mailRecipientOperations } from "../../src/mail/recipients/recipient-operations.ts";
import { webhookOperations } from "../../src/webhooks/webhook-operations.ts";
import {
  applyTo,
  exported,
  KEEPS_ALL,
  linesOf,
  performerOn,
  planOf,
  PRUNES,
} from "../support/forms-world.ts";
import { temporaryDatabase } from "../support/temporary-database.ts";

const text = { type: "string" };
const email = { type: "string", format: "email" };
const onTopic = { conditions: [{ field: "topic", is: "=", value: "sales" }] };
const SCHEMA = { email, topic: text };
const MEMBERS = {
  recipients: [{ address: "a@example.com", ...onTopic }, { address: "b@example.com" }],
  webhooks: [{ url: "https://192.0.2.1/a", ...onTopic }],
  autoreply: { field: "email", text: "Thanks." },
};

/** A file of one form with these members. */
const file = (endpoint: object) => ({
  version: 1,
  workspaces: [{ name: "W", endpoints: [{ name: "F", schema: SCHEMA, ...endpoint }] }],
});

/** A database whose form has conditions, an automatic reply, and then other fields. */
async function world(members: object, schema: Record<string, object>) {
  const perform = performerOn(temporaryDatabase());
  await applyTo(perform, file(members));
  await perform(setSchema, { endpoint: "F", schema });
  const ids = async (): Promise<string[]> => {
    const { data: recipients } = await perform(mailRecipientOperations.list, { endpoint: "F" });
    const { data: webhooks } = await perform(webhookOperations.list, { endpoint: "F" });
    return [...recipients, ...webhooks].map(({ id }) => id).toSorted();
  };
  return { perform, ids };
}

test("an export says what lost its field, and is taken there and on an empty database", async () => {
  const { perform } = await world(MEMBERS, { email: text });
  const { file: first, notes } = await exportFile(perform);
  expect(first.workspaces[0]?.endpoints[0]).toMatchObject({
    recipients: [{ address: "b@example.com" }, { address: "a@example.com", conditions: [] }],
    webhooks: [{ url: "https://192.0.2.1/a", conditions: [] }],
  });
  expect(first.workspaces[0]?.endpoints[0]).not.toHaveProperty("autoreply");
  expect(notes.filter((note) => /a@|192|reply/.test(note))).toEqual([
    expect.stringContaining("W/F: the automatic reply is left out"),
    expect.stringContaining("W/F: a condition of a@example.com on topic is left out"),
    expect.stringContaining("W/F: a condition of https://192.0.2.1/a on topic is left out"),
  ]);
  expect(linesOf(await planOf(perform, first, PRUNES))).toEqual([]);
  const target = performerOn(temporaryDatabase());
  await applyTo(target, first);
  expect((await exported(target)).workspaces[0]?.endpoints[0]?.recipients).toHaveLength(2);
  expect(linesOf(await planOf(target, first, PRUNES))).toEqual([]);
});

test("two that are one without their lost field stand in the export once, and pruning keeps both and says so", async () => {
  const both = { recipients: [{ address: "a@example.com" }, { address: "a@example.com", ...onTopic }] };
  const { perform, ids } = await world(both, { email });
  const before = await ids();
  const { file: first, notes } = await exportFile(perform);
  expect(first.workspaces[0]?.endpoints[0]?.recipients).toHaveLength(1);
  expect(notes).toEqual([expect.stringContaining("so a@example.com is the same as another one")]);
  const plan = await planOf(perform, first, PRUNES);
  expect([linesOf(plan), plan.kept]).toEqual([
    [],
    [
      "recipient W/F a@example.com: it is like one of the file, because the form lost the field of its condition",
    ],
  ]);
  await applyTo(perform, first, PRUNES);
  expect(await ids()).toEqual(before);
});

test("a file that drops a field with the conditions on it changes those who had them, and makes no others", async () => {
  const { perform, ids } = await world(MEMBERS, SCHEMA);
  const before = await ids();
  const without = file({
    schema: { email },
    recipients: [{ address: "a@example.com" }, { address: "b@example.com" }],
    webhooks: [{ url: "https://192.0.2.1/a" }],
  });
  const plan = await planOf(perform, without);
  expect([linesOf(plan), plan.notes]).toEqual([
    [
      "change schema W/F topic",
      "change recipient W/F a@example.com conditions",
      "change webhook W/F https://192.0.2.1/a conditions",
    ],
    [],
  ]);
  await applyTo(perform, without, PRUNES);
  expect(await ids()).toEqual(before);
  // The field comes back, and no condition with it.
  expect(linesOf(await planOf(perform, file({ recipients: MEMBERS.recipients })))).toContain(
    "create recipient W/F a@example.com",
  );
});

test("a field that comes back finds the conditions on it, as long as the file has them", async () => {
  const { perform, ids } = await world(MEMBERS, { email });
  const before = await ids();
  expect(linesOf(await planOf(perform, file(MEMBERS), PRUNES))).toEqual(["change schema W/F topic"]);
  const without = { ...MEMBERS, recipients: [{ address: "a@example.com" }, { address: "b@example.com" }] };
  expect(linesOf(await planOf(perform, file(without), PRUNES))).toEqual([
    "change schema W/F topic",
    "change recipient W/F a@example.com conditions",
  ]);
  await applyTo(perform, file(without), PRUNES);
  expect(await ids()).toEqual(before);
});

test("a plan says of what the file does not name that it loses its field, unless it is deleted", async () => {
  const { perform } = await world(MEMBERS, SCHEMA);
  const lost = [
    "recipient W/F a@example.com: its condition on topic counts as met without that field",
    "webhook W/F https://192.0.2.1/a: its condition on topic counts as met without that field",
    "autoreply W/F: it is sent to nobody without email as a field of format email",
  ];
  const schema = { name: text };
  expect((await planOf(perform, file({ schema }), KEEPS_ALL)).notes).toEqual(lost);
  expect((await planOf(perform, file({ schema }), PRUNES)).notes).toEqual(lost);
  const none = file({ schema, recipients: [], webhooks: [] });
  expect((await planOf(perform, none, KEEPS_ALL)).notes).toEqual(lost);
  expect((await planOf(perform, none, PRUNES)).notes).toEqual(lost.slice(2));
});
