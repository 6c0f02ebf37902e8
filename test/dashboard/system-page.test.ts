import { tmpdir } from "node:os";
import { expect, test } from "vitest";
import { recordChange } from "../../src/audit/audit-store.ts";
import { takeSignInLink } from "../../src/sessions/sign-in-link.ts";
import { createAccount } from "../../src/workspaces/account-operations.ts";
import { setWorkspacePlan } from "../../src/workspaces/workspace-operations.ts";
import { changeBothWays } from "../support/same-change.ts";
import { operatorMachine } from "../support/operator-machine.ts";
import { scriptedClamd } from "../support/scripted-clamd.ts";
import { goodPost, startServer, type TestServer } from "../support/test-server.ts";
import { until } from "../support/until.ts";
import { visit, type Visitor } from "../support/visitor.ts";
import { performOn } from "../support/terminal.ts";

/** The operator, who is signed in, and the id of another account. */
async function begin(parent?: string): Promise<{ server: TestServer; ada: Visitor; eve: Visitor }> {
  const server = await startServer({}, undefined, parent);
  return { server, ada: await visit(server), eve: await visit(server, "eve@example.com") };
}

const accountPath = (visitor: Visitor) => `/dashboard/system/accounts/${visitor.accountId}`;

test("an operator sees what needs somebody, with what to do, and what runs here", async () => {
  // A database in memory would be something else that needs somebody.
  const { server, ada } = await begin(tmpdir());
  const { status, text } = await ada.get("/dashboard/system");
  expect(status).toBe(200);
  expect(text).toContain("One thing needs you<");
  expect(text).toContain("No backup is scheduled, and none was made");
  expect(text).toContain("Set backup.everyHours");
  expect(text).toContain(server.databasePath);
  // What is well is folded into one row, after what needs somebody.
  const [before = "", row = ""] = text.split('<details class="card fine">');
  expect(before).toContain(`<h3>Backup</h3>`);
  expect(row).toMatch(/^\s*<summary>.*\d+ other checks are<?\/?b?>? ?fine/s);
  expect(row.split("</details>")[0]).toContain("Commits");
  // What fills up.
  const room = text.slice(text.indexOf(">Room<"), text.indexOf("Limits of the plans"));
  expect(room).toMatch(/>Disk<\/b>\s*<span[^>]*>[\d.]+ [MGT]iB of [\d.]+ [MGT]iB</);
  expect(room).toMatch(/>Held posts<\/b>\s*<span[^>]*>0 MiB of [\d.]+ [MGT]iB</);
  expect(room).toMatch(/>Messages waiting<\/b>\s*<span[^>]*>0</);
  // What the limits are, and how to lift them on one's own machine.
  expect(text).toContain("10,000 submissions a month, 50 forms");
  expect(text).toContain("These limits are yours to lift");
});

test("an operator sees that the virus scanner is away, and that it is back", async () => {
  const clamd = await scriptedClamd();
  const server = await startServer({ files: { clamd: clamd.url } });
  const ada = await visit(server);
  const page = async () => (await ada.get("/dashboard/system")).text.split('<details class="card fine">');
  const [, fine = ""] = await page();
  expect(fine).toContain("Virus scanner");
  expect(fine).toContain("ClamAV 1.4.3");
  await clamd.stop();
  server.clock.advance(60_000);
  await until(async () => (await page())[0]?.includes("Virus scanner"));
  expect((await page())[0]).toContain("start clamd, or correct its address");
  await clamd.listen();
  server.clock.advance(60_000);
  await until(async () => (await page())[1]?.includes("Virus scanner"));
});

test("for an owner there is no System page: each route answers like an address that no page has", async () => {
  const { server, ada, eve } = await begin();
  const plain = (text: string) => text.replace(/Request <code>[^<]*/, "");
  const none = await eve.get("/dashboard/no-such-page");
  const before = JSON.stringify(server.owner.prepare("SELECT * FROM account, workspace").all());
  const [workspace = ""] = server.owner.prepare("SELECT id FROM workspace").pluck().all() as string[];
  const [accounts, workspaces] = ["/dashboard/system/accounts", "/dashboard/system/workspaces"];
  for (const path of [
    "/dashboard/system",
    accounts,
    accountPath(ada),
    workspaces,
    "/dashboard/system/changes",
  ]) {
    const { status, text } = await eve.get(path);
    expect([status, plain(text)], path).toEqual([404, plain(none.text)]);
  }
  const writes = ["sign-in-link", "operator", "reset-totp", "end-sessions"].map(
    (verb) => `${accountPath(eve)}/${verb}`,
  );
  const form = {
    email: "mallory@example.com",
    name: "x",
    account: "eve@example.com",
    operator: "yes",
    plan: "pro",
    seen: "hobby",
  };
  for (const path of [...writes, accounts, workspaces, `${workspaces}/${workspace}/plan`]) {
    const { status, text } = await eve.post(path, form);
    expect([status, plain(text)], path).toEqual([404, plain(none.text)]);
  }
  expect(JSON.stringify(server.owner.prepare("SELECT * FROM account, workspace").all())).toBe(before);
  expect((await eve.get("/dashboard/no-such-page")).text).not.toContain('href="/dashboard/system"');
});

