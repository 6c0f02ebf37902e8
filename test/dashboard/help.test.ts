import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readPages, renderHelp } from "../../scripts/embed-help.ts";
import { pageMarkup } from "../../src/manual/page-markup.ts";
import { dashboardRoutes, EVERY_PAGE, pagesOf } from "../support/dashboard-routes.ts";
import { furnish, type OwnerHome } from "../support/owner-home.ts";
import { launchServer, type TestServer } from "../support/test-server.ts";

let server: TestServer;
let ada: OwnerHome;

beforeAll(async () => {
  server = await launchServer({
    ...EVERY_PAGE,
    plans: { hobby: { monthlySubmissions: null, endpoints: null, customSpam: true } },
  });
  ada = await furnish(server, "ada@example.com");
});
afterAll(() => server.stop());

const pages = new Map(
  readPages().map(({ name, blocks }) => [name, String(pageMarkup(blocks, "/dashboard/help/"))]),
);

/** Whether an address below /dashboard/help/ has its page and its anchor. */
function resolves(address: string): boolean {
  const [, name = "", anchor] = /^\/dashboard\/help\/([\w-]+)(?:#(.+))?$/.exec(address) ?? [];
  const markup = pages.get(name);
  return markup !== undefined && (anchor === undefined || markup.includes(` id="${anchor}"`));
}

test("the embedded documentation is what docs/ makes (npm run fix)", () => {
  const embedded = readFileSync(new URL("../../src/manual/pages.generated.ts", import.meta.url), "utf8");
  expect(embedded).toBe(renderHelp());
});

test("every page of the dashboard links to its help, and page and anchor are there", async () => {
  const wrong: string[] = [];
  for (const path of pagesOf(await dashboardRoutes(server), ada)) {
    const { text } = await ada.visitor.get(path);
    // Pages of nobody in particular, like signing in, have no navigation.
    if (!text.includes('<nav class="main"')) continue;
    const help = /href="(\/dashboard\/help\/[^"]+)"[^>]*>Help</.exec(text)?.[1] ?? "none";
    if (!resolves(help)) wrong.push(`${path}: ${help}`);
  }
  expect(wrong).toEqual([]);
});

test("every link from one page of the documentation to another leads to a page and an anchor", () => {
  const wrong = [...pages].flatMap(([name, markup]) =>
    [...markup.matchAll(/href="(\/dashboard\/help\/[^"]+|#[^"]+)"/g)]
      .map(([, to = ""]) => (to.startsWith("#") ? `/dashboard/help/${name}${to}` : to))
      .filter((to) => !resolves(to))
      .map((to) => `${name}: ${to}`),
  );
  expect(wrong).toEqual([]);
});

test("a page of the documentation is shown to who is signed in, markup in it as text, and no other name", async () => {
  const { status, text } = await ada.visitor.get("/dashboard/help/recipes-plain-html");
  expect(status).toBe(200);
  expect(text).toContain("&lt;form");
  expect(text).not.toMatch(/<form[^>]*action="https?:/);
  for (const name of ["nothing", "__proto__", "constructor", "..%2f..%2fetc"])
    expect((await ada.visitor.get(`/dashboard/help/${name}`)).status, name).toBe(404);
  const stranger = await server.request({ method: "GET", path: "/dashboard/help/spam" });
  expect(stranger.status).toBe(303);
});
