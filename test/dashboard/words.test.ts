import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { findingText } from "../../src/dashboard/system/finding-words.ts";
import { pageWords, sentence } from "../../src/dashboard/kit/sentence.ts";
import { dashboardRoutes, EVERY_PAGE, pagesOf } from "../support/dashboard-routes.ts";
import { furnish, type OwnerHome } from "../support/owner-home.ts";
import { launchServer, type TestServer } from "../support/test-server.ts";

/** Words of the command line and the API: form, site and network address in the dashboard. */
const OTHER_WORDS = /\b(?:end-?points?|origins?|IP(?: address(?:es)?)?)\b/gi;

/** What somebody sees or hears of a page: its texts and what names its controls. JSON and what is pasted into a page are no words of ours. */
function toldBy(page: string): string {
  const shown = page.replaceAll(/<(script|style|pre|code)\b.*?<\/\1>/gs, " ");
  const names = [...shown.matchAll(/ (?:aria-label|title|alt|placeholder|data-label)="([^"]*)"/g)];
  const buttons = [...shown.matchAll(/<input[^>]*type="submit"[^>]*value="([^"]*)"/g)];
  return [shown.replaceAll(/<[^>]*>/g, " "), ...[...names, ...buttons].map(([, text]) => text)].join(" · ");
}

const otherWordsIn = (text: string): string[] =>
  [...text.matchAll(OTHER_WORDS)].map(({ index }) => text.slice(Math.max(0, index - 40), index + 40));

let server: TestServer;
let ada: OwnerHome;
let pages: readonly string[];

beforeAll(async () => {
  server = await launchServer({
    ...EVERY_PAGE,
    plans: { hobby: { monthlySubmissions: null, endpoints: null, customSpam: true } },
  });
  ada = await furnish(server, "ada@example.com");
  // The documentation speaks of the command line and the API too.
  pages = pagesOf(await dashboardRoutes(server), ada).filter((path) => !path.includes("/help/"));
});
afterAll(() => server.stop());

test("no page of the dashboard says endpoint, origin or IP", async () => {
  const found: string[] = [];
  for (const path of [...pages, `/dashboard/endpoints/ep_${"0".repeat(26)}`, "/dashboard/no-such-page"]) {
    const { text } = await ada.visitor.get(path);
    found.push(...otherWordsIn(toldBy(text)).map((each) => `${path}: ${each}`));
  }
  expect(found).toEqual([]);
});