test("an account is added, and its sign-in link is shown once, works, and stands in no page, log line or record", async () => {
  const { server, ada } = await begin();
  const added = await ada.post("/dashboard/system/accounts", { email: "New@Example.com" });
  expect(added.status).toBe(303);
  const path = (added.headers["location"] ?? "").split("?")[0] ?? "";
  const { status, text } = await ada.post(`${path}/sign-in-link`);
  expect(status).toBe(201);
  const [, token = ""] = /\/dashboard\/sign-in#([\w-]{32})</.exec(text) ?? [];
  expect(text).toContain(`http://127.0.0.1:${server.port}/dashboard/sign-in#`);
  const pages = await Promise.all(
    [path, "/dashboard/system/accounts", "/dashboard/system/changes"].map((each) => ada.get(each)),
  );
  const recorded = JSON.stringify(server.owner.prepare("SELECT * FROM audit_event").all());
  expect(recorded).toContain("account.sign-in-link");
  expect(pages.map((each) => each.text).join("") + server.log.join("") + recorded).not.toContain(token);
  expect(server.owner.now(() => takeSignInLink(token, server.clock.now()))).toBe(path.split("/").at(-1));
});

test("an address that is no address or is taken is named at its field, and keeps what was typed", async () => {
  const { ada } = await begin();
  for (const email of ["no address", "eve@example.com"]) {
    const { status, text } = await ada.post("/dashboard/system/accounts", { email });
    expect([status, text.includes(`value="${email}"`)]).toEqual([422, true]);
  }
});

test("an operator is made and unmade, but the only one stays", async () => {
  const { server, ada, eve } = await begin();
  const isOperator = (visitor: Visitor) =>
    server.owner.prepare("SELECT is_operator FROM account WHERE id = ?").pluck().get(visitor.accountId);
  expect((await ada.post(`${accountPath(ada)}/operator`, { operator: "no" })).status).toBe(409);
  expect((await ada.post(`${accountPath(eve)}/operator`, { operator: "yes" })).status).toBe(303);
  expect([isOperator(ada), isOperator(eve)]).toEqual([1, 1]);
  expect((await eve.get("/dashboard/system")).status).toBe(200);
  await eve.post(`${accountPath(ada)}/operator`, { operator: "no" });
  expect((await ada.get("/dashboard/system")).status).toBe(404);
});

test("an account's sessions are listed and ended", async () => {
  const { ada, eve } = await begin();
  expect((await ada.get(accountPath(eve))).text).toContain("Test browser");
  const { headers } = await ada.post(`${accountPath(eve)}/end-sessions`);
  expect(headers["location"]).toContain("notice=sessions-ended&n=1");
  expect((await eve.get("/dashboard/notifications")).status).toBe(303);
});

test("a workspace is added and put on another plan at once; of two who do that, the second is told", async () => {
  const server = await startServer({
    plans: { hobby: { monthlySubmissions: 1, endpoints: null, customSpam: false } },
  });
  const ada = await visit(server);
  const endpoint = await server.addEndpoint();
  await server.post(endpoint.secret, goodPost);
  expect((await server.post(endpoint.secret, goodPost)).status).toBe(429);
  const path = `/dashboard/system/workspaces/${endpoint.workspaceId}/plan`;
  expect((await ada.post(path, { plan: "pro", seen: "hobby" })).headers["location"]).toContain("saved");
  expect((await server.post(endpoint.secret, goodPost)).status).toBe(200);
  const second = await ada.post(path, { plan: "business", seen: "hobby" });
  expect(second.headers["location"]).toContain("plan-changed-meanwhile");
  const made = { name: "Client <b>sites</b>", account: "ada@example.com" };
  expect((await ada.post("/dashboard/system/workspaces", made)).status).toBe(303);
  expect((await ada.get("/dashboard/system/workspaces")).text).toContain("Client &lt;b&gt;sites&lt;/b&gt;");
  const refused = await ada.post("/dashboard/system/workspaces", {
    name: "x",
    account: "nobody@example.com",
  });
  expect([refused.status, refused.text.includes("There is no account nobody@example.com")]).toEqual([
    422,
    true,
  ]);
});

test("changes are listed with who made them, the newest first, in pages, and as text only", async () => {
  const { server, ada } = await begin();
  const { owner, clock } = server;
  for (let count = 0; count < 60; count += 1) {
    const change = {
      action: "endpoint.create",
      subject: `<i>${count}</i>\u202e`,
      workspaceId: null,
      detail: null,
    } as const;
    owner.now(() =>
      recordChange(
        count % 2 === 0 ? null : { accountId: "acct_1", email: "b@example.com" },
        change,
        clock.now(),
      ),
    );
  }
  const { text } = await ada.get("/dashboard/system/changes");
  expect(text).toContain("&lt;i&gt;59&lt;/i&gt;");
  expect(text).not.toContain("&lt;i&gt;9&lt;/i&gt;");
  expect(text).toContain("command line");
  const [, next = ""] = /href="(\/dashboard\/system\/changes\?before=\d+)"/.exec(text) ?? [];
  expect((await ada.get(next)).text).toContain("&lt;i&gt;9&lt;/i&gt;");
});

test("accounts and plans are changed by the page's verb as by the command, with who did it", async () => {
  const { server } = await begin();
  const { config, clock } = server;
  const add = (db: TestServer["owner"]) =>
    performOn(db, createAccount, { email: "new@example.com" }, { config, now: clock.now() });
  const added = await changeBothWays(operatorMachine(), server.owner, add, [
    "account",
    "create",
    "new@example.com",
  ]);
  expect(added.verb.filter((row) => row.startsWith("audit_event"))).toHaveLength(1);
  const [id = ""] = server.owner.prepare("SELECT id FROM workspace").pluck().all() as string[];
  const set = (db: TestServer["owner"]) =>
    performOn(db, setWorkspacePlan, { workspace: id, plan: "pro" }, { config, now: Date.now() });
  const changed = await changeBothWays(operatorMachine(), server.owner, set, [
    "workspace",
    "set-plan",
    id,
    "pro",
  ]);
  expect(changed.verb).toEqual(changed.command);
});
