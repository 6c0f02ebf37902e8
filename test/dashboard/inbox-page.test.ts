import { expect, test } from "vitest";
import { insertReadRows } from "../../src/submissions/stored/read-marks.ts";
import { storeMember } from "../../src/workspaces/member-store.ts";
import { addSubmission, submissionAdder } from "../support/add-submission.ts";
import { addFormOwner } from "../support/form-owner.ts";
import { READER } from "../support/members.ts";
import { startServer, type TestServer } from "../support/test-server.ts";
import { visit } from "../support/visitor.ts";
import { DAY_MS } from "../../src/foundation/time-units.ts";

/** The ids of the rows of a page, in its order. */
function rowsOf(page: string): string[] {
  return [...page.matchAll(/<tr data-submission="(\w+)"/g)].map(([, id = ""]) => id);
}

/** The address of the first link with these words. */
function linkOf(page: string, words: string): string | null {
  const link = new RegExp(String.raw`href="([^"]*)"[^>]*>(?:<bdi>)?${words}`).exec(page);
  return link === null ? null : (link[1] ?? "").replaceAll("&amp;", "&");
}

/** Ada is the operator; Ben owns a workspace of his own, and Cleo another. */
async function world() {
  const server = await startServer();
  const ada = await visit(server);
  const ben = await addFormOwner(server, "ben@example.org");
  const cleo = await addFormOwner(server, "cleo@example.org");
  return { server, ada, ben, cleo, bens: ben.endpoint, cleos: cleo.endpoint };
}

function fill(server: TestServer, endpointId: string, count: number): string[] {
  const add = submissionAdder(server.owner);
  const now = server.clock.now();
  return server.owner.transactionNow(() =>
    Array.from({ length: count }, (_, index) =>
      add({
        endpointId,
        data: { message: `Number ${index}` },
        spamScore: index % 76,
        createdAt: now + index,
      }),
    ),
  );
}

test("pages of 50 go from the newest to the oldest and back, and hold each submission once", async () => {
  const { server, ben, bens } = await world();
  const ids = fill(server, bens.id, 120).toReversed();
  const seen: string[][] = [];
  let path: string | null = "/dashboard";
  while (path !== null) {
    const { text } = await ben.get(path);
    seen.push(rowsOf(text));
    path = linkOf(text, "Older");
  }
  expect(seen).toEqual([ids.slice(0, 50), ids.slice(50, 100), ids.slice(100)]);
  const last = await ben.get(`/dashboard?before=${ids[99]!}`);
  const middle = await ben.get(linkOf(last.text, "← Newer")!);
  expect(rowsOf(middle.text)).toEqual(ids.slice(50, 100));
  const first = await ben.get(linkOf(middle.text, "← Newer")!);
  expect([first.status, first.headers["location"]]).toEqual([303, "/dashboard"]);
});

test("owners see the submissions of their own workspaces alone, and operators see all, with the workspace", async () => {
  const { server, ada, ben, cleo, bens, cleos } = await world();
  const [one = ""] = fill(server, bens.id, 1);
  const [other = ""] = fill(server, cleos.id, 1);
  expect(rowsOf((await ben.get("/dashboard")).text)).toEqual([one]);
  expect(rowsOf((await cleo.get("/dashboard")).text)).toEqual([other]);
  const all = await ada.get("/dashboard");
  expect(rowsOf(all.text)).toEqual([other, one]);
  expect(all.text).toContain("<small><bdi>ben</bdi></small>");
  expect((await ben.get("/dashboard")).text).not.toContain("<small>");
});

test("a filter by another workspace's endpoint is answered like one by an endpoint that does not exist", async () => {
  const { ben, cleos } = await world();
  const unknown = "ep_01h455vb4pex5vsknk084sn02q";
  for (const path of ["/dashboard", "/dashboard/export.csv", "/dashboard/export.json"]) {
    const [others, nobodys] = [
      await ben.get(`${path}?endpoint=${cleos.id}`),
      await ben.get(`${path}?endpoint=${unknown}`),
    ];
    expect(others.status).toBe(404);
    expect(bare(others.text, cleos.id)).toBe(bare(nobodys.text, unknown));
  }
});

