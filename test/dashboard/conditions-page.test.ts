import { expect, test } from "vitest";
import { defaultEndpointSettings } from "../../src/endpoints/endpoint.ts";
import { startMailedSite } from "../support/mailed-site.ts";
import { formOf, unescaped } from "../support/page.ts";
import { goodPost, startServer } from "../support/test-server.ts";
import { changeSchema, makeEndpoint } from "../support/terminal.ts";
import { until } from "../support/until.ts";
import { visit, type Visitor } from "../support/visitor.ts";

const HOLDER = "holder@example.org";

/** Types conditions into a form of the dashboard and sends it. */
async function save(
  visitor: Visitor,
  { from, to }: { readonly from: string; readonly to: string },
  typed: Record<string, string>,
) {
  const { values } = formOf((await visitor.get(from)).text, to);
  for (const [name, value] of Object.entries(typed)) values.set(name, value);
  return visitor.post(to, values);
}

test("an owner chooses by rows which posts a webhook gets, and the page of the webhook and the list say it", async () => {
  const server = await startServer();
  const ada = await visit(server);
  const endpoint = await server.addEndpoint();
  const page = "/dashboard/webhooks/new";
  const typed = {
    endpoint: endpoint.id,
    url: "https://example.com/hook",
    "when.0.field": "name",
    "when.0.is": "~",
    "when.0.value": "Ada <b>",
  };
  const made = await save(ada, { from: page, to: page }, typed);
  expect(made.status, made.text).toBe(201);
  const [path = ""] = /\/dashboard\/webhooks\/wh_\w+/.exec(made.text) ?? [];
  const shown = unescaped((await ada.get(path)).text);
  expect(shown).toMatch(/Only if <b><bdi>name<\/bdi><\/b> contains “<bdi dir="auto">Ada <b><\/bdi>”/);
  expect((await ada.get(path)).text).toContain("Ada &lt;b&gt;");
  expect((await ada.get("/dashboard/notifications")).text).toContain(
    "Only if <b><bdi>name</bdi></b> contains",
  );
  const edit = `${path}/edit`;
  const changed = await save(
    ada,
    { from: edit, to: edit },
    { "when.1.field": "email", "when.1.is": "filled" },
  );
  expect(changed.status, changed.text).toBe(303);
  expect((await ada.get(path)).text).toContain("<b><bdi>email</bdi></b> is filled in");
  await save(ada, { from: edit, to: edit }, { "when.0.field": "", "when.0.value": "", "when.1.field": "" });
  expect((await ada.get(path)).text).toMatch(/Which posts<\/dt>\s*<dd>all<\/dd>/);
});

test("who removes the field of a condition on the page of the fields is told what that does", async () => {
  const server = await startServer();
  const ada = await visit(server);
  const { id } = await server.addEndpoint();
  const page = "/dashboard/webhooks/new";
  const hook = {
    endpoint: id,
    url: "https://example.com/hook",
    "when.0.field": "name",
    "when.0.is": "filled",
  };
  expect((await save(ada, { from: page, to: page }, hook)).status).toBe(201);
  const fields = `/dashboard/endpoints/${id}/fields`;
  const { values } = formOf((await ada.get(fields)).text, fields);
  values.set("action", "save");
  values.set("f.0.name", "call_name");
  const saved = await ada.post(fields, values);
  expect([saved.status, saved.headers["location"]]).toEqual([303, `${fields}?notice=fields-lost`]);
  expect(unescaped((await ada.get(`${fields}?notice=fields-lost`)).text)).toContain(
    "a condition on it counts as met now",
  );
});

test("a field that the form has not, and a value without a field, are refused beside the rows with all that was typed", async () => {
  const { server } = await startMailedSite();
  const ada = await visit(server);
  const endpoint = await server.addEndpoint();
  const page = "/dashboard/recipients/new";
  const typed = { endpoint: endpoint.id, address: HOLDER, "when.0.value": "red" };
  const refused = await save(ada, { from: page, to: page }, { ...typed, "when.0.field": "colour" });
  expect(refused.status).toBe(422);
  expect(refused.text).toContain('href="#f-conditions"');
  expect(refused.text).toMatch(/The form has no field colour, on which there is a condition; it has \w+/);
  expect(formOf(refused.text, page).values.get("when.0.value")).toBe("red");
  const nameless = await save(ada, { from: page, to: page }, typed);
  expect([nameless.status, nameless.text]).toEqual([
    422,
    expect.stringContaining("has a value and no field"),
  ]);
  const added = await save(ada, { from: page, to: page }, { ...typed, "when.0.field": "name" });
  expect(added.status, added.text).toBe(303);
  const again = await save(ada, { from: page, to: page }, { ...typed, "when.0.field": "name" });
  expect([again.status, again.text]).toEqual([
    422,
    expect.stringContaining("with the same conditions already"),
  ]);
});

