import { expect, test } from "vitest";
import { listChanges } from "../../src/audit/audit-store.ts";
import { getEndpoint, listEndpoints, readSchema } from "../../src/endpoints/endpoint-store.ts";
import { listKeys } from "../../src/keys/key-store.ts";
import { exampleSchema } from "../support/example-schema.ts";
import { formOf, unescaped } from "../support/page.ts";
import { goodPost, startServer, type TestEndpoint, type TestServer } from "../support/test-server.ts";
import { until } from "../support/until.ts";
import { visit, type Visitor } from "../support/visitor.ts";
import { changeEndpoint, changeSchema } from "../support/terminal.ts";

const KEY = /f[sp]k_[0-9A-Za-z]{50}/g;
const HOSTILE = `"><script>alert(1)</script>\u202e`;

interface Opened {
  readonly server: TestServer;
  readonly ada: Visitor;
  readonly endpoint: TestEndpoint;
  readonly path: string;
}

/** A server with an endpoint, and its owner signed in. */
async function opened(): Promise<Opened> {
  const server = await startServer();
  const ada = await visit(server);
  const endpoint = await server.addEndpoint();
  return { server, ada, endpoint, path: `/dashboard/endpoints/${endpoint.id}` };
}

/** The form of a page, as a browser would send it with these values. */
async function form(
  visitor: Visitor,
  page: string,
  values: Record<string, string>,
  action = page,
): Promise<URLSearchParams> {
  const sent = formOf((await visitor.get(page)).text, action).values;
  for (const [name, value] of Object.entries(values)) sent.set(name, value);
  return sent;
}

const stored = ({ server, endpoint }: Opened) => server.owner.now(() => getEndpoint(endpoint.id));
const actions = ({ server }: Opened) => server.owner.now(() => listChanges(10)).map(({ action }) => action);

test("the settings are saved, and hold for the next post", async () => {
  const opening = await opened();
  const { ada, path, server, endpoint } = opening;
  const values = {
    name: "Contact us",
    allowed_origins: "https://example.com/\nhttps://*.example.org\n",
    unknown_fields: "reject",
    honeypots: "website\nfax",
    success_url: "https://example.com/thanks",
    error_url: "",
    language: "de",
    keep_days: "90",
    store_address: "none",
  };
  const saved = await ada.post(path, await form(ada, path, values));
  expect([saved.status, saved.headers["location"]]).toEqual([303, `${path}?notice=saved`]);
  expect(stored(opening)).toMatchObject({
    name: "Contact us",
    settings: {
      allowedOrigins: ["https://example.com", "https://*.example.org"],
      unknownFields: "reject",
      honeypots: ["website", "fax"],
      successUrl: "https://example.com/thanks",
      errorUrl: null,
      language: "de",
      keepDays: 90,
      storeAddress: "none",
    },
  });
  expect((await server.post(endpoint.secret, { ...goodPost, more: 1 })).status).toBe(400);
  expect(actions(opening)).toEqual(["endpoint.set"]);
  // The form shows what is stored: sending it again changes nothing.
  await ada.post(path, await form(ada, path, {}));
  expect(stored(opening).settings.honeypots).toEqual(["website", "fax"]);
  await ada.post(path, await form(ada, path, { allowed_origins: "*", honeypots: "", keep_days: "" }));
  expect(stored(opening).settings).toMatchObject({ allowedOrigins: [], honeypots: null, keepDays: null });
});

test("refused settings keep what was typed, and each problem is told at its field", async () => {
  const opening = await opened();
  const { ada, path } = opening;
  const values = {
    name: HOSTILE + "\u0007",
    allowed_origins: `https://example.com\n${HOSTILE}`,
    honeypots: "_elapsed_ms",
    success_url: "javascript:alert(1)",
    error_url: "x",
    keep_days: "many",
  };
  const refused = await ada.post(path, await form(ada, path, values));
  expect(refused.status).toBe(422);
  expect(refused.text).not.toContain("<script>alert");
  for (const name of Object.keys(values)) expect(refused.text).toContain(`id="f-${name}-problem"`);
  const again = formOf(refused.text, path).values;
  for (const [name, value] of Object.entries(values))
    expect(again.get(name)).toBe(value.replaceAll("\n", "\r\n"));
  expect(stored(opening).name).toBe("Contact");
});

