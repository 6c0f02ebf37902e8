import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { storeSubmissions } from "../support/add-submission.ts";
import { chromiumPath, launchChromium } from "../support/chromium.ts";
import { dashboardRoutes, EVERY_PAGE, pagesOf } from "../support/dashboard-routes.ts";
import { furnish, type OwnerHome } from "../support/owner-home.ts";
import { openTab } from "../support/signed-in-browser.ts";
import { launchServer, type TestServer } from "../support/test-server.ts";
import { PATIENCE_MS } from "../support/until.ts";

/** Runs in a page: the place of each element that can be seen, in CSS pixels. */
const boxes = (selector: string): string => `[...document.querySelectorAll(${JSON.stringify(selector)})]
  .filter((each) => each.checkVisibility())
  .map((each) => {
    const { left, right, top, bottom } = each.getBoundingClientRect();
    return { left, right, top, bottom };
  })`;

interface Box {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

describe.skipIf(chromiumPath === null)("the look", () => {
  let server: TestServer;
  let browser: Browser;
  let ada: OwnerHome;

  beforeAll(async () => {
    [server, browser] = await Promise.all([
      launchServer({ ...EVERY_PAGE, plans: { hobby: { customSpam: true } } }),
      launchChromium(),
    ]);
    // Far from every bound of the filter, however that is trained.
    const message =
      "Good morning, is the oak table still there? I would collect it on Saturday with my brother.";
    const genuine = { name: "Lena Lund", email: "lena@example.org", message };
    ada = await furnish(server, "ada@example.com", { posts: [genuine] });
    const given = { endpointId: ada.endpointId, createdAt: server.clock.now() };
    const data = {
      name: "Lena",
      message: "A word that is long enough for a second line on a phone. ".repeat(4),
    };
    await storeSubmissions(server.owner, [
      { ...given, data },
      { ...given, data, spamScore: 31, spamClass: "medium" },
    ]);
  });
  afterAll(async () => {
    await browser.close();
    await server.stop();
  });

  async function open(path: string, width: number, options: BrowserContextOptions = {}): Promise<Page> {
    const viewport = { width, height: 700 };
    const { page, context } = await openTab(browser, server, ada.visitor, {
      viewport,
      reducedMotion: "reduce",
      ...options,
    });
    onTestFinished(() => context.close());
    // What comes meanwhile is told above the list, which moves it.
    await page.route("**/dashboard/events*", (route) => route.abort());
    await page.goto(`${server.url}${path}`);
    return page;
  }
  const seen = async (page: Page, selector: string) => (await page.evaluate(boxes(selector))) as Box[];

  test.each([true, false])(
    "on a phone the navigation is one row, and its menu leads to every other section (script: %s)",
    async (javaScriptEnabled) => {
      const { page, context } = await openTab(browser, server, ada.visitor, {
        viewport: { width: 320, height: 700 },
        javaScriptEnabled,
      });
      onTestFinished(() => context.close());
      await page.goto(`${server.url}/dashboard`);
      const row = page.locator("nav.main > :is(a, details)").filter({ visible: true });
      const tops = await row.evaluateAll((all) => all.map((each) => each.getBoundingClientRect().top));
      expect(tops.length).toBeGreaterThanOrEqual(4);
      expect(new Set(tops).size).toBe(1);
      expect((await page.locator("nav.main").boundingBox())?.height).toBeLessThanOrEqual(56);
      const notifications = page.getByRole("link", { name: "Notifications" });
      expect(await notifications.isVisible()).toBe(false);
      await page.locator("nav.main summary").click();
      for (const name of ["Spam", "Usage", "System", "Account"])
        expect(await page.locator("nav.main").getByRole("link", { name }).isVisible(), name).toBe(true);
      await notifications.click();
      await page.getByRole("heading", { name: "Notifications", level: 1 }).waitFor();
    },
  );

  test("each section of the navigation has a drawing of 20 px, and on a wide screen all are in sight", async () => {
    const page = await open("/dashboard", 1280);
    const links = page.locator("nav.main a:not(.brand, .foot a)");
    expect(await links.allTextContents()).toHaveLength(9);
    for (const link of await links.all()) {
      expect(await link.isVisible()).toBe(true);
      expect(await link.locator("svg").boundingBox()).toMatchObject({ width: 20, height: 20 });
    }
  });

  test(
    "on the widest screen every page stands in the middle of the room beside the navigation, or uses all of it",
    async () => {
      const page = await open("/dashboard", 1920);
      const apart: string[] = [];
      for (const path of pagesOf(await dashboardRoutes(server), ada)) {
        await page.goto(`${server.url}${path}`);
        const [navigation] = await seen(page, "nav.main");
        const [main] = await seen(page, "main");
        const [left, right] = [
          (main?.left ?? 0) - (navigation?.right ?? 0),
          (await page.evaluate<number>("document.documentElement.clientWidth")) - (main?.right ?? 0),
        ];
        if (Math.abs(left - right) > 1) apart.push(`${path}: ${left} px before, ${right} px behind`);
      }
      expect(apart).toEqual([]);
    },
    6 * PATIENCE_MS,
  );

  test.each([320, 768])("no filter is behind a scroll bar at %i px", async (width) => {
    const page = await open("/dashboard", width);
    const hidden = await page
      .locator(".chips")
      .evaluateAll((all) => all.map((each) => each.scrollWidth - each.clientWidth));
    expect(hidden).toEqual([0]);
  });

  test("what is done with the selected is shown with a selection only, and then no row moves", async () => {
    const page = await open("/dashboard", 1280);
    const buttons = page.getByRole("group", { name: "With the selected" }).getByRole("button");
    const rows = () => seen(page, "tbody tr");
    const before = await rows();
    expect(await buttons.count()).toBe(0);
    await page.locator("td input[type=checkbox]").first().check();
    expect(await buttons.count()).toBe(7);
    expect(await rows()).toEqual(before);
    await page.locator("td input[type=checkbox]").first().uncheck();
    expect(await buttons.count()).toBe(0);
  });

  test("on a phone, who wrote, what, and where begin on one line down the page", async () => {
    const page = await open("/dashboard", 320);
    const starts = await Promise.all(
      [".preview b", ".preview > span", "td.c-form"].map(async (each) =>
        (await seen(page, each)).map(({ left }) => Math.round(left)),
      ),
    );
    expect(starts.every((each) => each.length >= 3)).toBe(true);
    expect(new Set(starts.flat()).size).toBe(1);
  });

  test("a score is told from “worth a look” on, and beside what its owner said there is none", async () => {
    const page = await open("/dashboard", 1280);
    const pills = page.locator("tbody .pill");
    expect(await pills.allTextContents()).toEqual(["31 · worth a look"]);
    await page.goto(`${server.url}/dashboard/submissions/${ada.submissionIds[0] ?? ""}`);
    expect(await page.locator(".head .pill").count()).toBe(0);
    await page.locator("button[value=spam]").click();
    await page.goto(`${server.url}/dashboard/submissions/${ada.submissionIds[0] ?? ""}`);
    expect(await page.locator(".head .pill").allTextContents()).toEqual(["marked spam"]);
  });

  const grouped: readonly [string, (home: OwnerHome) => string, number, string | null][] = [
    ["a form", ({ endpointId }) => `/dashboard/endpoints/${endpointId}`, 5, "Save the settings"],
    [
      "the filter",
      ({ workspaceId }) => `/dashboard/spam/workspaces/${workspaceId}`,
      4,
      "See what would change",
    ],
    ["an account", () => "/dashboard/account", 7, null],
  ];
  test.each(grouped)(
    "settings of %s stand in groups, what each is about beside its controls, and saving stays in sight",
    async (_name, path, groups, button) => {
      const page = await open(path(ada), 1280);
      const [abouts, cards] = [await seen(page, ".part > header"), await seen(page, ".part > .card")];
      expect(abouts).toHaveLength(groups);
      for (const [index, about] of abouts.entries()) {
        expect(about.right).toBeLessThan(cards[index]?.left ?? 0);
        expect(about.top).toBe(cards[index]?.top);
      }
      const save = button === null ? null : page.getByRole("button", { name: button });
      if (save !== null) expect((await save.boundingBox())?.y).toBeLessThan(700);
      await page.setViewportSize({ width: 320, height: 700 });
      if (save !== null) expect((await save.boundingBox())?.y).toBeLessThan(700);
      for (const [index, about] of (await seen(page, ".part > header")).entries())
        expect(about.bottom).toBeLessThan((await seen(page, ".part > .card"))[index]?.top ?? 0);
    },
  );

  test("the help is one column of text on a phone, and breaks no word of a table", async () => {
    const page = await open("/dashboard/help/webhooks", 320);
    const lefts = [...(await seen(page, ".help > h2")), ...(await seen(page, ".help > p"))].map(
      ({ left }) => left,
    );
    expect(lefts.length).toBeGreaterThan(10);
    expect(new Set(lefts).size).toBe(1);
    // A column is as wide as its longest word, and the table scrolls.
    const broken = `[...document.querySelectorAll(".help td")].filter((cell) => getComputedStyle(cell).overflowWrap === "anywhere").length`;
    expect(await page.evaluate(broken)).toBe(0);
  });

  test("an attempt that said nothing ends without a dot", async () => {
    server.owner.execute("UPDATE attempt SET message = NULL, duration_ms = 180");
    const page = await open(
      `/dashboard/recipients/${ada.mailRecipientId}/deliveries/${ada.mailDeliveryId}`,
      320,
    );
    expect(await page.locator("small", { hasText: "after 180 ms" }).first().textContent()).toBe(
      "after 180 ms",
    );
  });

  test.each([
    [1280, 700],
    [320, 640],
  ])("the sign-in page has no scroll bar at %i × %i px", async (width, height) => {
    const context = await browser.newContext({ viewport: { width, height } });
    onTestFinished(() => context.close());
    const page = await context.newPage();
    await page.goto(`${server.url}/dashboard/sign-in`);
    expect(await page.evaluate("document.documentElement.scrollHeight")).toBe(height);
  });
});
