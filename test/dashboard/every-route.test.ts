import { afterAll, beforeAll, expect, test } from "vitest";
import { addressOf, type DashboardRoute, dashboardRoutes, pagesOf } from "../support/dashboard-routes.ts";
import { furnish, type OwnerHome } from "../support/owner-home.ts";
import { formsIn } from "../support/page-forms.ts";
import { launchServer, type TestServer } from "../support/test-server.ts";
import { type Visitor, visit } from "../support/visitor.ts";

/*
 * Tests over every route that the dashboard has: a new page is covered without being named here. The rows belong to Ada and to
 * Bob, who are no operators and know nothing of each other.
 */

const OPERATORS_ONLY = /^\/dashboard\/system\b/;
/** Ends the session that the other tests go on with. */
const SIGN_OUT = "/dashboard/sign-out";

let server: TestServer;
let routes: readonly DashboardRoute[];
let operator: Visitor;
let ada: OwnerHome;
let bob: OwnerHome;

beforeAll(async () => {
  server = await launchServer({
    plans: { hobby: { monthlySubmissions: null, endpoints: null, customSpam: true } },
  });
  routes = await dashboardRoutes(server);
  // The first account is the operator.
  operator = await visit(server, "operator@example.com");
  ada = await furnish(server, "ada@example.com");
  bob = await furnish(server, "bob@example.com");
});
afterAll(() => server.stop());

const closed = () => routes.filter(({ isOpen }) => !isOpen);
const ofMethod = (method: DashboardRoute["method"]) => closed().filter((route) => route.method === method);
/** The documentation is nobody's. */
const HELP = "/dashboard/help/";
const hasParameter = ({ path }: DashboardRoute) => path.includes("/:") && !path.startsWith(HELP);

test("who is not signed in reads nothing and changes nothing", async () => {
  const before = rowsOf(ada);
  for (const route of closed()) {
    const path = addressOf(route, ada);
    const { status, headers, text } = await server.request({
      method: route.method,
      path,
      headers: { "content-type": "application/x-www-form-urlencoded", "sec-fetch-site": "same-origin" },
      ...(route.method === "POST" && { body: "name=x" }),
    });
    expect(status, `${route.method} ${path}`).toBe(route.method === "GET" ? 303 : 401);
    if (route.method === "GET")
      expect(headers["location"]).toBe(`/dashboard/sign-in?next=${encodeURIComponent(path)}`);
    expect(text).not.toContain("ada@example.com");
  }
  expect(rowsOf(ada)).toEqual(before);
});

test("a session that ended counts for nothing on any address", async () => {
  const visitor = await visit(server, "ada@example.com");
  const ended = { cookie: visitor.cookie };
  server.owner
    .prepare("DELETE FROM session WHERE id = ?")
    .run(/=(ses_[0-9a-z]+)\./.exec(visitor.cookie)?.[1]);
  const before = rowsOf(ada);
  for (const route of closed()) {
    const path = addressOf(route, ada);
    const { status } =
      route.method === "GET"
        ? await visitor.get(path, ended)
        : await visitor.post(path, { name: "x" }, ended);
    expect(status, `${route.method} ${path}`).toBe(route.method === "GET" ? 303 : 401);
  }
  expect(rowsOf(ada)).toEqual(before);
});

test("a page of another site can ask for no write, whoever is signed in", async () => {
  const before = rowsOf(ada);
  for (const route of routes.filter(({ method }) => method === "POST")) {
    const path = addressOf(route, ada);
    for (const site of ["cross-site", "same-site", "none"])
      expect((await ada.visitor.post(path, {}, { "sec-fetch-site": site })).status, path).toBe(403);
  }
  expect(rowsOf(ada)).toEqual(before);
});

test("each owner's page shows their own rows", async () => {
  for (const route of ofMethod("GET").filter(
    ({ path }) => !OPERATORS_ONLY.test(path) && !path.endsWith("/events"),
  )) {
    const path = addressOf(route, ada);
    const { status, headers } = await ada.visitor.get(path);
    // With a single workspace, its page is led to.
    const leadsOn = status === 303 && !(headers["location"] ?? "").includes("sign-in");
    expect(leadsOn || status === 200, `${path}: ${status}`).toBe(true);
  }
});

