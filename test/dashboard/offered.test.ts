import { afterAll, beforeAll, expect, test } from "vitest";
import { insertEndpointRow } from "../../src/endpoints/endpoint-store.ts";
import { defaultEndpointSettings } from "../../src/endpoints/endpoint.ts";
import { exampleSchema } from "../support/example-schema.ts";
import { type Membership, storeMember } from "../../src/workspaces/member-store.ts";
import { getWorkspace } from "../../src/workspaces/workspace-store.ts";
import { EDITOR, OWNER, READER } from "../support/members.ts";
import { furnish, type OwnerHome } from "../support/owner-home.ts";
import { launchServer, type TestServer } from "../support/test-server.ts";
import { until } from "../support/until.ts";
import { type Visitor, visit } from "../support/visitor.ts";

/*
 * What the pages offer to each role: every link and form of every page that somebody reaches from the inbox by links. A new page is
 * covered when something leads to it.
 */

let server: TestServer;
let ada: OwnerHome;
const ROLES: Readonly<Record<string, (endpointId: string) => Membership>> = {
  owner: () => OWNER,
  editor: () => EDITOR,
  "editor of one form": (endpointId) => ({ ...EDITOR, endpoints: [endpointId] }),
  reader: () => READER,
  "reader of one form": (endpointId) => ({ ...READER, endpoints: [endpointId] }),
  "reader who may not export or see reasons": () => ({
    ...READER,
    mayExport: false,
    seesSpamDetails: false,
  }),
};

beforeAll(async () => {
  server = await launchServer({ plans: { hobby: { endpoints: null, customSpam: true } } });
  await visit(server, "operator@example.com");
  ada = await furnish(server, "ada@example.com");
  const { owner, clock, config } = server;
  const made = { name: "Second", definition: exampleSchema, settings: defaultEndpointSettings };
  owner.now(function* () {
    yield* insertEndpointRow(yield* getWorkspace(ada.workspaceId), made, config.plans, clock.now());
  });
  await ada.visitor.post("/dashboard/bulk", { id: ada.submissionIds[0] ?? "", do: "done" });
  await until(
    () => server.owner.prepare("SELECT 1 FROM delivery WHERE state = 'sending'").get() === undefined,
  );
});
afterAll(() => server.stop());

/** Somebody who sees this workspace alone. */
async function memberAs(role: string): Promise<Visitor> {
  const visitor = await visit(server, `${role.replaceAll(" ", ".")}@example.com`);
  const place = { workspaceId: ada.workspaceId, accountId: visitor.accountId };
  const membership = ROLES[role]!(ada.endpointId);
  await server.owner.transaction(() => storeMember(place, membership, { since: 1, byAccountId: null }));
  server.owner.execute(
    `DELETE FROM member WHERE account_id = '${visitor.accountId}' AND workspace_id <> '${ada.workspaceId}'`,
  );
  return visitor;
}

interface Offer {
  readonly page: string;
  readonly method: "GET" | "POST";
  readonly path: string;
}

/** Ways out: whoever signs out or leaves sees nothing more; what follows without end has no answer. */
const LEFT_ALONE = /sign-out|\/events\b|\/assets\/|\/help\b/;

function offersOf(page: string, text: string): Offer[] {
  const main = text.replace(/<dialog[\s\S]*?<\/dialog>/g, "");
  const offers: Offer[] = [];
  const add = (method: Offer["method"], given: string | undefined): void => {
    const path = (given ?? "").replaceAll("&amp;", "&").replace(/#.*/, "");
    if (path.startsWith("/dashboard") && !LEFT_ALONE.test(path)) offers.push({ page, method, path });
  };
  for (const [, href] of main.matchAll(/<a\b[^>]*\shref="([^"]*)"/g)) add("GET", href);
  for (const [form] of main.matchAll(/<form\b[^>]*>/g)) {
    const method = /method="post"/.test(form) ? "POST" : "GET";
    add(method, /action="([^"]*)"/.exec(form)?.[1]);
  }
  for (const [, action] of main.matchAll(/\sformaction="([^"]*)"/g)) add("POST", action);
  return offers;
}

