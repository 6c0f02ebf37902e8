import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { wordingIn } from "../../src/languages/wording.ts";
import { axeInColours, axeViolations } from "../support/axe.ts";
import { chromiumPath, launchChromium } from "../support/chromium.ts";
import { launchServer, type TestServer } from "../support/test-server.ts";
import { startWebSite, type WebSite } from "../support/web-site.ts";

const schema = {
  name: { type: "string", label: "الاسم", required: true },
  email: { type: "string", label: "البريد", required: true, format: "email" },
  agree: { type: "boolean", label: "أوافق", required: true, enum: [true] },
} as const;

const LANGUAGES = ["ar", "he"] as const;
const SCHEMES = ["light", "dark"] as const;
const WIDTHS = [320, 1280] as const;

describe.skipIf(chromiumPath === null)("pages for visitors who read from right to left", () => {
  let server: TestServer;
  let site: WebSite;
  let browser: Browser;
  let action: string;

  beforeAll(async () => {
    [server, site, browser] = await Promise.all([launchServer(), startWebSite(), launchChromium()]);
    action = `${server.url}/f/${(await server.addEndpoint({ schema })).publishable}`;
  });
  afterAll(async () => {
    await Promise.all([browser.close(), site.stop()]);
    await server.stop();
  });

  /** Sends a plain form, and leaves the page that answers. */
  async function answered(page: Page, language: string, fields: string): Promise<void> {
    const hidden = `<input type="hidden" name="_language" value="${language}">`;
    const form = `<!doctype html><form action="${action}" method="post">${hidden}${fields}<button>Send</button></form>`;
    await page.goto(site.put("/contact", form));
    await page.click("button");
  }

  /** On which side of its box the first of these begins, and whether the page is wider than the screen. */
  const layout = (page: Page, selector: string): Promise<unknown> =>
    page.evaluate(`(() => {
      const element = document.querySelector(${JSON.stringify(selector)});
      const { textAlign: align, direction } = getComputedStyle(element);
      const sides = [document.querySelector("main"), element].map((each) => each.getBoundingClientRect().right);
      const { scrollWidth, clientWidth } = document.documentElement;
      return { startsRight: sides[0] - sides[1] < 60, align, direction, isTooWide: scrollWidth > clientWidth };
    })()`);

  test.each(LANGUAGES)(
    "run so in %s, light and dark, narrow and wide, with nothing for axe",
    async (language) => {
      const page = await browser.newPage();
      for (const width of WIDTHS) {
        await page.setViewportSize({ width, height: 800 });
        await answered(page, language, '<input name="name" value="Ida"><input name="email" value="x">');
        expect(await page.textContent("h1")).toBe(wordingIn(language).text("headingInvalid"));
        const right = { startsRight: true, align: "right", direction: "rtl", isTooWide: false };
        expect(await layout(page, "h1")).toEqual(right);
        expect(await layout(page, "label")).toEqual(right);
        // The mark of the list of problems is on the side where its lines begin.
        const edges = await page.evaluate(`(() => {
          const style = getComputedStyle(document.querySelector("ul.problems"));
          return [style.borderRightWidth, style.borderLeftWidth];
        })()`);
        expect(edges).toEqual(["4px", "0px"]);
        expect(await axeInColours(page)).toEqual([]);
        await answered(
          page,
          language,
          '<input name="name" value="Ida"><input name="email" value="ida@example.org"><input name="agree" value="on">',
        );
        expect(await page.textContent("h1")).toBe(wordingIn(language).text("thanks"));
        expect(await layout(page, "h1")).toEqual(right);
        expect(await axeInColours(page)).toEqual([]);
      }
    },
  );

  test("a text of too little contrast is found in Arabic and Hebrew, whatever it is of, in light and dark", async () => {
    const page = await browser.newPage();
    for (const language of LANGUAGES)
      for (const colorScheme of SCHEMES) {
        await page.emulateMedia({ colorScheme });
        await answered(page, language, '<input name="name" value="Ida"><input name="email" value="x">');
        for (const selector of ["h1", "p", "ul.problems li", "label", "button", "input[name=name]"]) {
          const faint = (isFaint: boolean): Promise<unknown> =>
            page.evaluate(`{
              const { style } = document.querySelector("main " + ${JSON.stringify(selector)});
              style.color = ${isFaint} ? "rgb(128 128 128)" : "";
              style.backgroundColor = ${isFaint} ? "rgb(136 136 136)" : "";
              style.transition = "none";
            }`);
          await faint(true);
          const found = await axeViolations(page, { only: ["color-contrast"] });
          expect(found, `${language} ${colorScheme} ${selector}`).toEqual([
            expect.stringContaining("insufficient color contrast"),
          ]);
          await faint(false);
        }
      }
    await page.close();
  });

  test.each([
    ["a colour", "h1 { color: #333 }", /^dark: color-contrast: <h1/],
    ["a place", "h1 { margin-top: 99px }", /^dark: something lies elsewhere/],
    ["what is shown", "h1 { visibility: hidden }", /^dark: something lies elsewhere/],
  ])("%s that is wrong in dark alone is found", async (_what, rule, problem) => {
    const page = await browser.newPage();
    await answered(page, "he", '<input name="name" value="Ida">');
    await page.evaluate(`{
      const sheet = new CSSStyleSheet();
      sheet.replaceSync(${JSON.stringify(`@media (prefers-color-scheme: dark) { ${rule} }`)});
      document.adoptedStyleSheets = [sheet];
    }`);
    expect(await axeInColours(page)).toEqual([expect.stringMatching(problem)]);
    await page.close();
  });
});