/** A page without what differs each time. */
function bare(page: string, id: string): string {
  return page.replaceAll(id, "ID").replace(/Request <code>[^<]*/, "");
}

test("the address filters by form, class, days, unread and text, and each filter stays in the links of the page", async () => {
  const { server, ben, bens } = await world();
  const now = server.clock.now();
  const day = (offset: number): string => new Date(now + offset * DAY_MS).toISOString().slice(0, 10);
  const add = (message: string, spamScore: number, offset: number): string =>
    addSubmission(server.owner, {
      endpointId: bens.id,
      data: { message },
      spamScore,
      createdAt: now + offset * DAY_MS,
    });
  const [a, b, c] = [add("an oak table", 0, 1), add("a link", 60, 2), add("an OAK chair", 30, 3)];
  const found = async (query: string): Promise<string[]> =>
    rowsOf((await ben.get(`/dashboard?${query}`)).text);
  expect(await found(`endpoint=${bens.id}`)).toEqual([c, b, a]);
  expect(await found("class=high")).toEqual([b]);
  expect(await found("class=medium")).toEqual([c]);
  expect(await found(`since=${day(2)}`)).toEqual([c, b]);
  expect(await found(`until=${day(2)}`)).toEqual([a]);
  expect(await found(`since=${day(2)}&until=${day(3)}`)).toEqual([b]);
  expect(await found("q=oak")).toEqual([c, a]);
  expect(await found("q=message")).toEqual([]);
  server.owner.now(() => insertReadRows(ben.accountId, [c]));
  expect(await found("unread=1")).toEqual([b, a]);
  const { text } = await ben.get("/dashboard?q=oak&class=medium");
  expect(linkOf(text, "Unread")).toBe("/dashboard?class=medium&unread=1&q=oak");
  expect(linkOf(text, "CSV")).toBe("/dashboard/export.csv?class=medium&q=oak");
  expect(linkOf(text, "Worth a look")).toBe("/dashboard?q=oak");
});

test.each([
  "class=blocked",
  "class=toString",
  "since=yesterday",
  "since=2026-02-30",
  "until=1",
  `q=${"x".repeat(201)}`,
  "before=x",
  "after=sub_",
])("the address %s is refused with a sentence that says what is wrong", async (query) => {
  const { ben } = await world();
  const { status, text } = await ben.get(`/dashboard?${query}`);
  expect(status).toBe(400);
  expect(text).toMatch(/<p\b[^>]*>[A-Z][^<]{20,}\.<\/p>/);
});

test("an empty inbox says what to do next: make a form, put it into the site or give it a page of its own, or leave the filter", async () => {
  const { server, ben, bens, ada } = await world();
  const PAGE = "give it a page of its own";
  const { text } = await ben.get("/dashboard");
  expect(text).toContain("Nothing has arrived yet");
  expect(text).toContain(PAGE);
  expect(linkOf(text, "See my forms")).toBe("/dashboard/endpoints");
  const reader = await visit(server, "rita@example.org");
  const place = { workspaceId: bens.workspaceId, accountId: reader.accountId };
  await server.owner.transaction(() => storeMember(place, READER, { since: 0, byAccountId: null }));
  const forReader = (await reader.get("/dashboard")).text;
  expect(forReader).toContain("Nothing has arrived yet");
  expect(forReader).not.toMatch(/Put the form|of its own|See my forms/);
  fill(server, bens.id, 1);
  expect((await ben.get("/dashboard?q=nowhere")).text).toContain("Show everything");
  expect((await ada.get("/dashboard?since=2030-01-01")).text).toContain("Nothing matches");
  const dora = await visit(server, "dora@example.org");
  const begun = (await dora.get("/dashboard")).text;
  expect(linkOf(begun, "Make a form")).toBe("/dashboard/endpoints/new");
  expect(begun).toContain(PAGE);
});

