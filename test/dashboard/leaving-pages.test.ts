import { expect, test } from "vitest";
import { addSubmission } from "../support/add-submission.ts";
import { NOON } from "../support/fake-clock.ts";
import { startServer, type TestServer } from "../support/test-server.ts";
import { until } from "../support/until.ts";
import { OWNER, READER } from "../support/members.ts";
import { readZip } from "../support/read-zip.ts";
import { visit } from "../support/visitor.ts";
import { storeMember } from "../../src/workspaces/member-store.ts";
import { insertWorkspaceRow } from "../../src/workspaces/workspace-store.ts";

const count = (server: TestServer, table: string, where = "1 = 1"): unknown =>
  server.owner.prepare(`SELECT count(*) FROM ${table} WHERE ${where}`).pluck().get();

/** A row of the list of changes: who, what and to what, as they were called then. */
const row = (who: string, what: string, toWhat: string): RegExp =>
  new RegExp(
    String.raw`<td><bdi>${who}</bdi></td>\s*<td>${what}</td>\s*<td class="full"><bdi>${toWhat}</bdi>`,
  );

/** Ada is the operator; Eve has a form in a workspace of hers, and another workspace. */
async function begin() {
  const server = await startServer();
  const [ada, eve] = [await visit(server), await visit(server, "eve@example.com")];
  const first = server.owner.prepare("SELECT id FROM workspace WHERE account_id = ?").pluck();
  const own = String(first.get(eve.accountId));
  const other = server.owner.now(() => insertWorkspaceRow("Shop", "eve@example.com", NOON)).id;
  const form = await server.addEndpoint();
  server.owner.execute(`UPDATE endpoint SET workspace_id = '${own}' WHERE id = '${form.id}'`);
  return { server, ada, eve, own, other, form };
}

test("an owner renames a workspace, and a bad name is refused with what was typed", async () => {
  const { eve, own, server } = await begin();
  const path = `/dashboard/workspaces/${own}`;
  const bad = await eve.post(path, { name: " " });
  expect([bad.status, bad.text.includes("name is empty")]).toEqual([422, true]);
  expect((await eve.post(path, { name: "<b>Bakery</b>" })).status).toBe(303);
  expect((await eve.get(path)).text).toContain("<h1><bdi>&lt;b&gt;Bakery&lt;/b&gt;</bdi></h1>");
  expect(count(server, "workspace", "name = '<b>Bakery</b>'")).toBe(1);
});

test("a form goes to the workspace that was chosen, only to one's own, and the page offers it only if there is another", async () => {
  const { server, ada, eve, other, form } = await begin();
  const path = `/dashboard/endpoints/${form.id}`;
  expect((await eve.get(path)).text).toContain(`<option value="${other}"`);
  expect((await eve.post(`${path}/move`, { to: "" })).status).toBe(422);
  const strange = server.owner.prepare("SELECT id FROM workspace WHERE account_id = ?").pluck();
  expect((await eve.post(`${path}/move`, { to: String(strange.get(ada.accountId)) })).status).toBe(404);
  expect((await eve.post(`${path}/move`, { to: other })).status).toBe(303);
  expect(count(server, "endpoint", `workspace_id = '${other}'`)).toBe(1);
  server.owner.execute(`UPDATE endpoint SET workspace_id = '${other}'`);
});

test("a workspace is handed over to a member of it, and whoever stays as a reader changes nothing from then on", async () => {
  const { server, eve, own } = await begin();
  const bob = await visit(server, "bob@example.com");
  const path = `/dashboard/workspaces/${own}`;
  const stranger = await eve.post(`${path}/transfer`, { to: "bob@example.com", stay: "reader" });
  expect([stranger.status, stranger.text.includes("bob@example.com is no member of")]).toEqual([422, true]);
  const place = { workspaceId: own, accountId: bob.accountId };
  await server.owner.transaction(() => storeMember(place, READER, { since: 1, byAccountId: null }));
  expect((await eve.post(`${path}/transfer`, { to: "bob@example.com", stay: "reader" })).status).toBe(303);
  expect(count(server, "workspace", `id = '${own}' AND account_id = '${bob.accountId}'`)).toBe(1);
  expect(count(server, "member", `account_id = '${eve.accountId}' AND role = 'reader'`)).toBe(1);
  expect((await eve.get(path)).status).toBe(403);
  expect((await eve.post(path, { name: "Mine" })).status).toBe(403);
  expect((await bob.post(path, { name: "Bob's" })).status).toBe(303);
  expect(count(server, "workspace", "name = 'Bob''s'")).toBe(1);
});

test("what is taken along is a ZIP of the workspace, and nobody else gets it", async () => {
  const { server, eve, own, form } = await begin();
  const bob = await visit(server, "bob@example.com");
  const id = addSubmission(server.owner, { endpointId: form.id, createdAt: NOON });
  const path = `/dashboard/workspaces/${own}/export.zip`;
  expect((await bob.get(path)).status).toBe(404);
  const headers = { cookie: eve.cookie };
  const answer = await fetch(`${server.url}${path}`, { headers });
  expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "application/zip"]);
  const members = readZip(Buffer.from(await answer.arrayBuffer()));
  expect([...members.keys()]).toEqual(["settings.json", "submissions.ndjson", "held.ndjson"]);
  expect(JSON.parse(String(members.get("submissions.ndjson")))).toMatchObject({ id });
});