test("the second of two who edit the settings is told what changed, and loses nothing", async () => {
  const opening = await opened();
  const { ada, path, server, endpoint } = opening;
  const sent = await form(ada, path, { name: "Mine", keep_days: "7" });
  server.owner.now(() =>
    changeEndpoint(endpoint.id, { name: "Theirs", settings: { successUrl: "https://example.com/x" } }),
  );
  const refused = await ada.post(path, sent);
  expect(refused.status).toBe(409);
  expect(unescaped(refused.text)).toContain("Now Name: Theirs");
  expect(unescaped(refused.text)).toContain("Now Page after success: https://example.com/x");
  expect(refused.text).not.toContain("Now Days");
  expect(stored(opening)).toMatchObject({ name: "Theirs", settings: { keepDays: null } });
  const again = formOf(refused.text, path).values;
  expect([again.get("name"), again.get("keep_days")]).toEqual(["Mine", "7"]);
  expect((await ada.post(path, again)).status).toBe(303);
  expect(stored(opening)).toMatchObject({ name: "Mine", settings: { keepDays: 7, successUrl: null } });
  for (const shown of ["", "null", "{", '"x"', '{"__proto__":1}']) {
    const odd = await form(ada, path, { shown });
    expect((await ada.post(path, odd)).status).toBe(409);
  }
});

test("a form that is checked while it is filled in changes nothing, right or wrong", async () => {
  const opening = await opened();
  const { ada, path } = opening;
  const before = JSON.stringify(stored(opening));
  const check = async (page: string, values: Record<string, string>) => {
    const { status, text } = await ada.post(page, await form(ada, page, { ...values, action: "check" }));
    expect(status).toBe(200);
    return Object.keys(JSON.parse(text) as object);
  };
  expect(await check(path, { name: "Other", keep_days: "9" })).toEqual([]);
  expect(await check(path, { name: "", keep_days: "x" })).toEqual(["name", "keep_days"]);
  expect(await check(`${path}/fields`, { "f.0.name": "other" })).toEqual([]);
  expect(await check(`${path}/fields`, { "f.0.name": "email", "f.2.pattern": "(" })).toEqual([
    "f.1.name",
    "f.2.pattern",
  ]);
  expect(await check("/dashboard/endpoints/new", { name: "Other" })).toEqual([]);
  expect(await check("/dashboard/endpoints/new", { name: "" })).toEqual(["name"]);
  expect(JSON.stringify(stored(opening))).toBe(before);
  expect(actions(opening)).toEqual([]);
});

test("a paused endpoint refuses posts until it is opened again", async () => {
  const opening = await opened();
  const { ada, path, server, endpoint } = opening;
  const post = async () => (await server.post(endpoint.secret, goodPost)).status;
  expect((await ada.post(`${path}/state`, { state: "paused" })).status).toBe(303);
  expect(await post()).toBe(403);
  expect((await ada.get(path)).text).toContain(">Paused<");
  expect((await ada.post(`${path}/state`, { state: "active" })).status).toBe(303);
  expect(await post()).toBe(200);
  expect((await ada.post(`${path}/state`, { state: "deleted" })).status).toBe(400);
  expect(actions(opening)).toEqual(["endpoint.resume", "endpoint.pause"]);
});

test("an endpoint is deleted with its posts only if its name is typed", async () => {
  const opening = await opened();
  const { ada, path, server, endpoint } = opening;
  await server.post(endpoint.secret, goodPost);
  for (const confirm of ["", "contact", HOSTILE]) {
    const refused = await ada.post(`${path}/delete`, { confirm });
    expect(refused.status).toBe(422);
    expect(formOf(refused.text, `${path}/delete`).values.get("confirm")).toBe(confirm);
  }
  expect(server.stored()).toHaveLength(1);
  const deleted = await ada.post(`${path}/delete`, { confirm: " Contact " });
  expect([deleted.status, deleted.headers["location"]]).toEqual([303, expect.stringMatching(/deleted$/)]);
  await until(() => server.owner.now(() => listEndpoints(null)).length === 0);
  expect(server.owner.now(() => listEndpoints(null))).toEqual([]);
  expect(server.stored()).toEqual([]);
  expect((await server.post(endpoint.secret, goodPost)).status).toBe(401);
  expect((await ada.get(path)).status).toBe(404);
  expect(actions(opening)).toEqual(["endpoint.delete"]);
});