test("a condition is written and read as its field is called in the form, and stored by the field's name", async () => {
  const { server } = await startMailedSite();
  const ada = await visit(server);
  const { id } = await server.addEndpoint({
    schema: {
      item: { type: "string", label: "Ihre Torte" },
      day: { type: "string", label: "item" },
      twin: { type: "string", label: "Twin <b>" },
      other: { type: "string", label: "twin <B>" },
    },
  });
  const page = "/dashboard/recipients/new";
  const typed = { endpoint: id, address: HOLDER, "when.0.is": "!=", "when.0.value": "Plum" };
  const offered = (await ada.get(`${page}?endpoint=${id}`)).text.match(/<option value="[^"]*"><\/option>/g);
  expect(offered?.map((option) => unescaped(/"(.*)"/.exec(option)?.[1] ?? ""))).toEqual([
    "Ihre Torte",
    // What is called like another one has to be named.
    "day",
    "twin",
    "other",
  ]);
  for (const field of ["Twin <b>", "Ihre", ""]) {
    const refused = await save(ada, { from: page, to: page }, { ...typed, "when.0.field": field });
    expect(refused.status, field).toBe(422);
  }
  const made = await save(ada, { from: page, to: page }, { ...typed, "when.0.field": "ihre torte" });
  expect(made.status, made.text).toBe(303);
  expect(server.owner.prepare("SELECT conditions FROM recipient").pluck().get()).toBe(
    '[{"field":"item","is":"!=","value":"Plum"}]',
  );
  const path = made.headers["location"]?.replace(/\?.*/, "") ?? "";
  for (const where of [path, "/dashboard/notifications"])
    expect((await ada.get(where)).text).toContain("Only if <b><bdi>Ihre Torte</bdi></b> is not");
  expect(formOf((await ada.get(`${path}/edit`)).text, `${path}/edit`).values.get("when.0.field")).toBe(
    "Ihre Torte",
  );
});

test("the page of a post says who was not told and why", async () => {
  const server = await startServer();
  const ada = await visit(server);
  const endpoint = await server.addEndpoint();
  const page = "/dashboard/webhooks/new";
  const typed = {
    endpoint: endpoint.id,
    url: "https://example.com/hook",
    "when.0.field": "name",
    "when.0.value": "Grace",
  };
  expect((await save(ada, { from: page, to: page }, typed)).status).toBe(201);
  await server.post(endpoint.secret, { ...goodPost, name: "Ada & Ben" });
  const id = String(server.owner.prepare("SELECT id FROM submission").pluck().get());
  const { text } = await ada.get(`/dashboard/submissions/${id}`);
  expect(text).toContain('<span class="pill">not sent</span>');
  expect(text.replaceAll(/\s+/g, " ")).toContain(
    'Only if <b><bdi>name</bdi></b> is “<bdi dir="auto">Grace</bdi>”; here <bdi>name</bdi> is “<bdi dir="auto">Ada &amp; Ben</bdi>”.',
  );
  expect(text).not.toContain("Nobody. When it came");
});

test("an operator sees on the System page that a condition is on a field that is gone, and the post is sent", async () => {
  const server = await startServer();
  const ada = await visit(server);
  const endpoint = await server.addEndpoint({ schema: { topic: { type: "string" } } });
  const page = "/dashboard/webhooks/new";
  const url = "https://example.com/hook";
  const typed = { endpoint: endpoint.id, url, "when.0.field": "topic", "when.0.value": "sales" };
  expect((await save(ada, { from: page, to: page }, typed)).status).toBe(201);
  const needing = async () =>
    (await ada.get("/dashboard/system")).text.split('<details class="card fine">')[0];
  expect(await needing()).not.toContain("counts as met");
  server.owner.now(() => changeSchema(endpoint.id, { message: { type: "string" } }, server.clock.now()));
  server.clock.advance(60_000);
  await until(async () => (await needing())?.includes("a condition on &quot;topic&quot; counts as met"));
  await until(async () => (await server.post(endpoint.secret, { message: "Hello" })).status === 200);
  const { not_sent: notSent } = server.owner.prepare("SELECT not_sent FROM submission").get() as {
    not_sent: string | null;
  };
  expect(notSent).toBeNull();
  expect(server.owner.prepare("SELECT count(*) FROM outbox").pluck().get()).toBe(1);
});

test("an owner who is no operator is told of such a condition above the inbox, and others are not", async () => {
  const server = await startServer();
  const operator = await visit(server);
  const ben = await visit(server, "ben@example.com");
  const eve = await visit(server, "eve@example.com");
  /** A form in a workspace of their own: who has none sees no inbox. */
  const addForm = async ({ accountId }: Visitor) => {
    const workspaceOf = server.owner.prepare("SELECT workspace_id FROM member WHERE account_id = ?").pluck();
    const { endpoint } = await makeEndpoint(
      server.owner,
      { name: "Own", definition: { topic: { type: "string" } }, settings: defaultEndpointSettings },
      { workspace: String(workspaceOf.get(accountId)), plans: server.config.plans, now: server.clock.now() },
    );
    return endpoint;
  };
  await addForm(eve);
  const made = await addForm(ben);
  const page = "/dashboard/webhooks/new";
  const typed = {
    endpoint: made.id,
    url: "https://example.com/hook",
    "when.0.field": "topic",
    "when.0.value": "sales",
  };
  expect((await save(ben, { from: page, to: page }, typed)).status).toBe(201);
  const told = async (visitor: Visitor) =>
    /its condition on <bdi>topic<\/bdi>[\s\S]*?href="(\/dashboard\/webhooks\/wh_\w+)"/.exec(
      (await visitor.get("/dashboard")).text,
    )?.[1] ?? null;
  expect(await told(ben)).toBeNull();
  server.owner.now(() => changeSchema(made.id, { message: { type: "string" } }, server.clock.now()));
  const where = await told(ben);
  expect((await ben.get(where ?? "")).text).toContain("Only if <b><bdi>topic</bdi></b> is");
  expect(await told(eve)).toBeNull();
  expect((await operator.get("/dashboard")).text).not.toContain("counts as met");
});