test("a workspace is deleted when its name was typed, after the page told what goes with it", async () => {
  const { server, ada, eve, own, form } = await begin();
  const path = `/dashboard/workspaces/${own}`;
  expect((await eve.get(path)).text).toContain("1 form is deleted for good, with 0 posts and 0 held ones.");
  expect((await eve.post(`${path}/delete`, { confirm: "ev" })).status).toBe(422);
  expect(count(server, "endpoint")).toBe(1);
  const { location = "" } = (await eve.post(`${path}/delete`, { confirm: " eve " })).headers;
  expect(location).toContain("/dashboard/usage");
  await until(() => count(server, "workspace", `id = '${own}'`) === 0);
  expect(count(server, "endpoint", `id = '${form.id}'`)).toBe(0);
  expect((await eve.get(path)).status).toBe(404);
  expect((await ada.get("/dashboard/system/changes")).text).toContain("deleted the workspace");
});

test("an operator gives an account another address, and deletes it with its workspaces only if that is said", async () => {
  const { server, ada, eve, own } = await begin();
  const path = `/dashboard/system/accounts/${eve.accountId}`;
  expect((await ada.post(`${path}/address`, { email: "ada@example.com" })).status).toBe(422);
  expect((await eve.post(`/dashboard/workspaces/${own}`, { name: "Bakery" })).status).toBe(303);
  expect((await ada.post(`${path}/address`, { email: "eve@example.org" })).status).toBe(303);
  const kept = await ada.post(`${path}/delete`, { confirm: "eve@example.org" });
  expect([kept.status, kept.text.includes("is the only owner of 2 workspaces")]).toEqual([422, true]);
  const typed = await ada.post(`${path}/delete`, { confirm: "eve@example.com", with_workspaces: "on" });
  expect([typed.status, typed.text.includes("exactly as it is written")]).toEqual([422, true]);
  expect(count(server, "account")).toBe(2);
  const gone = await ada.post(`${path}/delete`, { confirm: "eve@example.org", with_workspaces: "on" });
  expect(gone.status).toBe(303);
  await until(() => count(server, "account") === 1);
  expect(count(server, "endpoint")).toBe(0);
  // Whoever was signed in with it is not any more.
  expect((await eve.get("/dashboard")).headers["location"]).toContain("/dashboard/sign-in");
  const changes = (await ada.get("/dashboard/system/changes")).text;
  expect(changes).toMatch(row("eve@example.com", "renamed the workspace", "eve → Bakery"));
  expect(changes).toMatch(row("ada@example.com", "deleted the account", "eve@example.org"));
});

test("the page of an account counts what goes with it: workspaces with another owner, or that it only reads, do not", async () => {
  const { server, ada, eve, own } = await begin();
  const bob = await visit(server, "bob@example.com");
  const path = `/dashboard/system/accounts/${eve.accountId}`;
  const told = async () => /There is no way back[\s\S]*?<\/p>/.exec((await ada.get(path)).text)?.[0];
  expect(await told()).toContain("It is the only owner of 2 workspaces, which go too, with 1 form, 0 posts");
  const made = { since: 1, byAccountId: null };
  const ofBob = String(
    server.owner.prepare("SELECT workspace_id FROM member WHERE account_id = ?").pluck().get(bob.accountId),
  );
  await server.owner.transaction(function* () {
    yield* storeMember({ workspaceId: own, accountId: bob.accountId }, OWNER, made);
    yield* storeMember({ workspaceId: ofBob, accountId: eve.accountId }, READER, made);
  });
  expect(await told()).toContain("It is the only owner of 1 workspace, which goes too");
});

test("an owner sets the look for visitors, and each part that is wrong is named at its field with what was typed", async () => {
  const { eve, own, server } = await begin();
  const path = `/dashboard/workspaces/${own}`;
  const typed = { brand_colour: "red", brand_name: "x".repeat(201), brand_footer: "Hauptstr. 1" };
  const bad = await eve.post(`${path}/brand`, typed);
  expect(bad.status).toBe(422);
  expect(bad.text).toContain("Not a colour: &quot;red&quot;");
  expect(bad.text).toContain("longer than 200 bytes");
  expect(bad.text).toContain('value="red"');
  expect(count(server, "workspace", "brand_footer IS NOT NULL")).toBe(0);
  const good = { brand_colour: "#7A3B12", brand_name: "Mia's <Bakery>", brand_footer: "Mia\r\nHauptstr. 1" };
  expect((await eve.post(`${path}/brand`, good)).status).toBe(303);
  const { text } = await eve.get(path);
  expect(text).toContain('value="#7a3b12"');
  expect(text).toContain("Mia&#39;s &lt;Bakery&gt;");
  expect(text).toContain("Mia\nHauptstr. 1</textarea>");
});

test("an export that fails before its first byte is answered with a page, which no browser saves as the archive", async () => {
  const { server, eve, own } = await begin();
  const second = await server.addEndpoint();
  server.owner.execute(`UPDATE endpoint SET workspace_id = '${own}', name = 'Twice'`);
  const answer = await eve.get(`/dashboard/workspaces/${own}/export.zip`);
  expect([answer.status, answer.headers["content-disposition"]]).toEqual([400, undefined]);
  expect(answer.headers["content-type"]).toBe("text/html; charset=utf-8");
  expect(answer.text).toContain(second.id);
});
