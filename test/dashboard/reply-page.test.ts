import { expect, test } from "vitest";
import { findAutoReplyOf } from "../../src/mail/auto-reply/auto-reply-store.ts";
import { setAutoReply } from "../support/auto-replies.ts";
import { getEndpoint } from "../../src/endpoints/endpoint-store.ts";
import type { SchemaDefinition } from "../../src/schemas/definition.ts";
import { type Furniture, furnish, type OwnerHome } from "../support/owner-home.ts";
import { formOf } from "../support/page.ts";
import { type ConfigOverrides, startServer, type TestServer } from "../support/test-server.ts";

const ADA = "ada@example.com";
const EVE = "eve@example.com";
const MAIL = { mail: { host: "127.0.0.1", port: 9, from: "forms@example.com" } };

async function begin(overrides: ConfigOverrides = MAIL, given: Furniture = {}) {
  const server = await startServer(overrides);
  const home = await furnish(server, ADA, given);
  const path = `/dashboard/endpoints/${home.endpointId}/reply`;
  return { server, home, path };
}

function replyOf({ owner }: TestServer, { endpointId }: OwnerHome) {
  return owner.now(() => findAutoReplyOf(endpointId));
}

/** The page's form with these values, as a browser without script sends it. */
async function fill({ visitor }: OwnerHome, path: string, values: Record<string, string>) {
  const form = formOf((await visitor.get(path)).text, path).values;
  for (const [name, value] of Object.entries({ action: "save", ...values })) form.set(name, value);
  return visitor.post(path, form);
}

test("an owner turns the reply on with words and a recipient for answers, sees how it looks, and turns it off", async () => {
  const { server, home, path } = await begin();
  const { visitor } = home;
  await visitor.post(`${path}/off`, {});
  expect((await visitor.get(path)).text).toContain("Save and turn on");
  const text = "Thank you.\n\nWe answer {reference} soon.";
  const saved = await fill(home, path, {
    text,
    subject: "About {endpoint}",
    reply_to: `team.${ADA}`,
  });
  expect([saved.status, saved.headers.location]).toEqual([303, `${path}?notice=reply-on`]);
  expect(replyOf(server, home)).toMatchObject({
    onSince: server.clock.now(),
    settings: { field: "email", text, subject: "About {endpoint}", replyToId: home.mailRecipientId },
  });
  const shown = (await visitor.get(path)).text;
  for (const words of [
    `About Form of ${ADA}`,
    "We answer sub_",
    "Reference: sub_",
    `team.${ADA}`,
    "Turn it off",
  ])
    expect(shown).toContain(words);
  expect((await visitor.post(`${path}/off`, {})).headers.location).toBe(`${path}?notice=reply-off`);
  expect(replyOf(server, home)).toMatchObject({ onSince: null, settings: { text } });
  expect((await visitor.get(path)).text).toContain("We answer {reference} soon.");
});

test("what is typed is shown as it will look, and nothing is saved by that", async () => {
  const { server, home, path } = await begin();
  const before = replyOf(server, home);
  const hostile = "<b>Hi</b>\n\u202eJane";
  const preview = await fill(home, path, { action: "preview", text: hostile, subject: "Hi {time}" });
  expect(preview.status).toBe(200);
  expect(preview.text).toContain("&lt;b&gt;Hi&lt;/b&gt;\nJane");
  expect(preview.text).toMatch(/Hi \d{4}-\d\d-\d\d \d\d:\d\d UTC/);
  expect(replyOf(server, home)).toEqual(before);
  const form = formOf(preview.text, path).values;
  expect(form.get("subject")).toBe("Hi {time}");
  form.set("action", "save");
  expect((await home.visitor.post(path, form)).status).toBe(303);
});

test("a form that is refused keeps what was typed, and says what is wrong at its field", async () => {
  const { server, home, path } = await begin();
  const before = replyOf(server, home);
  const typed = { text: "Dear {name},", subject: "x".repeat(201) };
  const refused = await fill(home, path, typed);
  expect(refused.status).toBe(422);
  expect(refused.text).toContain("cannot have {name}");
  expect(refused.text).toContain("1 to 200 characters");
  const form = formOf(refused.text, path).values;
  expect([form.get("text"), form.get("subject")]).toEqual([typed.text, typed.subject]);
  for (const [name, value, sentence] of [
    ["field", "name", "is not a field of format email"],
    ["reply_to", "stranger@example.org", "is no recipient of"],
  ] as const) {
    const answer = await fill(home, path, { [name]: value });
    expect([name, answer.status]).toEqual([name, 422]);
    expect(answer.text).toContain(sentence);
  }
  expect(replyOf(server, home)).toEqual(before);
});

