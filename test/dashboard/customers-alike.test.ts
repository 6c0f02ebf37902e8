import { expect, test } from "vitest";
import { run, text } from "../../src/database/steps.ts";
import { insertWorkspaceRow } from "../../src/workspaces/workspace-store.ts";
import { addEndpointOf, addFormOwner } from "../support/form-owner.ts";
import { goodPost, startServer } from "../support/test-server.ts";
import { visit } from "../support/visitor.ts";

/** An operator who sees the forms of two customers, each with one named Contact. */
async function twoCustomers() {
  const server = await startServer({
    server: { port: 0, baseUrl: "https://forms.example.com" },
    mail: { host: "127.0.0.1", port: 9, from: "f@example.com" },
  });
  const operator = await visit(server, "ada@example.com");
  const bakery = await addFormOwner(server, "bakery@example.com");
  const garage = await addFormOwner(server, "garage@example.com");
  return { server, operator, bakery, garage };
}

const optionsOf = (page: string): string =>
  /<select[^>]*name="endpoint"[^>]*>(.*?)<\/select>/s.exec(page)?.[1]?.replaceAll(/\s+/g, " ") ?? "";

test("wherever a form is chosen, the forms of several workspaces stand under their workspaces", async () => {
  const { operator, bakery, garage } = await twoCustomers();
  for (const path of [
    "/dashboard",
    "/dashboard/held",
    "/dashboard/recipients/new",
    "/dashboard/webhooks/new",
  ]) {
    const options = optionsOf((await operator.get(path)).text);
    expect(options, path).toMatch(
      new RegExp(
        `<optgroup label="bakery">.*${bakery.endpoint.id}.*</optgroup>.*<optgroup label="garage">.*${garage.endpoint.id}.*</optgroup>`,
      ),
    );
  }
  // Whoever sees one workspace only needs no groups.
  expect(optionsOf((await bakery.get("/dashboard/webhooks/new")).text)).not.toContain("optgroup");
});

test("two workspaces of one name are told apart by their accounts, or by their ids", async () => {
  const { server, operator, bakery } = await twoCustomers();
  const twin = await addFormOwner(server, "bakery@example.org");
  const options = optionsOf((await operator.get("/dashboard/webhooks/new")).text);
  expect(options).toContain('<optgroup label="bakery (bakery@example.com)">');
  expect(options).toContain('<optgroup label="bakery (bakery@example.org)">');
  server.owner.now(() => insertWorkspaceRow("bakery", "bakery@example.com", server.clock.now()));
  const { text } = await bakery.get("/dashboard/endpoints/new");
  expect(text).toContain(`bakery (${bakery.endpoint.workspaceId})`);
  expect(text).not.toContain(twin.endpoint.workspaceId);
});

test("with several forms none is chosen beforehand for a recipient, and nothing is made until one is", async () => {
  const { operator, garage } = await twoCustomers();
  for (const [path, sent] of [
    ["/dashboard/recipients/new", { address: "g@example.com" }],
    ["/dashboard/webhooks/new", { url: "https://example.com/hook", format: "standard" }],
  ] as const) {
    const { status, text } = await operator.post(path, { endpoint: "", ...sent });
    expect(status, path).toBe(422);
    expect(text, path).toContain("Choose the form whose posts are sent.");
    expect(optionsOf(text), path).toMatch(/^\s*<option value="">Choose the form<\/option>/);
    const chosen = optionsOf((await operator.get(`${path}?endpoint=${garage.endpoint.id}`)).text);
    expect(chosen, path).toMatch(new RegExp(`value="${garage.endpoint.id}"\\s+selected`));
  }
  expect((await operator.get("/dashboard/notifications")).text).not.toContain("g@example.com");
  // An owner of one form has nothing to choose.
  expect(optionsOf((await garage.get("/dashboard/webhooks/new")).text)).not.toContain('value=""');
});

test("with several workspaces none is chosen beforehand for a new form", async () => {
  const { operator } = await twoCustomers();
  const { status, text } = await operator.post("/dashboard/endpoints/new", {
    name: "Contact",
    workspace: "",
    "fields.0.name": "email",
    "fields.0.type": "string",
  });
  expect(status).toBe(422);
  expect(text).toContain("Choose the workspace that it belongs to.");
});

test("lists name the workspace beside a form as soon as their reader sees several, operator or not", async () => {
  const { server, operator, bakery } = await twoCustomers();
  await server.post(bakery.endpoint.secret, goodPost);
  const url = "https://example.com/hook";
  const sent = { endpoint: bakery.endpoint.id, url, format: "standard", max_spam_score: "100", headers: "" };
  expect((await operator.post("/dashboard/webhooks/new", sent)).status).toBe(201);
  const named = /<bdi>Contact<\/bdi><small><bdi>bakery<\/bdi><\/small>/;
  expect((await operator.get("/dashboard")).text).toMatch(named);
  expect((await operator.get("/dashboard/notifications")).text).toMatch(named);
  expect((await bakery.get("/dashboard/notifications")).text).not.toMatch(named);
  server.owner.now(() => insertWorkspaceRow("Second shop", "bakery@example.com", server.clock.now()));
  expect((await bakery.get("/dashboard/notifications")).text).toMatch(named);
});

