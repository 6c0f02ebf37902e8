import { expect, test } from "vitest";
import { listEndpoints, readSchema } from "../../src/endpoints/endpoint-store.ts";
import { listChanges } from "../../src/audit/audit-store.ts";
import { fieldsIn, readyMade } from "../../src/dashboard/forms/ready-made.ts";
import { insertWorkspaceRow, listWorkspaces } from "../../src/workspaces/workspace-store.ts";
import { formOf, unescaped } from "../support/page.ts";
import { startServer, type TestServer } from "../support/test-server.ts";
import { EVERY_PAGE } from "../support/dashboard-routes.ts";
import { until } from "../support/until.ts";
import { visit, type Visitor } from "../support/visitor.ts";
import { DAY_MS } from "../../src/foundation/time-units.ts";

const NEW = "/dashboard/endpoints/new";
const KEY = /f[sp]k_[0-9A-Za-z]{50}/g;
const HOSTILE = `"><script>alert(1)</script>\u202e{"toString":"x"}`;

/** The form of a new endpoint, as the page gives it, with these values. */
async function newForm(visitor: Visitor, values: Record<string, string>): Promise<URLSearchParams> {
  return filled((await visitor.get(NEW)).text, values);
}

function filled(page: string, values: Record<string, string>): URLSearchParams {
  const form = formOf(page, NEW).values;
  for (const [name, value] of Object.entries({ action: "create", ...values })) form.set(name, value);
  return form;
}

const endpointsOf = ({ owner }: TestServer) => owner.now(() => listEndpoints(null));

test("a new endpoint begins with the example of a contact form, and shows its keys once", async () => {
  const server = await startServer();
  const ada = await visit(server);
  const made = await ada.post(NEW, await newForm(ada, { name: "Contact" }));
  expect(made.status).toBe(201);
  const [endpoint] = endpointsOf(server);
  expect(endpoint?.name).toBe("Contact");
  const contact = fieldsIn(readyMade("contact"), "en");
  expect(endpoint && server.owner.now(() => readSchema(endpoint))).toEqual(contact);
  const keys = [...new Set(made.text.match(KEY))];
  expect(keys.map((key) => key.slice(0, 4)).toSorted()).toEqual(["fpk_", "fsk_"]);
  for (const key of keys)
    expect((await server.post(key, { name: "Ana", email: "ana@example.org" })).status).toBe(200);
  // Nowhere else: not on a later page, in the log, or in the record of changes.
  const later = await Promise.all(["/dashboard/endpoints", NEW, "/dashboard"].map((path) => ada.get(path)));
  const elsewhere = [
    ...later.map(({ text }) => text),
    ...server.log,
    JSON.stringify(server.owner.now(() => listChanges(100))),
  ];
  for (const key of keys) expect(elsewhere.filter((text) => text.includes(key.slice(4, 40)))).toEqual([]);
});

test("a second form of the same name is told, with the page that gives it another", async () => {
  const server = await startServer();
  const ada = await visit(server);
  const first = await ada.post(NEW, await newForm(ada, { name: "Contact" }));
  expect(first.text).not.toContain("Another form has the same name");
  const second = await ada.post(NEW, await newForm(ada, { name: "Contact" }));
  const ids = endpointsOf(server).map(({ id }) => `<a href="/dashboard/endpoints/${id}">another name</a>`);
  expect(ids.filter((link) => second.text.includes(link)).length).toBe(1);
});

test("the language for visitors is chosen with the form, kept through each button, and the code is in it", async () => {
  const server = await startServer();
  const ada = await visit(server);
  const edited = await ada.post(NEW, await newForm(ada, { language: "de", action: "add-text" }));
  const form = formOf(edited.text, NEW).values;
  expect(form.get("language")).toBe("de");
  const made = await ada.post(NEW, filled(edited.text, { name: "Torten", "f.3.label": "Torte" }));
  expect(made.status, made.text).toBe(201);
  expect(endpointsOf(server)[0]?.settings.language).toBe("de");
  expect(unescaped(made.text)).toContain("<button>Senden</button>");
  expect(made.text).not.toContain("Its own words are in English");
  for (const language of ["", "tlh", "x".repeat(10_240)]) {
    const other = await ada.post(NEW, await newForm(ada, { name: `Other ${language.length}`, language }));
    expect(other.status).toBe(201);
    expect(other.text).toContain("Its own words are in English");
  }
  expect(endpointsOf(server).filter(({ settings }) => settings.language !== null)).toHaveLength(1);
});