test("the second of two who edit it is told what the first changed, and overwrites nothing unasked", async () => {
  const { server, home, path } = await begin();
  const { visitor } = home;
  const form = formOf((await visitor.get(path)).text, path).values;
  const endpoint = server.owner.now(() => getEndpoint(home.endpointId));
  const first = { endpoint, change: { text: "The first one's" } };
  await setAutoReply(server.owner, first, server.clock.now());
  form.set("text", "The second one's");
  form.set("action", "save");
  const late = await visitor.post(path, form);
  expect(late.status).toBe(409);
  expect(late.text).toContain("Now the text is: The first one&#39;s");
  expect(replyOf(server, home)?.settings.text).toBe("The first one's");
  const again = formOf(late.text, path).values;
  expect(again.get("text")).toBe("The second one's");
  again.set("action", "save");
  expect((await visitor.post(path, again)).status).toBe(303);
  expect(replyOf(server, home)?.settings.text).toBe("The second one's");
});

test("an endpoint without a field for an address leads to its fields, and one that lost it says that nobody gets a reply", async () => {
  const schema: SchemaDefinition = { name: { type: "string" } };
  const { home, path } = await begin(MAIL, { schema, posts: [{ name: "Bob" }] });
  expect((await home.visitor.get(path)).text).toContain("has no field for an e-mail address");
  const other = await begin();
  const fields = `/dashboard/endpoints/${other.home.endpointId}/fields`;
  const form = formOf((await other.home.visitor.get(fields)).text, fields).values;
  form.set("action", "save");
  form.set("view", "json");
  form.set("schema", JSON.stringify({ email: { type: "string" } }));
  expect((await other.home.visitor.post(fields, form)).status).toBe(303);
  expect((await other.home.visitor.get(other.path)).text).toContain("no longer one for an e-mail address");
});

test("without a mail server the page says that nobody gets a reply, to an operator what to set", async () => {
  const { home, path } = await begin({});
  expect((await home.visitor.get(path)).text).toContain("Write mail.host and mail.from");
});

test("the page has the limits that this server sets, and says which of them is reached", async () => {
  const limits = { repliesPerWorkspacePerHour: 0, repliesPerHour: 7 };
  const mail = { ...MAIL.mail, limits };
  const { server, home, path } = await begin({
    mail,
    dashboard: { signUp: "open" },
    server: { port: 0, baseUrl: "https://forms.example.com" },
  });
  const operators = (await home.visitor.get(path)).text;
  expect(operators).toContain("The limit of 0 replies an hour for its workspace is reached.");
  expect(operators).toContain("0 times in an hour for its workspace,");
  expect(operators).not.toContain("for all workspaces together");
  const eve = await furnish(server, EVE);
  const hers = (await eve.visitor.get(`/dashboard/endpoints/${eve.endpointId}/reply`)).text;
  expect(hers).toContain("0 times in an hour for its workspace, 7 times for all workspaces together,");
  await home.visitor.post(`${path}/off`, {});
  expect((await home.visitor.get(path)).text).not.toContain("is reached");
});

test("another workspace's page, reply and message are answered like ones that do not exist", async () => {
  const { server, home, path } = await begin();
  const eve = await furnish(server, EVE);
  const message = `/dashboard/replies/${home.autoReplyId}/deliveries/${home.replyDeliveryId}`;
  for (const address of [path, message]) expect((await eve.visitor.get(address)).status, address).toBe(404);
  const mixed = `/dashboard/replies/${eve.autoReplyId}/deliveries/${home.replyDeliveryId}`;
  expect((await eve.visitor.get(mixed)).status).toBe(404);
  for (const address of [path, `${path}/off`])
    expect((await eve.visitor.post(address, { seen: "" })).status, address).toBe(404);
  expect(replyOf(server, home)?.onSince).not.toBeNull();
  expect((await eve.visitor.get("/dashboard/notifications")).text).not.toContain(home.endpointId);
});

test("the submission shows its reply with the attempts, which nobody can send again, and Notifications lists it", async () => {
  const { home } = await begin();
  const { visitor } = home;
  const message = `/dashboard/replies/${home.autoReplyId}/deliveries/${home.replyDeliveryId}`;
  const submission = await visitor.get(`/dashboard/submissions/${home.submissionIds[0]}`);
  expect(submission.text).toContain(`<a href="${message}">Whoever wrote it: the automatic reply</a>`);
  const shown = await visitor.get(message);
  expect(shown.text).toContain("550 &lt;b&gt;nobody&lt;/b&gt;");
  expect(shown.text).toContain("nobody gets e-mail at this address");
  expect(shown.text).not.toContain("Send again");
  expect((await visitor.post(`${message}/replay`, {})).status).toBe(404);
  const replay = `/dashboard/submissions/${home.submissionIds[0]}/replay`;
  expect((await visitor.post(replay, { delivery: home.replyDeliveryId })).status).toBe(409);
  const list = (await visitor.get("/dashboard/notifications")).text;
  const path = `/dashboard/endpoints/${home.endpointId}/reply`;
  expect(list).toContain(`href="${path}"`);
  expect(shown.text).toContain(`<a href="${path}">← The automatic reply</a>`);
});