test("new fields are checked from the next post on, and saving the same fields changes nothing", async () => {
  const opening = await opened();
  const { ada, path, server, endpoint } = opening;
  const fields = `${path}/fields`;
  const same = await ada.post(fields, await form(ada, fields, { action: "save" }));
  expect(same.headers["location"]).toBe(`${fields}?notice=nothing-changed`);
  expect(stored(opening).schemaVersion).toBe(1);
  const saved = await ada.post(fields, await form(ada, fields, { action: "save", "f.2.required": "on" }));
  expect(saved.headers["location"]).toBe(`${fields}?notice=fields-saved`);
  expect(server.owner.now(() => readSchema(stored(opening)))).toEqual({
    ...exampleSchema,
    message: { type: "string", required: true },
  });
  expect((await server.post(endpoint.secret, { name: "A", email: "a@example.org" })).status).toBe(400);
  expect(actions(opening)).toEqual(["schema.set"]);
});

test("the second of two who edit the fields is told which changed, and loses nothing", async () => {
  const opening = await opened();
  const { ada, path, server, endpoint } = opening;
  const fields = `${path}/fields`;
  const sent = await form(ada, fields, { action: "save", "f.0.name": "fullname" });
  const theirs = {
    name: { type: "string", required: true, label: "You", description: "As friends say." },
    email: { type: "string" },
    [HOSTILE]: { type: "number" },
  } as const;
  server.owner.now(() => changeSchema(endpoint.id, theirs, server.clock.now()));
  const refused = await ada.post(fields, sent);
  expect(refused.status).toBe(409);
  const told = [...unescaped(refused.text).matchAll(/<li dir="auto">Now “([^”]*)” ([^<]*)</g)].map(
    ([, name, what]) => [name, what],
  );
  expect(told).toEqual([
    ["name", "has another label and description"],
    ["email", "has other rules"],
    [HOSTILE, "is new"],
    ["message", "is removed"],
  ]);
  expect(refused.text).not.toContain("<script>alert");
  expect(server.owner.now(() => readSchema(stored(opening)))).toEqual(theirs);
  const again = formOf(refused.text, fields).values;
  expect(again.get("f.0.name")).toBe("fullname");
  again.set("action", "save");
  expect((await ada.post(fields, again)).status).toBe(303);
  expect(Object.keys(server.owner.now(() => readSchema(stored(opening))))).toEqual([
    "fullname",
    "email",
    "message",
  ]);
  for (const version of ["", "0", "1e9", "x"])
    expect((await ada.post(fields, await form(ada, fields, { action: "save", version }))).status).toBe(409);
});

test("whoever saves fields of a version that is not kept any more is told of all, and loses nothing", async () => {
  const { ada, path, server, endpoint } = await opened();
  const fields = `${path}/fields`;
  const sent = await form(ada, fields, { action: "save", "f.0.name": "fullname" });
  const changed = { email: { type: "string" } } as const;
  for (let count = 0; count < 100; count += 1)
    server.owner.now(() => changeSchema(endpoint.id, changed, server.clock.now()));
  const refused = await ada.post(fields, sent);
  expect(refused.status).toBe(409);
  expect(refused.text).toMatch(/Now “email” is new/);
  expect(formOf(refused.text, fields).values.get("f.0.name")).toBe("fullname");
});

