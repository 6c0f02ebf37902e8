import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { axeInColours } from "../support/axe.ts";
import { chromiumPath, launchChromium } from "../support/chromium.ts";
import { furnish, type OwnerHome } from "../support/owner-home.ts";
import { openTab } from "../support/signed-in-browser.ts";
import { launchServer, type TestServer } from "../support/test-server.ts";

/** Controls that are less than 24 pixels high or wide, but for links within a text. A box counts with its label. */
const SMALL = `[...document.querySelectorAll("a, button, input, select, textarea, summary")].flatMap((each) => {
  const target = each.matches("[type=checkbox], [type=radio]") ? (each.closest("label") ?? each) : each;
  const { width, height } = target.getBoundingClientRect();
  const isShown = each.checkVisibility() && width > 0 && !each.matches(".hidden-text, .skip");
  const isText = getComputedStyle(each).display === "inline";
  return isShown && !isText && (width < 24 || height < 24) ? [each.outerHTML.slice(0, 80) + " " + width + "x" + height] : [];
})`;

describe.skipIf(chromiumPath === null)("a form that is refused, in a browser", () => {
  let server: TestServer;
  let browser: Browser;
  let ada: OwnerHome;

  beforeAll(async () => {
    [server, browser] = await Promise.all([launchServer(), launchChromium()]);
    ada = await furnish(server, "ada@example.com");
  });
  afterAll(async () => {
    await browser.close();
    await server.stop();
  });

  async function open(path: string): Promise<Page> {
    const viewport = { width: 320, height: 800 };
    const tab = await openTab(browser, server, ada.visitor, {
      viewport,
      reducedMotion: "reduce",
    });
    onTestFinished(async () => {
      await tab.context.close();
      expect(tab.complaints).toEqual([]);
    });
    await tab.page.goto(`${server.url}${path}`);
    return tab.page;
  }
  const focused = (page: Page) => page.evaluate("document.activeElement.getAttribute('role')");

  test("begins with what is wrong, from which Tab leads to the field", async () => {
    const page = await open(`/dashboard/endpoints/${ada.endpointId}`);
    await page.getByLabel("Days that posts are kept").fill("-3");
    await page.getByRole("button", { name: "Save the settings" }).click();
    await page.getByText("Nothing was saved yet.").waitFor();
    expect(await focused(page)).toBe("alert");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await expect.poll(() => page.evaluate("location.hash")).toBe("#f-keep_days");
    const field = page.getByLabel("Days that posts are kept");
    const described = (await field.getAttribute("aria-describedby"))?.split(" ") ?? [];
    expect(described).toContain("f-keep_days-problem");
  });

  test("says so for the second factor too, with nothing for axe and nothing too small to press, in light and dark", async () => {
    const page = await open("/dashboard/account/second-factor");
    expect(await axeInColours(page)).toEqual([]);
    expect(await page.evaluate(SMALL)).toEqual([]);
    await page.getByLabel("Code", { exact: true }).fill("000000");
    await page.getByLabel("Present password").fill("not the password");
    await page.getByRole("button", { name: "Switch it on" }).click();
    await page.getByRole("alert").waitFor();
    expect(await focused(page)).toBe("alert");
    expect(await axeInColours(page)).toEqual([]);
    expect(await page.evaluate("document.documentElement.scrollWidth > innerWidth")).toBe(false);
  });

  test.each([
    "/dashboard/account",
    "/dashboard/members",
    "/dashboard/recipients/new",
    "/dashboard/endpoints/new",
  ])("has nothing too small to press on %s", async (path) => {
    const page = await open(path);
    for (const width of [320, 1280]) {
      await page.setViewportSize({ width, height: 800 });
      expect(await page.evaluate(SMALL)).toEqual([]);
    }
  });
});