test("a form made with a page of its own is ready with that page's address; code and keys are folded behind it", async () => {
  const server = await startServer();
  const ada = await visit(server);
  expect((await newForm(ada, {})).get("page")).toBe("off");
  const edited = await ada.post(NEW, await newForm(ada, { page: "on", action: "add-text" }));
  expect(formOf(edited.text, NEW).values.get("page")).toBe("on");
  const made = await ada.post(NEW, await newForm(ada, { name: "Cakes", page: "on" }));
  expect(made.status, made.text).toBe(201);
  const path = `/p/${endpointsOf(server)[0]?.id}`;
  const places = [`href="${server.url}${path}"`, "recipients/new", "<summary>For a website", "fpk_", "fsk_"];
  const order = places.map((part) => made.text.indexOf(part));
  expect(order).toEqual(order.filter((place) => place > 0).toSorted((one, other) => one - other));
  await until(async () => (await server.request({ method: "GET", path })).status === 200);
});

test("a form for a website is ready with the code to paste first, and has no page", async () => {
  const server = await startServer();
  const ada = await visit(server);
  for (const page of ["off", "", "<b>"]) {
    const { text } = await ada.post(NEW, await newForm(ada, { name: `Cakes ${page}`, page }));
    const order = ["<code>&lt;script", "fsk_", "Give it a page"].map((part) => text.indexOf(part));
    expect(order, page).toEqual(order.filter((place) => place > 0).toSorted((one, other) => one - other));
  }
  expect(endpointsOf(server).map(({ settings }) => settings.page.isOn)).toEqual([false, false, false]);
});

test("a page that cannot ask for a field is refused before the form is made, and says which", async () => {
  const server = await startServer();
  const ada = await visit(server);
  const schema =
    '{"lists":{"type":"array","required":true,"items":{"type":"array","items":{"type":"string"}}}}';
  const json = await ada.post(NEW, await newForm(ada, { action: "json" }));
  const refused = await ada.post(NEW, filled(json.text, { name: "Lists", page: "on", schema }));
  expect([refused.status, unescaped(refused.text)]).toEqual([
    422,
    expect.stringContaining('cannot ask for "lists"'),
  ]);
  expect(endpointsOf(server)).toEqual([]);
  expect((await ada.post(NEW, filled(refused.text, { page: "off" }))).status).toBe(201);
});

test("a new endpoint says that nobody is told, and leads to who shall be, with the endpoint chosen", async () => {
  const server = await startServer(EVERY_PAGE);
  const ada = await visit(server);
  await ada.post(NEW, await newForm(ada, { name: "Contact" }));
  const { text } = await ada.post(NEW, await newForm(ada, { name: "Shop" }));
  const id = endpointsOf(server).find(({ name }) => name === "Shop")?.id;
  for (const path of ["/dashboard/recipients/new", "/dashboard/webhooks/new"]) {
    expect(text).toContain(`href="${path}?endpoint=${id}"`);
    expect((await ada.get(`${path}?endpoint=${id}`)).text).toMatch(
      new RegExp(`<option value="${id}"\\s+selected>Shop`),
    );
  }
});

