import type { APIResponse, Browser, Route } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { axeViolations } from "../support/axe.ts";
import { chromiumPath, launchUndrawn } from "../support/chromium.ts";
import { dashboardRoutes, EVERY_PAGE, pagesOf } from "../support/dashboard-routes.ts";
import { furnish, type OwnerHome } from "../support/owner-home.ts";
import { openTab, type Tab } from "../support/signed-in-browser.ts";
import { elementsOf, TEXT_LOOKS } from "../support/text-looks.ts";
import { launchServer, type TestServer } from "../support/test-server.ts";
import { PATIENCE_MS } from "../support/until.ts";

const NARROW = { width: 320, height: 800 };
const WIDE = { width: 1280, height: 900 };
const COLOURS = ["light", "dark", "forced"] as const;
/** Of two that follow each other, only one thing has to change in the browser. */
const LOOKS = [
  ...COLOURS.map((colours) => ({ viewport: NARROW, colours })),
  ...COLOURS.toReversed().map((colours) => ({ viewport: WIDE, colours })),
];
type Look = (typeof LOOKS)[number];
/** What colours alone can change of what axe looks at, and a third of its work. */
const CONTRAST = "color-contrast";
/** A few hundred looks at pages take half a minute; only a hang takes longer than this. */
const TIME_LIMIT_MS = 6 * PATIENCE_MS;

/*
 * Every page that the dashboard has, in real Chromium; a new page is covered without being named here. The owner is an operator, so
 * that she sees all of them.
 */
describe.skipIf(chromiumPath === null)("every page", () => {
  let server: TestServer;
  let browser: Browser;
  let ada: OwnerHome;
  let pages: readonly string[];

  beforeAll(async () => {
    [server, browser] = await Promise.all([launchServer(EVERY_PAGE), launchUndrawn()]);
    ada = await furnish(server, "ada@example.com");
    pages = [...pagesOf(await dashboardRoutes(server), ada), "/dashboard/no-such-page"];
  });
  afterAll(async () => {
    await browser.close();
    await server.stop();
  });

  /** How text looked whose contrast axe has looked at. */
  const seen = new Set<string>();

  const problemsAt = async ({ page }: Tab, { colours }: Pick<Look, "colours">) => {
    const overflow = "document.documentElement.scrollWidth - document.documentElement.clientWidth";
    const [beyond, texts] = (await page.evaluate(`[${overflow}, ${TEXT_LOOKS}]`)) as [number, string[]];
    const newTexts = texts.filter((text) => !seen.has(text));
    for (const text of newTexts) seen.add(text);
    const found = [];
    if (colours === "light") found.push(...(await axeViolations(page, { without: [CONTRAST] })));
    if (newTexts.length > 0)
      found.push(...(await axeViolations(page, { only: [CONTRAST], within: elementsOf(newTexts) })));
    return beyond > 0 ? [...found, `the page is ${beyond} px too wide`] : found;
  };

  const setLook = async ({ page }: Tab, { viewport, colours }: Look) => {
    if (page.viewportSize()?.width !== viewport.width) await page.setViewportSize(viewport);
    await page.emulateMedia({
      colorScheme: colours === "dark" ? "dark" : "light",
      forcedColors: colours === "forced" ? "active" : "none",
      // Colours that are on their way to others have a contrast of neither.
      reducedMotion: "reduce",
    });
  };

  test.each([true, false])(
    "passes axe in light, dark and forced colours, narrow and wide, and keeps its policy (script: %s)",
    async (hasScript) => {
      const tab = await openTab(browser, server, ada.visitor);
      if (!hasScript) await leaveScriptOut(tab);
      const problems: string[] = [];
      for (const [index, path] of pages.entries()) {
        const looks = index % 2 === 0 ? LOOKS : LOOKS.toReversed();
        for (const [position, look] of looks.entries()) {
          if (index === 0 || position > 0) await setLook(tab, look);
          if (position === 0) await tab.page.goto(`${server.url}${path}`);
          const found = await problemsAt(tab, look);
          problems.push(...found.map((each) => `${path} ${look.viewport.width} ${look.colours}: ${each}`));
        }
      }
      expect(problems).toEqual([]);
      expect(tab.complaints).toEqual([]);
      await tab.context.close();
    },
    TIME_LIMIT_MS,
  );

  test("planted faults are found: an input without label, a wide box, a frame, a script", async () => {
    const tab = await openTab(browser, server, ada.visitor, { viewport: NARROW });
    await tab.page.goto(`${server.url}/dashboard/no-such-page`);
    await tab.page.evaluate(`{
      const add = (name, change) => document.querySelector("main").append(Object.assign(document.createElement(name), change));
      add("input", {});
      add("img", { width: 2000, alt: "" });
      add("iframe", { src: "https://example.org/", title: "Foreign" });
      try { add("script", { textContent: "document.title = 'hacked'" }); } catch {}
    }`);
    const found = await problemsAt(tab, { colours: "light" });
    expect(found).toContainEqual(expect.stringMatching(/^label:/));
    expect(found).toContainEqual(expect.stringMatching(/px too wide$/));
    for (const directive of ["frame-src", "require-trusted-types-for"])
      await expect.poll(() => tab.complaints.join("\n")).toContain(`policy ${directive}`);
    expect(await tab.page.title()).not.toBe("hacked");
    await tab.context.close();
  });

  test.each([
    ["its colour", "color", "#223"],
    ["the ground of what it is in", "backgroundColor", "#dde"],
  ] as const)("text that can no longer be read in dark is found, by %s", async (_what, property, value) => {
    const tab = await openTab(browser, server, ada.visitor);
    await setLook(tab, { viewport: WIDE, colours: "dark" });
    await tab.page.goto(`${server.url}/dashboard/no-such-page`);
    expect(await problemsAt(tab, { colours: "dark" })).toEqual([]);
    await tab.page.evaluate(`document.querySelector("main").style.${property} = "${value}"`);
    expect(await problemsAt(tab, { colours: "dark" })).toContainEqual(
      expect.stringMatching(/^color-contrast:/),
    );
    await tab.context.close();
  });
});

/**
 * The pages as a browser without script shows them. Really switched off, axe could not run either: so our script is not loaded, and
 * the style sheet's rules for a browser without script are made to hold.
 */
async function leaveScriptOut({ page }: Tab): Promise<void> {
  await page.route("**/dashboard/assets/*.js", (route) => route.abort());
  const sheets = new Map<string, Promise<{ response: APIResponse; body: string }>>();
  await page.route("**/dashboard/assets/*.css", async (route) => {
    const url = route.request().url();
    const sheet = sheets.get(url) ?? fetchSheet(route);
    sheets.set(url, sheet);
    await route.fulfill(await sheet);
  });
}

async function fetchSheet(route: Route): Promise<{ response: APIResponse; body: string }> {
  const response = await route.fetch();
  const sheet = await response.text();
  expect(sheet).toContain("(scripting:none)");
  const body = sheet
    .replaceAll("(scripting:none)", "(min-width:0)")
    .replaceAll("(scripting:enabled)", "(max-width:0)");
  return { response, body };
}
