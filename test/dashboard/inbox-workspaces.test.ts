import { expect, test } from "vitest";
import { insertEndpointRow } from "../../src/endpoints/endpoint-store.ts";
import { defaultEndpointSettings } from "../../src/endpoints/endpoint.ts";
import { exampleSchema } from "../support/example-schema.ts";
import { storeMember } from "../../src/workspaces/member-store.ts";
import { insertWorkspaceRow } from "../../src/workspaces/workspace-store.ts";
import { addSubmission } from "../support/add-submission.ts";
import { addFormOwner } from "../support/form-owner.ts";
import { READER } from "../support/members.ts";
import { goodPost, startServer } from "../support/test-server.ts";
import { visit } from "../support/visitor.ts";

/** Ben owns two workspaces, and reads one of Cleo's two forms. */
async function world() {
  const server = await startServer({ plans: { hobby: { endpoints: null } } });
  const { owner, clock, config } = server;
  // The first account is an operator.
  await visit(server);
  const ben = await addFormOwner(server, "ben@example.org");
  const cleo = await addFormOwner(server, "cleo@example.org");
  const now = clock.now();
  const own = ben.endpoint.workspaceId;
  const bakery = owner.now(() => insertWorkspaceRow("Bakery", "ben@example.org", now));
  const made = { definition: exampleSchema, settings: defaultEndpointSettings };
  const orders = owner.now(() => insertEndpointRow(bakery, { ...made, name: "Orders" }, config.plans, now));
  const secret = owner.now(() =>
    insertEndpointRow(
      { ...bakery, id: cleo.endpoint.workspaceId },
      { ...made, name: "Secret" },
      config.plans,
      now,
    ),
  );
  const place = { workspaceId: cleo.endpoint.workspaceId, accountId: ben.accountId };
  const bound = { ...READER, endpoints: [cleo.endpoint.id] };
  await owner.transaction(() => storeMember(place, bound, { since: 1, byAccountId: null }));
  const add = (endpointId: string, message: string) =>
    addSubmission(owner, { endpointId, data: { message }, createdAt: now });
  return {
    server,
    ben,
    own,
    bakery: bakery.id,
    cleos: place.workspaceId,
    orders: orders.id,
    ids: {
      own: add(ben.endpoint.id, "To Ben"),
      orders: add(orders.id, "An order"),
      shared: add(cleo.endpoint.id, "To Cleo"),
      secret: add(secret.id, "Not for Ben"),
    },
  };
}

const rowsOf = (page: string): string[] =>
  [...page.matchAll(/<tr data-submission="(\w+)"/g)].map(([, id = ""]) => id);

test("the inbox filters by workspace, offers the workspaces that one sees, and names each row's", async () => {
  const { ben, own, bakery, cleos, ids } = await world();
  const all = (await ben.get("/dashboard")).text;
  expect(rowsOf(all).toSorted()).toEqual([ids.own, ids.orders, ids.shared].toSorted());
  const options = [...all.matchAll(/<option value="(ws_\w+)"/g)].map(([, id = ""]) => id);
  expect(options.toSorted()).toEqual([own, bakery, cleos].toSorted());
  expect(all.match(/<small><bdi>Bakery<\/bdi><\/small>/g)).toHaveLength(1);
  const of = async (query: string) => rowsOf((await ben.get(`/dashboard?${query}`)).text);
  expect(await of(`workspace=${bakery}`)).toEqual([ids.orders]);
  // Of a workspace that is seen in part, that part.
  expect(await of(`workspace=${cleos}`)).toEqual([ids.shared]);
  const chosen = (await ben.get(`/dashboard?workspace=${bakery}`)).text;
  expect(chosen).toMatch(new RegExp(`<option value="${bakery}"\\s+selected>Bakery`));
});

