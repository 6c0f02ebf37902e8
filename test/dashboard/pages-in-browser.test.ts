import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { axeViolations } from "../support/axe.ts";
import { chromiumPath, launchUndrawn } from "../support/chromium.ts";
import { dashboardRoutes, EVERY_PAGE, pagesOf } from "../support/dashboard-routes.ts";
import { openWithoutScript, SHOWN, startScript } from "../support/late-script.ts";
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

  const problemsAt = async ({ page }: Tab, { colours }: Pick<Look, "colours">, isSeen = false) => {
    const overflow = "document.documentElement.scrollWidth - document.documentElement.clientWidth";
    const [beyond, texts] = (await page.evaluate(`[${overflow}, ${TEXT_LOOKS}]`)) as [number, string[]];
    const newTexts = texts.filter((text) => !seen.has(text));
    for (const text of newTexts) seen.add(text);
    const found = [];
    if (colours === "light" && !isSeen) found.push(...(await axeViolations(page, { without: [CONTRAST] })));
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

  /** What is wrong with a page that is open without script, in all looks, and then with script, in all looks backwards. */
  const problemsOf = async (tab: Tab): Promise<string[]> => {
    const problems: string[] = [];
    /** What is shown without script, by the width. */
    const shown = new Map<number, string | null>();
    for (const script of ["without script", "with script"]) {
      if (script === "with script") await startScript(tab.page);
      for (const look of script === "with script" ? LOOKS.toReversed() : LOOKS) {
        await setLook(tab, look);
        const { width } = look.viewport;
        const isSeen = look.colours === "light" && (await isShownBefore(tab, width, shown));
        const found = await problemsAt(tab, look, isSeen);
        problems.push(...found.map((each) => `${width} ${look.colours} ${script}: ${each}`));
      }
    }
    return problems;
  };

  /** Whether a page shows with script what it showed without, so that axe needs not look again. */
  const isShownBefore = async ({ page }: Tab, width: number, shown: Map<number, string | null>) => {
    const now = await page.evaluate<string | null>(SHOWN);
    const isSeen = now !== null && shown.get(width) === now;
    shown.set(width, now);
    return isSeen;
  };

  test(
    "passes axe in light, dark and forced colours, narrow and wide, without script and with it, and keeps its policy",
    async () => {
      const tab = await openTab(browser, server, ada.visitor, { viewport: NARROW });
      const problems: string[] = [];
      for (const path of pages) {
        await openWithoutScript(tab.page, `${server.url}${path}`);
        problems.push(...(await problemsOf(tab)).map((each) => `${path} ${each}`));
      }
      expect(problems).toEqual([]);
      expect(tab.complaints).toEqual([]);
      await tab.context.close();
    },
    TIME_LIMIT_MS,
  );

  const NARROW_ONLY =
    "const sheet = new CSSStyleSheet(); sheet.replaceSync('@media (width > 700px) { #planted { display: none } }');";
  test.each([
    ["narrow", `${NARROW_ONLY} document.adoptedStyleSheets = [sheet]`, ["320 without"]],
    ["without script", "image.dataset.retype = ''", ["320 without", "1280 without"]],
    ["with script, by a rule", "image.className = 'needs-script'", ["1280 with", "320 with"]],
    [
      "with script, by the script",
      "image.alt = 'Name'; addEventListener('pageshow', () => image.removeAttribute('alt'))",
      ["1280 with", "320 with"],
    ],
  ])("an image without alternative is found if it is so only %s", async (_when, plant, places) => {
    const tab = await openTab(browser, server, ada.visitor, { viewport: NARROW });
    await openWithoutScript(tab.page, `${server.url}/dashboard/no-such-page`);
    await tab.page.evaluate(`{
      const image = Object.assign(document.createElement("img"), { id: "planted", src: "data:," });
      document.querySelector("main").append(image);
      ${plant};
    }`);
    const found = (await problemsOf(tab)).filter((each) => each.includes(" image-alt: "));
    expect(found.map((each) => each.replace(/ script: .*/s, ""))).toEqual(
      places.map((place) => place.replace(" ", " light ")),
    );
    await tab.context.close();
  });

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
