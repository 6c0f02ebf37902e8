import { afterAll, beforeAll, expect, test } from "vitest";
import { type Membership, storeMember } from "../../src/workspaces/member-store.ts";
import { contentOf } from "../support/database-content.ts";
import { addressOf, type DashboardRoute, dashboardRoutes } from "../support/dashboard-routes.ts";
import { EDITOR, READER } from "../support/members.ts";
import { furnish, type OwnerHome } from "../support/owner-home.ts";
import { launchServer, type TestServer } from "../support/test-server.ts";
import { roleTable } from "../support/role-table.ts";
import { until } from "../support/until.ts";
import { type Visitor, visit } from "../support/visitor.ts";

/*
 * Every route of the dashboard that names a row of Ada's workspace, tried by its members: a new page is covered without being named here.
 */

/** What a reader may send: what is about themselves, and marks of reading. */
const READERS_WRITES = /\/(?:leave|accept|decline)$/;
/** What an editor may not: they send all else. */
const OWNERS_WRITES = /\/(?:workspaces\/:id(?!\/leave)|endpoints\/:id\/(?:delete|move)$|spam\/workspaces)/;
/** Of whoever is signed in, with an account of their own. */
const OWN = /^\/dashboard\/(?:account|invitations|system|help)\b/;

/** Of operators. */
const SYSTEM = /^\/dashboard\/system\b/;
/** Rows of Ada's own account. */
const OWN_ROW = /^\/dashboard\/(?:account|invitations)\/.*:/;

let server: TestServer;
let routes: readonly DashboardRoute[];
let ada: OwnerHome;

beforeAll(async () => {
  server = await launchServer({
    plans: { hobby: { monthlySubmissions: null, endpoints: null, customSpam: true } },
  });
  routes = (await dashboardRoutes(server)).filter(
    ({ path, isOpen }) => !isOpen && path.includes("/:") && !OWN.test(path),
  );
  await visit(server, "operator@example.com");
  ada = await furnish(server, "ada@example.com");
  // What is being sent is recorded when it ends; the next attempt waits for a clock that stands still.
  await until(
    () => server.owner.prepare("SELECT 1 FROM delivery WHERE state = 'sending'").get() === undefined,
  );
});
afterAll(() => server.stop());

async function memberAs(email: string, membership: Membership): Promise<Visitor> {
  const visitor = await visit(server, email);
  const place = { workspaceId: ada.workspaceId, accountId: visitor.accountId };
  await server.owner.transaction(() => storeMember(place, membership, { since: 1, byAccountId: null }));
  return visitor;
}

/** All rows, but for what a look leaves. */
async function content(): Promise<unknown> {
  return { ...(await contentOf(server.owner)), session: null, submission_read: null };
}

test("every route of the dashboard is tried by every role, and the table is printed", async () => {
  const stranger = await visit(server, "stranger@example.com");
  const people: Readonly<Record<string, Visitor>> = {
    operator: await visit(server, "operator@example.com"),
    owner: ada.visitor,
    editor: await memberAs("editor@example.com", EDITOR),
    reader: await memberAs("reader@example.com", READER),
    stranger,
  };
  const table = roleTable(Object.keys(people));
  const before = await content();
  const ofRows = new Set(routes.map(({ path }) => path));
  const all = (await dashboardRoutes(server)).filter(
    ({ path, isOpen }) => !isOpen && !path.endsWith("/events"),
  );
  for (const route of all) {
    const [address, name] = [addressOf(route, ada), `${route.method} ${route.path}`];
    for (const [person, visitor] of Object.entries(people)) {
      // Rights are looked at before a form is read, and this is none: nobody changes anything.
      const isOfRow = ofRows.has(route.path);
      const isClosed =
        (isOfRow && person === "stranger") ||
        (SYSTEM.test(route.path) && person !== "operator") ||
        (OWN_ROW.test(route.path) && person !== "owner" && person !== "operator");
      // Whoever it is closed to sends a form, which changes nothing all the same.
      const type = isClosed ? {} : { "content-type": "application/json" };
      const { status } =
        route.method === "GET" ? await visitor.get(address) : await visitor.post(address, {}, type);
      table.note(name, person, status === 415 ? "may send" : status < 400 ? "may" : String(status));
      if (isOfRow && person === "owner") expect([403, 404], `${name} by its owner`).not.toContain(status);
      if (isOfRow && person === "operator") expect(status, `${name} by an operator`).not.toBe(403);
      if (isOfRow && person === "stranger") expect(status, `${name} by a stranger`).toBe(404);
      if (isClosed) expect([403, 404], `${name} by ${person}`).toContain(status);
    }
  }
  table.print("Routes of the dashboard, by each role:");
  expect(table.lines().length).toBe(1 + all.length);
  expect(await content()).toEqual(before);
});