test("a key is issued, rotated and revoked; each new one is shown once, and in no later page or record", async () => {
  const opening = await opened();
  const { ada, path, server, endpoint } = opening;
  const keys = `${path}/keys`;
  const shown: string[] = [];
  const pages: string[] = [];
  const issue = async (action: string, values: Record<string, string>) => {
    const page = (await ada.get(keys)).text;
    expect(page).toContain("/f/fpk_YOUR_PUBLISHABLE_KEY");
    const sent = formOf(page, action).values;
    for (const [name, value] of Object.entries(values)) sent.set(name, value);
    const answer = await ada.post(action, sent);
    expect(answer.status).toBe(201);
    const repeated = await ada.post(action, sent);
    expect([repeated.status, repeated.headers["location"]]).toEqual([
      303,
      `${keys}?notice=key-issued-already`,
    ]);
    const [key = ""] = answer.text.match(KEY) ?? [];
    shown.push(key);
    pages.push(answer.text);
    return key;
  };
  const works = async (key: string) => (await server.post(key, goodPost)).status;
  const publishable = await issue(keys, { kind: "publishable" });
  expect([publishable.slice(0, 4), await works(publishable)]).toEqual(["fpk_", 200]);
  expect(pages[0]).toContain(`/f/${publishable}`);
  expect(pages[0]).not.toContain("fpk_YOUR_PUBLISHABLE_KEY");
  const old = server.owner.now(() => listKeys(endpoint.id)).find(({ kind }) => kind === "secret");
  const successor = await issue(`${keys}/${old?.id}/rotate`, { grace: "hour" });
  expect([await works(successor), await works(endpoint.secret)]).toEqual([200, 200]);
  server.clock.advance(3_600_001);
  expect([await works(successor), await works(endpoint.secret)]).toEqual([200, 401]);
  const made = server.owner
    .now(() => listKeys(endpoint.id))
    .find(({ lookup }) => successor.slice(4).startsWith(lookup));
  expect((await ada.post(`${keys}/${made?.id}/revoke`)).status).toBe(303);
  expect(await works(successor)).toBe(401);
  expect(server.owner.now(() => listKeys(endpoint.id))).toHaveLength(4);
  const elsewhere = [
    (await ada.get(keys)).text,
    ...server.log,
    JSON.stringify(server.owner.now(() => listChanges(100))),
  ];
  for (const key of shown) expect(elsewhere.filter((text) => text.includes(key.slice(16)))).toEqual([]);
  expect(actions(opening)).toEqual(["key.revoke", "key.rotate", "key.issue"]);
  expect((await ada.post(keys, { kind: "master" })).status).toBe(400);
  expect((await ada.post(`${keys}/${old?.id}/rotate`, { grace: "ever" })).status).toBe(400);
  expect((await ada.post(`${keys}/${old?.id}/rotate`, { grace: "now" })).status).toBe(409);
});

test("a secret key that a browser sent is told, with what to do", async () => {
  const { ada, path, server, endpoint } = await opened();
  await server.post(endpoint.secret, goodPost, { origin: "https://example.com" });
  expect((await ada.get(`${path}/keys`)).text).toContain("A browser sent this secret key");
});

test("a post is tried with the outcome that a real one has, and nothing is stored or counted", async () => {
  const opening = await opened();
  const { ada, path, server, endpoint } = opening;
  const tried = `${path}/try`;
  const outcome = async (values: Record<string, string>) => {
    const { status, text } = await ada.post(tried, await form(ada, tried, values));
    expect(status).toBe(200);
    return /<h2 id="outcome">\s*([^<]*?)\s*<\/h2>/.exec(unescaped(text))?.[1];
  };
  expect(await outcome({ "p.name": "Ana", "p.message": "Are you open on Sunday?" })).toBe(
    "It would be taken",
  );
  const wrong = await ada.post(tried, await form(ada, tried, { "p.email": HOSTILE, "p.name": "" }));
  expect(wrong.text).not.toContain("<script>alert");
  for (const name of ["name", "email"]) expect(wrong.text).toContain(`id="f-p-${name}-problem"`);
  expect(formOf(wrong.text, tried).values.get("p.email")).toBe(HOSTILE);
  server.owner.now(() => changeEndpoint(endpoint.id, { state: "paused" }));
  expect(await outcome({})).toContain("paused");
  expect(server.stored()).toEqual([]);
  expect(server.owner.prepare("SELECT count(*) FROM usage").pluck().get()).toBe(0);
  expect(actions(opening)).toEqual([]);
});