test("the form that the page offers posts to the new endpoint as it stands", async () => {
  const server = await startServer();
  const ada = await visit(server);
  const { text } = await ada.post(NEW, await newForm(ada, { name: "Contact" }));
  const snippet = unescaped(/<code>(&lt;script[\s\S]*?)<\/code>/.exec(text)?.[1] ?? "");
  const { action } = formOf(snippet, server.url);
  expect(action).toMatch(new RegExp(`^${server.url}/f/fpk_`));
  const answer = await server.request({
    method: "POST",
    path: new URL(action).pathname,
    headers: { "content-type": "application/x-www-form-urlencoded" },
    body: "name=Ana&email=ana%40example.org&message=Hello",
  });
  expect(answer.status).toBe(200);
  expect(server.stored()).toEqual([{ name: "Ana", email: "ana@example.org", message: "Hello" }]);
});

test("a form that a reload sends again makes no second endpoint, and shows no key", async () => {
  const server = await startServer();
  const ada = await visit(server);
  const form = await newForm(ada, { name: "Contact" });
  expect((await ada.post(NEW, form)).status).toBe(201);
  const again = await ada.post(NEW, form);
  expect([again.status, again.headers["location"]]).toEqual([
    303,
    "/dashboard/endpoints?notice=endpoint-made-already",
  ]);
  expect(endpointsOf(server)).toHaveLength(1);
});

test("the buttons of the editor send everything back as it was typed, and store nothing", async () => {
  const server = await startServer();
  const ada = await visit(server);
  let { text } = await ada.get(NEW);
  const press = async (action: string, values: Record<string, string> = {}) => {
    ({ text } = await ada.post(NEW, filled(text, { ...values, action })));
    return formOf(text, NEW).values;
  };
  await press("add-text", { name: HOSTILE, "f.0.description": HOSTILE });
  await press("up-3", { "f.3.name": "phone", "f.3.pattern": "(" });
  await press("remove-0");
  const form = await press("retype-1", { "f.1.kind": "number" });
  expect(form.get("name")).toBe(HOSTILE);
  expect([0, 1, 2].map((row) => form.get(`f.${row}.name`))).toEqual(["email", "phone", "message"]);
  expect([form.get("f.1.kind"), form.get("f.1.pattern")]).toEqual(["number", "("]);
  const json = await press("json");
  expect(JSON.parse(json.get("schema") ?? "")).toMatchObject({ phone: { type: "number" } });
  expect((await press("form")).get("f.0.name")).toBe("email");
  expect(endpointsOf(server)).toEqual([]);
});

test("a refused form keeps what was typed and names each problem at its field", async () => {
  const server = await startServer();
  const ada = await visit(server);
  const form = await newForm(ada, {
    name: "  ",
    "f.0.name": HOSTILE,
    "f.0.maxLength": "<b>",
    "f.1.name": "message",
  });
  const { status, text } = await ada.post(NEW, form);
  expect(status).toBe(422);
  expect(text).not.toContain("<script>alert");
  const described = [...text.matchAll(/aria-invalid="true" aria-describedby="([^"]*)"/g)].map(
    ([, ids = ""]) => ids,
  );
  expect(described.map((ids) => ids.split(" ").at(-1))).toEqual([
    "f-name-problem",
    "f-f-0-maxLength-problem",
    "f-f-2-name-problem",
  ]);
  for (const id of described.flatMap((ids) => ids.split(" "))) expect(text).toContain(`id="${id}"`);
  const again = formOf(text, NEW).values;
  for (const [name, value] of form) if (name !== "action") expect(again.get(name)).toBe(value);
  expect(endpointsOf(server)).toEqual([]);
});

test("a schema is checked as the command checks it, in its form and as JSON", async () => {
  const server = await startServer();
  const ada = await visit(server);
  const form = await ada.post(NEW, await newForm(ada, { name: "A", "f.0.pattern": "(?=x)" }));
  expect([form.status, unescaped(form.text)]).toEqual([
    422,
    expect.stringContaining("Pattern of “Your name” "),
  ]);
  const asJson = filled((await ada.post(NEW, await newForm(ada, { action: "json" }))).text, {
    name: "A",
    schema: '{"a":{"type":"string","minLenght":1}}',
  });
  const json = await ada.post(NEW, asJson);
  expect(json.status).toBe(422);
  expect(unescaped(json.text)).toContain('did you mean "minLength"?');
  expect(formOf(json.text, NEW).values.get("schema")).toBe('{"a":{"type":"string","minLenght":1}}');
  expect(endpointsOf(server)).toEqual([]);
});