const idsIn = (page: string): string[] =>
  [...page.matchAll(/<a class="link" href="\/dashboard\/(?:endpoints\/|usage\?workspace=)(\w+)/g)].map(
    ([, id]) => id ?? "",
  );

test("forms are found by their name or their workspace's, and sorted by name or by their last post", async () => {
  const { server, operator, bakery, garage } = await twoCustomers();
  for (let count = 0; count < 8; count += 1) await addEndpointOf(server, garage, `Form ${count}`);
  await server.post(garage.endpoint.secret, goodPost);
  const listed = async (query: string) => idsIn((await operator.get(`/dashboard/endpoints?${query}`)).text);
  expect((await listed("")).slice(0, 2)).toEqual([bakery.endpoint.id, garage.endpoint.id]);
  expect(await listed("q=BAKE")).toEqual([bakery.endpoint.id]);
  expect(await listed("q=contact")).toEqual([bakery.endpoint.id, garage.endpoint.id]);
  expect((await listed("sort=last"))[0]).toBe(garage.endpoint.id);
  expect(await listed("q=%22%3E%3Cscript%3E")).toEqual([]);
  expect((await operator.get("/dashboard/endpoints?q=nothing")).text).toContain("No form fits");
  // A search shows nothing of others.
  expect(idsIn((await bakery.get("/dashboard/endpoints?q=contact")).text)).toEqual([bakery.endpoint.id]);
});

test("forms and workspaces stand in the order of people: numbers by their value, and without regard to case", async () => {
  const { server, operator, bakery } = await twoCustomers();
  for (const name of ["Client 100", "client 9", "Client 10", "Client 1"])
    await addEndpointOf(server, bakery, name);
  for (const email of ["site-10@example.com", "site-9@example.com"]) await addFormOwner(server, email);
  const inOrder = (page: string, names: readonly string[]) =>
    names.toSorted((left, right) => page.indexOf(left) - page.indexOf(right));
  const forms = [">Client 1<", ">client 9<", ">Client 10<", ">Client 100<", ">Contact<"];
  for (const path of ["/dashboard/endpoints", "/dashboard", "/dashboard/members"]) {
    const visitor = path.endsWith("members") ? bakery : operator;
    const page = (await visitor.get(path)).text.replaceAll(/\s*(<)|(>)\s*/g, "$1$2");
    expect([path, inOrder(page, forms)]).toEqual([path, forms]);
    for (const form of forms) expect(page, path).toContain(form);
  }
  const sites = ["site-9", "site-10"];
  for (const path of ["endpoints", "endpoints/new", "members", `endpoints/${bakery.endpoint.id}`]) {
    const page = (await operator.get(`/dashboard/${path}`)).text;
    expect([path, inOrder(page, sites)]).toEqual([path, sites]);
    expect(page, path).toContain("site-9");
  }
});

test("whoever sees several workspaces gets their usage in one table, the fullest first, and finds and sorts them", async () => {
  const { server, operator, bakery, garage } = await twoCustomers();
  await server.post(garage.endpoint.secret, goodPost);
  const listed = async (query: string) => idsIn((await operator.get(`/dashboard/usage?${query}`)).text);
  const all = (await operator.get("/dashboard/usage")).text;
  expect(all).toMatch(/<dt>Workspaces<\/dt><dd class="figure">\s*3\s*</);
  expect(idsIn(all)[0]).toBe(garage.endpoint.workspaceId);
  expect(await listed("q=bakery")).toEqual([bakery.endpoint.workspaceId]);
  expect((await listed("sort=name"))[1]).toBe(bakery.endpoint.workspaceId);
  const one = (await operator.get(`/dashboard/usage?workspace=${bakery.endpoint.workspaceId}`)).text;
  expect(one).toMatch(/Usage\s+of <bdi>bakery<\/bdi>/);
  // An owner of one workspace sees it at once, and no other.
  const own = (await bakery.get("/dashboard/usage")).text;
  expect(own).not.toContain("Find a workspace");
  server.owner.now(() => run(text("UPDATE workspace SET plan = 'gone' WHERE name = 'bakery'")));
  const first = (await operator.get("/dashboard/usage")).text;
  expect(idsIn(first)[0]).toBe(bakery.endpoint.workspaceId);
  expect(first).toContain("Plan is not configured: no post is taken");
});