test("what belongs to another workspace is answered exactly like what does not exist", async () => {
  const nothing = Object.fromEntries(
    Object.entries(ada).map(([name, value]) => [name, typeof value === "string" ? unlike(value) : value]),
  ) as unknown as OwnerHome;
  const nobody = { ...nothing, submissionIds: ada.submissionIds.map(unlike) };
  const before = rowsOf(ada);
  for (const route of closed().filter(hasParameter)) {
    const ask = async (home: OwnerHome) => {
      const path = addressOf(route, home);
      const answer = route.method === "GET" ? await bob.visitor.get(path) : await bob.visitor.post(path);
      return [answer.status, maskIds(answer.text)];
    };
    const refused = await ask(ada);
    expect(refused[0], `${route.method} ${route.path}`).toBe(404);
    expect(refused, route.path).toEqual(await ask(nobody));
  }
  expect(rowsOf(ada)).toEqual(before);
});

test("no address that takes a filter shows another workspace's rows", async () => {
  const { endpointId, workspaceId, webhookId, accountId } = ada;
  const query = new URLSearchParams({
    endpoint: endpointId,
    workspace: workspaceId,
    webhook: webhookId,
    account: accountId,
  });
  for (const route of ofMethod("GET").filter(
    (route) => !hasParameter(route) && !route.path.endsWith("/events"),
  )) {
    const { text } = await bob.visitor.get(`${route.path}?${query.toString()}`);
    expect(text, route.path).not.toContain("ada@example.com");
  }
});

test("another owner's own forms, sent with their ids, change nothing of theirs", async () => {
  const sent = new Set<string>();
  for (const page of pagesOf(closed(), ada).filter((path) => !OPERATORS_ONLY.test(path))) {
    const { text } = await ada.visitor.get(page);
    const before = rowsOf(ada);
    for (const { action, fields, buttons } of formsIn(text, page)) {
      if (action === SIGN_OUT) continue;
      for (const button of buttons.length === 0 ? [["", ""] as const] : buttons) {
        const form = new URLSearchParams([...fields, button].map(([name, value]) => [name, value]));
        form.delete("");
        const { status, text: answer } = await bob.visitor.post(action, form);
        expect(status, `${page}: ${action} ${form.toString()}`).toBeLessThan(500);
        sent.add(action);
        if (answer.includes("Friend of ada@example.com"))
          throw new Error(`${action} showed a row of another workspace`);
      }
    }
    expect(rowsOf(ada), page).toEqual(before);
  }
  // Otherwise the forms were not found.
  expect(sent.size).toBeGreaterThan(5);
});

test("for who is no operator, the operator's pages do not exist", async () => {
  const pages = closed().filter(({ path }) => OPERATORS_ONLY.test(path));
  expect(pages.length).toBeGreaterThan(0);
  for (const route of pages) {
    const path = addressOf(route, bob);
    const { status } = route.method === "GET" ? await bob.visitor.get(path) : await bob.visitor.post(path);
    expect(status, `${route.method} ${path}`).toBe(404);
    if (route.method === "GET") expect((await operator.get(path)).status, path).toBe(200);
  }
});

/** The rows of an owner, as JSON; what changes by being looked at is left out. */
function rowsOf(home: OwnerHome): string[] {
  const { visitor: _visitor, submissionIds, publishable: _publishable, secret: _secret, ...ids } = home;
  const own = [...Object.values(ids), ...submissionIds];
  const tables = server.owner
    .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
    .pluck()
    .all() as string[];
  return (
    tables
      // A login is of whoever has its code.
      .filter((table) => !["session", "submission_read", "login_request"].includes(table))
      .flatMap((table) =>
        (server.owner.prepare(`SELECT * FROM "${table}"`).all() as object[]).map(
          (row) => `${table} ${JSON.stringify(row)}`,
        ),
      )
      .filter((row) => own.some((id) => row.includes(id)))
      .toSorted()
  );
}

/** An id of the same form that nothing has. */
function unlike(id: string): string {
  return id.replace(/_[0-9a-z]{26}$/, `_${"0".repeat(26)}`);
}

/** Without ids and the request's number, in which two answers may differ. */
function maskIds(text: string): string {
  return text
    .replaceAll(/\b[a-z]+_[0-9a-z]{26}\b/g, "an id")
    .replaceAll(/<code>[0-9a-f]+-[0-9a-z]+<\/code>/g, "a request");
}