/** Follows every link from the inbox. @returns what was offered and is refused, with the page that offers it */
async function refusedOffers(visitor: Visitor): Promise<{ refused: string[]; pages: Set<string> }> {
  const seen = new Set<string>();
  const pages = new Set<string>();
  const refused: string[] = [];
  const waiting: Offer[] = [
    "/dashboard",
    "/dashboard?deleted=1",
    "/dashboard/held",
    "/dashboard/endpoints",
  ].map((path) => ({ page: "", method: "GET", path }));
  for (let offer = waiting.shift(); offer !== undefined; offer = waiting.shift()) {
    const { page, method, path } = offer;
    // One page shows the same for many filters.
    const key = `${method} ${path.split("?")[0]} ${path.includes("deleted=1")}`;
    if (seen.has(key)) continue;
    seen.add(key);
    if (method === "POST") {
      // Rights are looked at before a form is read, and this is none: nothing is changed.
      const { status } = await visitor.post(path, {}, { "content-type": "application/json" });
      if (status !== 415) refused.push(`${page} offers POST ${path}: ${status}`);
      continue;
    }
    const { status, text, headers } = await visitor.get(path);
    if (status !== 200 && status !== 303) refused.push(`${page} offers ${path}: ${status}`);
    if (headers["location"] !== undefined) waiting.push({ page: path, method, path: headers["location"] });
    if (headers["content-type"]?.startsWith("text/html") !== true) continue;
    pages.add(path.split("?")[0] ?? "");
    waiting.push(...offersOf(path, text));
  }
  return { refused, pages };
}

test.each(Object.keys(ROLES))(
  "the pages offer an account that is %s nothing that would be refused",
  async (role) => {
    const { refused, pages } = await refusedOffers(await memberAs(role));
    expect(refused).toEqual([]);
    const form = `/dashboard/endpoints/${ada.endpointId}`;
    expect(pages.has(`/dashboard/submissions/${ada.submissionIds[0]}`)).toBe(true);
    expect(pages.has(form)).toBe(!role.startsWith("reader"));
    expect(pages.has("/dashboard/endpoints/new")).toBe(role === "owner" || role === "editor");
    expect(pages.has(`/dashboard/workspaces/${ada.workspaceId}`)).toBe(role === "owner");
  },
);

test("an editor is offered no secret key, and no change of one", async () => {
  const [editor, owner] = [await memberAs("editor"), await memberAs("owner")];
  const path = `/dashboard/endpoints/${ada.endpointId}/keys`;
  const read = async (visitor: Visitor) => {
    const { text } = await visitor.get(path);
    return [text.includes('value="secret"'), text.includes(`/keys/${ada.keyId}/rotate`)];
  };
  expect(await read(editor)).toEqual([false, false]);
  expect(await read(owner)).toEqual([true, true]);
});

test("in the bin an editor may bring back, and only an owner deletes for good", async () => {
  const [id = ""] = ada.submissionIds;
  await ada.visitor.post("/dashboard/bulk", { id, do: "delete" });
  const deeds = async (role: string) => {
    const { text } = await (await memberAs(role)).get(`/dashboard/submissions/${id}`);
    return [...text.matchAll(/name="do" value="(\w+)"/g)].map(([, deed]) => deed);
  };
  expect(await deeds("reader")).toEqual([]);
  expect(await deeds("editor")).toEqual(["undelete"]);
  expect(await deeds("owner")).toEqual(["undelete", "purge"]);
  await ada.visitor.post("/dashboard/bulk", { id, do: "undelete" });
});

test("readers look at held posts, and are offered neither their release nor their drop", async () => {
  const offers = async (role: string) => {
    const visitor = await memberAs(role);
    const texts = [await visitor.get("/dashboard/held"), await visitor.get(`/dashboard/held/${ada.heldId}`)];
    return texts.map(({ status, text }) => [status, /held\/(?:release|drop)/.test(text)]);
  };
  for (const role of ["reader", "reader of one form"])
    expect(await offers(role)).toEqual([
      [200, false],
      [200, false],
    ]);
  expect(await offers("editor of one form")).toEqual([
    [200, true],
    [200, true],
  ]);
});