test("a reader reads what concerns posts, and is refused every write but marks of reading, with the role's name", async () => {
  const reader = await memberAs("reader@example.com", READER);
  const before = await content();
  for (const route of routes.filter(({ path }) => !READERS_WRITES.test(path))) {
    const path = addressOf(route, ada);
    const answer = route.method === "GET" ? await reader.get(path) : await reader.post(path, { name: "x" });
    const name = `${route.method} ${path}: ${answer.status}`;
    if (route.method === "POST") expect(answer.status, name).toBe(403);
    else expect([200, 303, 403], name).toContain(answer.status);
    if (answer.status === 403) expect(answer.text, name).toContain("The role reader in this workspace");
  }
  expect(await content()).toEqual(before);
});

test("a reader's bulk marks change nothing but what they have read", async () => {
  const reader = await memberAs("reader@example.com", READER);
  const before = await content();
  const [id = ""] = ada.submissionIds;
  for (const deed of ["spam", "ham", "none", "done", "open", "assign", "delete", "undelete", "purge"]) {
    const { status, text } = await reader.post("/dashboard/bulk", { id, do: deed });
    expect([status, text.includes("The role reader")], deed).toEqual([403, true]);
  }
  for (const deed of ["read", "unread"])
    expect((await reader.post("/dashboard/bulk", { id, do: deed })).status).toBe(303);
  expect(await content()).toEqual(before);
});

test("forms that name somebody else's rows in their body change nothing for a reader, a stranger or whoever edits another form", async () => {
  const others = { ...EDITOR, endpoints: ["ep_01h455vb4pex5vsknk084sn02q"] };
  const people = {
    reader: await memberAs("reader@example.com", READER),
    bound: await memberAs("bound@example.com", others),
    stranger: await visit(server, "stranger@example.com"),
  };
  const { heldId: held, endpointId: endpoint, workspaceId: workspace } = ada;
  const FORMS: readonly (readonly [path: string, form: Record<string, string>])[] = [
    ["/held/release", { id: held }],
    ["/held/drop", { id: held, confirmed: "yes" }],
    [`/held/drop-all?endpoint=${endpoint}`, { newest: held, confirmed: "yes" }],
    [`/empty-bin?workspace=${workspace}`, { confirmed: "yes" }],
    [`/empty-bin?endpoint=${endpoint}`, { confirmed: "yes" }],
    ["/recipients/new", { endpoint, address: "me@example.com" }],
    ["/webhooks/new", { endpoint, url: "https://example.org/hook" }],
    ["/endpoints/new", { workspace, name: "Mine", action: "create" }],
  ];
  const before = await content();
  for (const [name, person] of Object.entries(people))
    for (const [path, form] of FORMS) {
      const { status } = await person.post(`/dashboard${path}`, form);
      expect([400, 403, 404, 422], `${path} by the ${name}: ${status}`).toContain(status);
    }
  // Without naming anything, all that one may empty or drop is one's own.
  for (const person of Object.values(people))
    for (const path of ["/held/drop-all", "/empty-bin"])
      await person.post(`/dashboard${path}`, { newest: held, confirmed: "yes" });
  expect(await content()).toEqual(before);
});

test("the inbox and a submission offer a reader no button that would be refused", async () => {
  const reader = await memberAs("reader@example.com", READER);
  for (const path of [
    "/dashboard",
    "/dashboard?deleted=1",
    `/dashboard/submissions/${ada.submissionIds[0] ?? ""}`,
  ]) {
    const { status, text } = await reader.get(path);
    const deeds = [...text.matchAll(/name="do" value="(\w+)"/g)].map(([, deed]) => deed);
    expect(
      deeds.filter((deed) => deed !== "read" && deed !== "unread"),
      path,
    ).toEqual([]);
    expect([status, text.includes("empty-bin"), text.includes("/notes")], path).toEqual([200, false, false]);
  }
  const silent = await memberAs("silent@example.com", { ...READER, mayExport: false });
  // What may be exported of no form in the inbox is not offered; one's own workspace has none.
  expect((await silent.get("/dashboard")).text).not.toContain("export");
  expect((await reader.get("/dashboard")).text).toContain("export");
});