test("nothing that is told after a change says it", async () => {
  const source = readFileSync(new URL("../../src/dashboard/kit/notices.ts", import.meta.url), "utf8");
  const names = [...source.matchAll(/^ {2}"?([a-z-]+)"?:(?=\s+["(])/gm)].map(([, name]) => name ?? "");
  expect(names.length).toBeGreaterThan(60);
  for (const name of names) {
    const { text } = await ada.visitor.get(`/dashboard?notice=${name}&n=2`);
    expect(text, name).toContain(`role="status"`);
    expect(otherWordsIn(toldBy(text)), name).toEqual([]);
  }
});

test("what is refused is told in the words of the pages", async () => {
  const settings = { name: "Contact", allowed_origins: "ftp://example.com\n*" };
  const wrong = await ada.visitor.post(`/dashboard/endpoints/${ada.endpointId}`, settings);
  expect(wrong.status).toBe(422);
  expect(toldBy(wrong.text)).toContain("Not a site: ");
  const again = {
    endpoint: ada.endpointId,
    address: "friend@example.net",
    digest: "none",
    max_spam_score: "100",
  };
  await ada.visitor.post("/dashboard/recipients/new", again);
  const twice = await ada.visitor.post("/dashboard/recipients/new", again);
  for (const { text } of [wrong, twice]) expect(otherWordsIn(toldBy(text))).toEqual([]);
});

test("what is wrong with an input begins with a capital and ends with a stop, on every page", async () => {
  const workspace = `/dashboard/workspaces/${ada.workspaceId}`;
  const form = `/dashboard/endpoints/${ada.endpointId}`;
  const wrong: readonly [string, Readonly<Record<string, string>>][] = [
    ["/dashboard/system/accounts", { email: "no address" }],
    ["/dashboard/system/workspaces", { name: "x".repeat(300), account: "ada@example.com" }],
    [workspace, { name: " " }],
    [`${workspace}/time-zone`, { time_zone: "Mars" }],
    [`${workspace}/transfer`, { to: "nobody" }],
    [`${workspace}/members`, { email: "no address", role: "reader", of: "all" }],
    [form, { name: "A", allowed_origins: "ftp://example.com" }],
    [`${form}/reply`, { field: "email", subject: "x".repeat(2000), text: "Hi" }],
    ["/dashboard/endpoints/new", { name: "\u0007" }],
    [
      "/dashboard/endpoints/new",
      { name: "A", "f.0.label": "Size", "f.0.kind": "choice", "f.0.enum": "S\nS" },
    ],
    ["/dashboard/recipients/new", { endpoint: ada.endpointId, address: "no address" }],
    ["/dashboard/webhooks/new", { endpoint: ada.endpointId, url: "ftp://example.com" }],
    ["/dashboard/account/tokens", { name: "x".repeat(300) }],
    [`/dashboard/submissions/${ada.submissionIds[0] ?? ""}/notes`, { text: " " }],
  ];
  let count = 0;
  for (const [path, values] of wrong) {
    const { text } = await ada.visitor.post(path, values);
    const told = [...text.matchAll(/class="(?:problem|bad)"[^>]*>(.*?)<\/(?:p|span)>/gs)];
    const listed = [...(/role="alert">(.*?)<\/div>/s.exec(text)?.[1] ?? "").matchAll(/<li>(.*?)<\/li>/gs)];
    const problems = [...told, ...listed].map(([, problem = ""]) => toldBy(problem).trim());
    for (const problem of problems) expect(problem, path).toMatch(/^(?:["“A-Z]|&quot;|\S+@).*[.!?]$/s);
    if (problems.length > 0) count += 1;
  }
  expect(count).toBeGreaterThan(wrong.length / 2);
});

test("what was typed is told as it was typed, and names in braces once each", async () => {
  const wrong = { endpoint: ada.endpointId, address: "mia at example.com", max_spam_score: "100" };
  const refused = await ada.visitor.post("/dashboard/recipients/new", wrong);
  expect(toldBy(refused.text)).toContain("&quot;mia at example.com&quot; is not an address");
  const reply = { field: "email", subject: "", text: "Dear {name}", action: "save" };
  const { text } = await ada.visitor.post(`/dashboard/endpoints/${ada.endpointId}/reply`, reply);
  expect(toldBy(text)).toContain("it can have {form}, {reference}, {time}.");
});

test("the navigation says in which section a page is that lies below no section's own address", async () => {
  const workspace = `/dashboard/workspaces/${ada.workspaceId}`;
  for (const [path, section] of [
    ["/dashboard/choose-export", "Inbox"],
    [workspace, "Usage"],
    [`${workspace}/members/${ada.accountId}`, "Members"],
  ] as const) {
    const { text } = await ada.visitor.get(path);
    const marked = [...text.matchAll(/<a href="[^"]*" +aria-current="page"[^>]*>(.*?)<\/a>/gs)];
    expect(
      marked.map(([, content = ""]) => content.replaceAll(/<[^>]*>/g, "").trim()),
      path,
    ).toEqual([expect.stringMatching(`^${section}`)]);
  }
});

test("what is said below a tick is said of it to screen readers too", async () => {
  const { text } = await ada.visitor.get(`/dashboard/recipients/new?endpoint=${ada.endpointId}`);
  const [, hint] = /name="attach"[^>]*aria-describedby="([^"]+)"/.exec(text) ?? [];
  expect(text).toContain(`<p class="hint" id="${hint}">Of one submission`);
});

test("messages of features are turned into them, and what others named is left as it is", () => {
  expect(sentence("there is no endpoint “my endpoint” here")).toBe("There is no form “my endpoint” here.");
  expect(sentence("ana@example.org is no member of “x”")).toBe("ana@example.org is no member of “x”.");
  expect(sentence("ep_01h is nowhere")).toBe("ep_01h is nowhere.");
  expect(sentence("it's late: try again")).toBe("It's late: try again.");
  expect(pageWords("An endpoint has at most 20 webhooks.")).toBe("A form has at most 20 webhooks.");
  expect(pageWords('not an origin: "origin" (it needs https)')).toBe('not a site: "origin" (it needs https)');
  expect(pageWords("an original idea")).toBe("an original idea");
  expect(pageWords("there is no {endpoint}")).toBe("there is no {endpoint}");
  expect(findingText("two endpoints hold all of it")).toBe("two forms hold all of it");
});

test("the page about the dashboard says form, and the glossary says what it is elsewhere", () => {
  const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");
  // What is typed at a terminal, and the name of a picture.
  const prose = read("docs/dashboard.md").replaceAll(/```.*?```|`[^`]*`|\]\([^)]*\)/gs, " ");
  expect(otherWordsIn(prose)).toEqual([]);
  expect(read("docs/glossary.md")).toMatch(
    /^\| endpoint \| one form: .*dashboard and its letters say \*\*form\*\*/m,
  );
});