test("a workspace has as many endpoints as its plan allows, and the refusal keeps the form", async () => {
  const server = await startServer({ plans: { hobby: { endpoints: 1 } } });
  const ada = await visit(server);
  expect((await ada.post(NEW, await newForm(ada, { name: "One" }))).status).toBe(201);
  const second = await ada.post(NEW, await newForm(ada, { name: "Two" }));
  expect([second.status, second.text]).toEqual([
    422,
    expect.stringContaining("The plan hobby allows 1 form, and"),
  ]);
  expect(formOf(second.text, NEW).values.get("name")).toBe("Two");
  expect(endpointsOf(server)).toHaveLength(1);
});

test("who has several workspaces chooses one, and no other than their own", async () => {
  const server = await startServer();
  await visit(server);
  const bob = await visit(server, "bob@example.com");
  const [adas, bobs] = server.owner.now(() => listWorkspaces());
  const further = server.owner.now(() =>
    insertWorkspaceRow("Further", "bob@example.com", server.clock.now()),
  );
  const { text } = await bob.get(NEW);
  expect(text).toContain(further.id);
  expect(text).toContain(bobs?.id);
  expect(text).not.toContain(adas?.id);
  const form = await newForm(bob, { name: "News", workspace: further.id });
  expect((await bob.post(NEW, form)).status).toBe(201);
  const foreign = await bob.post(NEW, await newForm(bob, { name: "News", workspace: adas?.id ?? "" }));
  const unknown = await bob.post(
    NEW,
    await newForm(bob, { name: "News", workspace: "ws_00000000000000000000000000" }),
  );
  expect([foreign.status, unknown.status]).toEqual([404, 404]);
  expect(endpointsOf(server).map(({ workspaceId }) => workspaceId)).toEqual([further.id]);
});

test("the list shows each of the viewer's endpoints with what came, and nobody else's", async () => {
  const server = await startServer();
  const ada = await visit(server);
  expect((await ada.get("/dashboard/endpoints")).text).toContain("Make the first form");
  const made = await ada.post(NEW, await newForm(ada, { name: "Café <b>&amp;" }));
  const key = made.text.match(/fpk_[0-9A-Za-z]{50}/)?.[0] ?? "";
  const post = { name: "Ana", email: "ana@example.org" };
  expect((await server.post(key, post)).status).toBe(200);
  server.clock.advance(40 * DAY_MS);
  for (const message of ["a", "b"]) expect((await server.post(key, { ...post, message })).status).toBe(200);
  const { text } = await (await visit(server)).get("/dashboard/endpoints");
  expect(text).toContain("Café &lt;b&gt;&amp;amp;");
  expect(/<td class="right num"[^>]*>\s*(\d+)\s*<\/td>/.exec(text)?.[1]).toBe("2");
  const bob = await visit(server, "bob@example.com");
  expect((await bob.get("/dashboard/endpoints")).text).not.toContain("Café");
});

test("the list goes on from page to page", async () => {
  const server = await startServer();
  const ada = await visit(server);
  for (let count = 0; count < 51; count += 1) await server.addEndpoint();
  const first = (await ada.get("/dashboard/endpoints")).text;
  const next = unescaped(/rel="next" href="([^"]*)"/.exec(first)?.[1] ?? "");
  const rows = (text: string) =>
    [...text.matchAll(/href="\/dashboard\/endpoints\/(ep_\w+)"/g)].map(([, id]) => id);
  const second = (await ada.get(next)).text;
  expect(new Set([...rows(first), ...rows(second)]).size).toBe(51);
  expect((await ada.get("/dashboard/endpoints?page=%22nonsense&sort=x&q=%22")).status).toBe(200);
});
