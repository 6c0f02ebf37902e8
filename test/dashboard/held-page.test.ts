import { expect, test } from "vitest";
import { newId } from "../../src/foundation/id.ts";
import { heldAdder } from "../support/held-posts.ts";
import { asSubmission } from "../support/add-submission.ts";
import { addEndpointOf, addFormOwner, type FormOwner } from "../support/form-owner.ts";
import { startServer, type TestServer } from "../support/test-server.ts";
import { visit } from "../support/visitor.ts";

/** Ada is the operator; Ben and Cleo own a form each, on a plan with two submissions a month. */
async function world() {
  const server = await startServer({
    plans: { hobby: { monthlySubmissions: 2, endpoints: null, customSpam: false } },
  });
  const ada = await visit(server);
  const ben = await addFormOwner(server, "ben@example.org");
  const cleo = await addFormOwner(server, "cleo@example.org");
  return { server, ada, ben, cleo };
}

/** As many held posts, the oldest first. */
function hold(
  server: TestServer,
  { endpoint }: Pick<FormOwner, "endpoint">,
  count: number,
  more = {},
): string[] {
  const add = heldAdder(server.owner);
  return server.owner.transactionNow(() =>
    Array.from({ length: count }, (_, index) => {
      const createdAt = server.clock.now();
      const data = { name: `Sender ${index}`, message: "Buy now" };
      const spamReasons = [{ signal: "text", points: 80, field: "message", detail: "worded like spam" }];
      const given = {
        endpointId: endpoint.id,
        data,
        spamScore: 80,
        spamClass: "blocked" as const,
        spamReasons,
        createdAt,
      };
      const held = {
        ...asSubmission(given),
        workspaceId: endpoint.workspaceId,
        why: "spam" as const,
        ...more,
        id: newId("held", createdAt),
      };
      add(held);
      return held.id;
    }),
  );
}

function rowsOf(page: string): string[] {
  return [...page.matchAll(/<tr data-held="(\w+)"/g)].map(([, id = ""]) => id);
}

function ticked(ids: readonly string[], more: Record<string, string> = {}): URLSearchParams {
  return new URLSearchParams([...ids.map((id) => ["id", id]), ...Object.entries(more)]);
}

const left = (server: TestServer): string[] =>
  server.owner.prepare("SELECT id FROM held ORDER BY id").pluck().all() as string[];

test("held posts are listed newest first in pages, with the reason that weighs most, of the viewer's forms alone", async () => {
  const { server, ben, cleo } = await world();
  const ids = hold(server, ben, 60).toReversed();
  hold(server, cleo, 1);
  const first = await ben.get("/dashboard/held");
  expect(rowsOf(first.text)).toEqual(ids.slice(0, 50));
  expect(first.text).toContain("worded like spam");
  expect(first.text).toContain("After 30 days they go by themselves.");
  expect(rowsOf((await ben.get(`/dashboard/held?before=${ids[49]!}`)).text)).toEqual(ids.slice(50));
  const shop = await addEndpointOf(server, ben, "Shop");
  expect(rowsOf((await ben.get(`/dashboard/held?endpoint=${shop.id}`)).text)).toEqual([]);
  expect((await ben.get(`/dashboard/held?endpoint=${cleo.endpoint.id}`)).status).toBe(404);
});

test("operators see everybody's held posts, with the workspace, and owners are not told of workspaces", async () => {
  const { server, ada, ben, cleo } = await world();
  const ids = [...hold(server, ben, 1), ...hold(server, cleo, 1)].toReversed();
  const { text } = await ada.get("/dashboard/held");
  expect(rowsOf(text)).toEqual(ids);
  expect(text).toContain("<small><bdi>ben</bdi></small>");
  expect((await ben.get("/dashboard/held")).text).not.toContain("<small><bdi>");
});

test("one post shows what was filled in and why it was refused", async () => {
  const { server, ben } = await world();
  const [id = ""] = hold(server, ben, 1, { data: { message: "<b>Buy</b> now", email: "x@example.org" } });
  const { status, text } = await ben.get(`/dashboard/held/${id}`);
  expect(status).toBe(200);
  expect(text).toContain("&lt;b&gt;Buy&lt;/b&gt; now");
  expect(text).toContain('<span class="plus">+80</span>');
});