test("a search through more than one page looks at says up to when it looked, and goes on from there", async () => {
  const { server, ben, bens } = await world();
  const data = { message: "a needle" };
  const first = addSubmission(server.owner, { endpointId: bens.id, data, createdAt: server.clock.now() });
  fill(server, bens.id, 10_600);
  const { text } = await ben.get("/dashboard?q=needle");
  expect(text).toContain("Nothing found so far");
  expect(rowsOf((await ben.get(linkOf(text, "Search further back")!)).text)).toEqual([first]);
});

test("the first page begins with the last 30 days, the month's usage and what needs a person; other pages do not", async () => {
  const { server, ben, bens } = await world();
  fill(server, bens.id, 3);
  for (const days of [1, 2])
    addSubmission(server.owner, { endpointId: bens.id, data: {}, createdAt: ago(server, days) });
  server.owner.execute(
    `INSERT INTO usage SELECT id, strftime('%Y-%m', ${server.clock.now()} / 1000, 'unixepoch'), 240 FROM workspace`,
  );
  const { text } = await ben.get("/dashboard");
  expect(text).toContain("5 accepted and 0 held in 30 days; most on");
  expect(text.match(/<rect class="ok"/g)).toHaveLength(3);
  expect(text).toContain("this month on Hobby");
  for (const query of ["q=x", "unread=1", `before=${rowsOf(text)[0] ?? ""}`]) {
    expect((await ben.get(`/dashboard?${query}`)).text).not.toContain("in 30 days");
  }
});

test("bars are drawn from three days with posts on; before that a sentence says it all", async () => {
  const { server, ben, bens } = await world();
  for (const days of [0, 1])
    addSubmission(server.owner, { endpointId: bens.id, data: {}, createdAt: ago(server, days) });
  const { text } = await ben.get("/dashboard");
  expect(text).toContain("2 accepted and 0 held in 30 days; most on");
  expect(text).not.toContain('<rect class="ok"');
});

const ago = ({ clock }: { clock: { now(): number } }, days: number): number => clock.now() - days * DAY_MS;

const HOSTILE: readonly (readonly [string, unknown])[] = [
  ["markup", "<script>alert(1)</script><img src=x onerror=alert(1)>"],
  ["a quote that ends an attribute", '" autofocus onfocus="alert(1)'],
  ["an address of script", "javascript:alert(1)"],
  ["marks that turn text around", "\u202Egpj.exe\u2066\u200F"],
  ["control characters", "a\u0000b\u001b[31mc\u0085d"],
  ["an object that is no text", { toString: "x" }],
  ["an object that passes for markup", { isEscaped: true, toString: "x", __html: "<b>" }],
  ["64 KiB", "x".repeat(65_000)],
  ["half of a pair", "\ud83d"],
  ["null", null],
  ["a deep list", JSON.parse(`${"[".repeat(500)}1${"]".repeat(500)}`)],
];

test.each(HOSTILE)(
  "%s in each field, name and address is shown as text, and the page stays whole",
  async (_, value) => {
    const { server, ben, bens } = await world();
    const name = typeof value === "string" ? value : "name";
    const data = JSON.parse(
      `{"__proto__": ${JSON.stringify(value)}, "name": ${JSON.stringify(value)}, "email": ${JSON.stringify(value)}, ${JSON.stringify(name)}: ${JSON.stringify(value)}}`,
    ) as Record<string, unknown>;
    const text = typeof value === "string" ? value.slice(0, 500) : "x";
    const id = addSubmission(server.owner, {
      endpointId: bens.id,
      data,
      userAgent: text,
      ipAddress: text,
      createdAt: server.clock.now(),
    });
    for (const path of PAGES_WITH_VALUES) {
      const { status, text: page } = await ben.get(path.replace("ID", id));
      expect(status, path).toBe(200);
      expect(page).not.toMatch(
        /<script>alert|<img|<b>"|autofocus onfocus="|href="javascript|[\u0000\u001b\u0085\u202E\u2066\u200F]/,
      );
      expect(page.endsWith("</html> ") || page.trimEnd().endsWith("</html>")).toBe(true);
      expect(page.length).toBeLessThan(60_000 + 3 * 65_000 * 5);
    }
  },
);

const PAGES_WITH_VALUES = ["/dashboard", "/dashboard/submissions/ID"];