test("a reader is told who looks after a submission, and so is everybody in the bin", async () => {
  const reader = await memberAs("reader@example.com", READER);
  const [id = ""] = ada.submissionIds;
  const path = `/dashboard/submissions/${id}`;
  const card = async (visitor: Visitor) =>
    /<h2>Who does it<\/h2>[\s\S]*?<\/section>/.exec((await visitor.get(path)).text)?.[0] ?? "";
  expect(await card(reader)).toBe("");
  await ada.visitor.post("/dashboard/bulk", { id, do: "assign", assignee: reader.accountId });
  expect(await card(reader)).toContain("<bdi>reader@example.com</bdi> (you)");
  await ada.visitor.post("/dashboard/bulk", { id, do: "delete" });
  const inBin = await card(ada.visitor);
  expect([inBin.includes("<bdi>reader@example.com</bdi>"), inBin.includes("<button")]).toEqual([true, false]);
  await ada.visitor.post("/dashboard/bulk", { id, do: "undelete" });
  await ada.visitor.post("/dashboard/bulk", { id, do: "assign", assignee: "none" });
});

test("an editor is refused what owners alone do, with the role's name, and changes nothing by it", async () => {
  const editor = await memberAs("editor@example.com", EDITOR);
  const before = await content();
  const owners = routes.filter(({ path }) => OWNERS_WRITES.test(path) && !path.includes("spam/workspaces"));
  expect(owners.length).toBeGreaterThan(8);
  for (const route of owners) {
    const path = addressOf(route, ada);
    const answer = route.method === "GET" ? await editor.get(path) : await editor.post(path, { name: "x" });
    expect([answer.status, answer.text.includes("The role editor")], `${route.method} ${path}`).toEqual([
      403,
      true,
    ]);
  }
  expect(await content()).toEqual(before);
});

test("who is bound to no form of the workspace finds none of its rows, like a stranger", async () => {
  const bound = await memberAs("bound@example.com", {
    ...EDITOR,
    endpoints: ["ep_01h455vb4pex5vsknk084sn02q"],
  });
  const before = await content();
  for (const route of routes.filter(({ path }) => !/\/workspaces\//.test(path))) {
    const path = addressOf(route, ada);
    const { status } = route.method === "GET" ? await bound.get(path) : await bound.post(path, { name: "x" });
    expect(status, `${route.method} ${path}`).toBe(404);
  }
  expect(await content()).toEqual(before);
});

test("an owner makes a reader an editor on the page of the member, who may then what editors may", async () => {
  const member = await memberAs("promoted@example.com", { ...READER, mayExport: false });
  const path = `/dashboard/workspaces/${ada.workspaceId}/members/${member.accountId}`;
  const row = server.owner.prepare(
    "SELECT role, may_export FROM member WHERE workspace_id = ? AND account_id = ?",
  );
  const stored = () => row.get(ada.workspaceId, member.accountId);
  expect((await member.post(path, { role: "owner" })).status).toBe(403);
  expect(stored()).toMatchObject({ role: "reader" });
  const saved = await ada.visitor.post(path, { role: "editor", of: "all" });
  expect([saved.status, saved.headers["location"]]).toEqual([303, expect.stringContaining("/members")]);
  expect(stored()).toMatchObject({ role: "editor" });
  const marked = await member.post("/dashboard/bulk", { id: ada.submissionIds[0] ?? "", do: "none" });
  expect(marked.status).toBe(303);
});

test("a role that is taken away while a page is open holds from the next click on", async () => {
  const editor = await memberAs("demoted@example.com", EDITOR);
  const path = `/dashboard/submissions/${ada.submissionIds[0] ?? ""}`;
  expect((await editor.get(path)).status).toBe(200);
  await memberAs("demoted@example.com", READER);
  const refused = await editor.post("/dashboard/bulk", { id: ada.submissionIds[0] ?? "", do: "spam" });
  expect([refused.status, refused.text.includes("The role reader")]).toEqual([403, true]);
  expect((await editor.get(path)).status).toBe(200);
  const place = `/dashboard/workspaces/${ada.workspaceId}/members/${editor.accountId}/remove`;
  expect((await ada.visitor.post(place)).status).toBe(303);
  expect((await editor.get(path)).status).toBe(404);
});