test("released posts are submissions of the month, as by the command, until the plan's limit is reached", async () => {
  const { server, ben } = await world();
  const ids = hold(server, ben, 3);
  const done = await ben.post("/dashboard/held/release", ticked(ids));
  expect(done.headers["location"]).toBe("/dashboard/held?notice=held-limit&n=2");
  expect((await ben.get("/dashboard/held?notice=held-limit&n=2")).text).toContain("2 posts are released");
  expect(left(server)).toEqual([ids[2]]);
  expect(server.stored(ben.endpoint.id)).toEqual([
    { name: "Sender 0", message: "Buy now" },
    { name: "Sender 1", message: "Buy now" },
  ]);
  const { owner } = server;
  expect(owner.prepare("SELECT used FROM usage").pluck().all()).toEqual([2]);
  expect(owner.prepare("SELECT spam_score FROM submission").pluck().all()).toEqual([0, 0]);
  expect(owner.prepare("SELECT count(*) FROM lesson WHERE mark = 'ham'").pluck().get()).toBe(2);
  const events = owner.prepare("SELECT action, subject, email FROM audit_event ORDER BY id").all();
  expect(events).toEqual(
    ids.slice(0, 2).map((subject) => ({ action: "held.release", subject, email: "ben@example.org" })),
  );
});

test("dropping asks first, and then drops all or none", async () => {
  const { server, ben, cleo } = await world();
  const ids = hold(server, ben, 3);
  const [others = ""] = hold(server, cleo, 1);
  const asked = await ben.post("/dashboard/held/drop", ticked(ids.slice(0, 2)));
  expect([asked.status, asked.text.includes("Drop 2 posts for good?"), left(server).length]).toEqual([
    200,
    true,
    4,
  ]);
  expect(
    (await ben.post("/dashboard/held/drop", ticked([...ids, others], { confirmed: "yes" }))).status,
  ).toBe(404);
  const done = await ben.post("/dashboard/held/drop", ticked(ids.slice(0, 2), { confirmed: "yes" }));
  expect(done.headers["location"]).toBe("/dashboard/held?notice=held-dropped&n=2");
  expect(left(server)).toEqual([ids[2], others]);
});

test("dropping all drops what the list showed on every page, and neither what came since nor what others hold", async () => {
  const { server, ben, cleo } = await world();
  const ids = hold(server, ben, 1200);
  const others = hold(server, cleo, 1);
  const newest = ids.at(-1) ?? "";
  const asked = await ben.post("/dashboard/held/drop-all", { newest });
  expect(asked.text).toContain("Drop 1200 posts for good?");
  const late = hold(server, ben, 1);
  const done = await ben.post("/dashboard/held/drop-all", { newest, confirmed: "yes" });
  expect(done.headers["location"]).toBe("/dashboard/held?notice=held-dropped&n=1200");
  expect(left(server)).toEqual([...others, ...late]);
  expect((await ben.post("/dashboard/held/drop-all", { newest: "x", confirmed: "yes" })).status).toBe(400);
});

test("another workspace's held post is answered like one that does not exist, by each page and button", async () => {
  const { server, ben, cleo } = await world();
  const [others = ""] = hold(server, cleo, 1);
  const unknown = "held_01h455vb4pex5vsknk084sn02q";
  const bare = ({ text }: { text: string }) =>
    text.replace(/held_\w+/g, "ID").replace(/Request <code>[^<]*/, "");
  const [foreign, nobodys] = [
    await ben.get(`/dashboard/held/${others}`),
    await ben.get(`/dashboard/held/${unknown}`),
  ];
  expect([foreign.status, bare(foreign)]).toEqual([404, bare(nobodys)]);
  for (const path of ["/dashboard/held/release", "/dashboard/held/drop"]) {
    for (const id of [others, unknown])
      expect((await ben.post(path, ticked([id], { confirmed: "yes" }))).status).toBe(404);
    expect((await ben.post(path, {})).headers["location"]).toBe("/dashboard/held?notice=none-selected");
  }
  expect(left(server)).toEqual([others]);
});

test("hostile values of a held post are shown as text", async () => {
  const { server, ben } = await world();
  const value = '<script>alert(1)</script>" onfocus="x\u202E\u0000';
  const data = JSON.parse(
    `{"__proto__": {"a": 1}, "name": ${JSON.stringify(value)}, "deep": ${"[".repeat(500)}${"]".repeat(500)}, "o": {"toString": "x"}}`,
  ) as Record<string, unknown>;
  const [id = ""] = hold(server, ben, 1, {
    data,
    userAgent: value,
    ipAddress: value,
    spamReasons: [{ signal: "x", points: 80, field: value, detail: value }],
  });
  for (const path of ["/dashboard/held", `/dashboard/held/${id}`]) {
    const { status, text } = await ben.get(path);
    expect(status).toBe(200);
    expect(text).not.toMatch(/<script>alert|" onfocus="|[\u0000\u202E]/);
  }
});

test("a page of large held posts ends at a mebibyte, and the next one goes on without a gap", async () => {
  const { server, ben } = await world();
  const ids = hold(server, ben, 40, { data: { message: "x".repeat(60_000) } }).toReversed();
  const first = rowsOf((await ben.get("/dashboard/held")).text);
  expect(first).toEqual(ids.slice(0, 17));
  const second = rowsOf((await ben.get(`/dashboard/held?before=${first.at(-1)}`)).text);
  expect(second).toEqual(ids.slice(17, 34));
});