test("every kind of field can be tried", async () => {
  const server = await startServer();
  const ada = await visit(server);
  const schema = {
    choice: { type: "string", enum: ["a", HOSTILE] },
    count: { type: "number", minimum: 3 },
    yes: { type: "boolean" },
    tags: { type: "array", items: { type: "string" }, minItems: 2 },
    group: { type: "object", properties: { "a[b]": { type: "number", required: true } } },
    "x[y]": { type: "string", required: true },
  } as const;
  const { id } = await server.addEndpoint({ schema });
  const tried = `/dashboard/endpoints/${id}/try`;
  const good = await form(ada, tried, {
    "p.choice": HOSTILE,
    "p.tags": "one\r\ntwo",
    "p.group": '{"a[b]":1}',
    "p.yes": "false",
  });
  expect((await ada.post(tried, good)).text).toContain("It would be taken");
  const bad = await form(ada, tried, { "p.count": "two", "p.tags": "one", "p.group": "{", "p.x[y]": "" });
  const { text } = await ada.post(tried, bad);
  for (const name of ["count", "tags", "group", "x-y-"]) expect(text).toContain(`id="f-p-${name}-problem"`);
});

test("what belongs to another workspace is like what does not exist, on every route", async () => {
  const { server, endpoint, ada } = await opened();
  const bob = await visit(server, "bob@example.com");
  const [key] = server.owner.now(() => listKeys(endpoint.id));
  const none = "ep_00000000000000000000000000";
  const noKey = "key_00000000000000000000000000";
  const before = JSON.stringify([
    server.owner.now(() => listEndpoints(null)),
    server.owner.now(() => listKeys(endpoint.id)),
  ]);
  const same = async (path: (id: string, key: string) => string, values: Record<string, string> | null) => {
    const ask = (target: string) => (values === null ? bob.get(target) : bob.post(target, values));
    const plain = (text: string) => text.replaceAll(/(?:ep|key|req)_\w+|<code>[^<]*<\/code>/g, "…");
    const [foreign, unknown] = [await ask(path(endpoint.id, key?.id ?? "")), await ask(path(none, noKey))];
    expect([foreign.status, unknown.status]).toEqual([404, 404]);
    expect(plain(foreign.text)).toBe(plain(unknown.text));
  };
  for (const section of ["", "/fields", "/keys", "/try"])
    await same((id) => `/dashboard/endpoints/${id}${section}`, null);
  const settings = Object.fromEntries(
    await form(ada, `/dashboard/endpoints/${endpoint.id}`, { name: "Stolen" }),
  );
  const fields = Object.fromEntries(
    await form(ada, `/dashboard/endpoints/${endpoint.id}/fields`, { action: "save" }),
  );
  await same((id) => `/dashboard/endpoints/${id}`, settings);
  await same((id) => `/dashboard/endpoints/${id}`, { ...settings, keep_days: "x" });
  await same((id) => `/dashboard/endpoints/${id}`, { ...settings, action: "check" });
  for (const action of ["save", "add", "json", "check"])
    await same((id) => `/dashboard/endpoints/${id}/fields`, { ...fields, action });
  await same((id) => `/dashboard/endpoints/${id}/state`, { state: "paused" });
  await same((id) => `/dashboard/endpoints/${id}/delete`, { confirm: "Contact" });
  await same((id) => `/dashboard/endpoints/${id}/try`, { "p.name": "x" });
  await same((id) => `/dashboard/endpoints/${id}/keys`, { kind: "secret" });
  await same((id, each) => `/dashboard/endpoints/${id}/keys/${each}/rotate`, { grace: "now" });
  await same((id, each) => `/dashboard/endpoints/${id}/keys/${each}/revoke`, {});
  // Nor is a key reached through an endpoint of one's own.
  const own = await server.addEndpoint();
  const foreignKey = `/dashboard/endpoints/${own.id}/keys/${key?.id}/revoke`;
  expect((await ada.post(foreignKey)).status).toBe(404);
  expect(
    JSON.stringify([
      server.owner.now(() => listEndpoints(null)).slice(0, 1),
      server.owner.now(() => listKeys(endpoint.id)),
    ]),
  ).toBe(before);
});