test("a form of another workspace than the one that is named has no rows, and a workspace that is not seen is not found", async () => {
  const { server, ben, own, bakery, orders, ids } = await world();
  const of = async (query: string) => ben.get(`/dashboard?${query}`);
  expect(rowsOf((await of(`workspace=${own}&endpoint=${orders}`)).text)).toEqual([]);
  expect(rowsOf((await of(`workspace=${bakery}&endpoint=${orders}`)).text)).toEqual([ids.orders]);
  const dora = await addFormOwner(server, "dora@example.org");
  for (const workspace of [dora.endpoint.workspaceId, "ws_01h455vb4pex5vsknk084sn02q", "Bakery"])
    expect((await of(`workspace=${workspace}`)).status, workspace).toBe(404);
});

test("a submission and a held post say whose workspace they are of, wherever there is more than one", async () => {
  const { server, ben, ids } = await world();
  const page = (await ben.get(`/dashboard/submissions/${ids.orders}`)).text;
  expect(page).toContain("Workspace <bdi>Bakery</bdi>");
  await server.post(ben.endpoint.secret, { ...goodPost, _gotcha: "y" });
  const held = String(server.owner.prepare("SELECT id FROM held").pluck().get());
  expect((await ben.get(`/dashboard/held/${held}`)).text).toContain("Workspace <bdi>");
  const dora = await addFormOwner(server, "dora@example.org");
  const id = addSubmission(server.owner, { endpointId: dora.endpoint.id, data: {}, createdAt: 1 });
  expect((await dora.get(`/dashboard/submissions/${id}`)).text).not.toContain("Workspace <bdi>");
});

test("two workspaces of one name are told apart in the inbox", async () => {
  const { server, ben, own, bakery } = await world();
  server.owner.execute(`UPDATE workspace SET name = 'Bakery' WHERE id = '${own}'`);
  const { text } = await ben.get("/dashboard");
  for (const id of [own, bakery]) expect(text).toContain(`<small><bdi>Bakery (${id})</bdi></small>`);
});

test("the workspace goes along: to the bin and its emptying, to an export, to a submission and back", async () => {
  const { server, ben, own, bakery, ids } = await world();
  const at = `/dashboard?workspace=${bakery}`;
  const { text } = await ben.get(at);
  expect(text).toContain(`/dashboard/export.csv?workspace=${bakery}`);
  expect(text).toContain(`/dashboard/submissions/${ids.orders}?workspace=${bakery}`);
  const csv = (await ben.get(`/dashboard/export.csv?workspace=${bakery}`)).text;
  expect([csv.includes(ids.orders), csv.includes(ids.own)]).toEqual([true, false]);
  expect((await ben.get(`/dashboard/submissions/${ids.orders}?workspace=${bakery}`)).text).toContain(
    `href="/dashboard?workspace=${bakery}"`,
  );
  for (const id of [ids.own, ids.orders]) await ben.post("/dashboard/bulk", { id, do: "delete" });
  const bin = (await ben.get(`${at}&deleted=1`)).text;
  expect([rowsOf(bin), bin.includes("Empty this workspace’s bin")]).toEqual([[ids.orders], true]);
  const emptied = await ben.post(`/dashboard/empty-bin?workspace=${bakery}&deleted=1`, { confirmed: "yes" });
  expect(emptied.status).toBe(303);
  const left = server.owner.prepare("SELECT id FROM submission_bin").pluck().all();
  expect(left).toEqual([ids.own]);
  expect(own).not.toBe(bakery);
});

test("who reads one workspace and owns another is offered there what they may do there", async () => {
  const { ben, cleos, bakery } = await world();
  const deeds = async (workspace: string) =>
    (await ben.get(`/dashboard?workspace=${workspace}`)).text.includes('value="delete"');
  expect([await deeds(cleos), await deeds(bakery)]).toEqual([false, true]);
});

test("who sees one workspace is not asked for it", async () => {
  const { server } = await world();
  const dora = await addFormOwner(server, "dora@example.org");
  addSubmission(server.owner, { endpointId: dora.endpoint.id, data: {}, createdAt: server.clock.now() });
  const { text } = await dora.get("/dashboard");
  expect([rowsOf(text).length, text.includes('name="workspace"')]).toEqual([1, false]);
});
