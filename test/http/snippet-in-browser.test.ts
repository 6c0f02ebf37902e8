import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { formSnippet } from "../../src/schemas/form-snippets.ts";
import { chromiumPath, launchChromium } from "../support/chromium.ts";
import { launchServer, type TestServer } from "../support/test-server.ts";
import { PATIENCE_MS } from "../support/until.ts";
import { startWebSite, type WebSite } from "../support/web-site.ts";

const schema = {
  name: { type: "string", label: "Your name", required: true, minLength: 2, maxLength: 10 },
  email: { type: "string", label: "E-mail", required: true, format: "email" },
  site: { type: "string", label: "Your page", format: "url" },
  people: { type: "number", label: "How many people", minimum: 1, maximum: 60 },
  day: { type: "string", label: "Day", required: true, format: "date" },
  cake: { type: "string", label: "Your cake", required: true, enum: ["Plum", "Lemon"] },
  extra: { type: "string", label: "Something with it", enum: ["Candles"] },
  agree: { type: "boolean", label: "I agree", required: true, enum: [true] },
} as const;

/** What is wrong with an input, as the browser says it (`ValidityState`). */
const WRONG: readonly (readonly [name: string, typed: string, problem: string])[] = [
  ["name", "", "valueMissing"],
  ["name", "A", "tooShort"],
  ["email", "ida@", "typeMismatch"],
  ["site", "bakery", "typeMismatch"],
  ["people", "0", "rangeUnderflow"],
  ["people", "61", "rangeOverflow"],
  ["day", "", "valueMissing"],
  ["cake", "", "valueMissing"],
];

describe.skipIf(chromiumPath === null)("a generated form in a page of somebody's own", () => {
  let server: TestServer;
  let site: WebSite;
  let browser: Browser;

  beforeAll(async () => {
    [server, site, browser] = await Promise.all([launchServer(), startWebSite(), launchChromium()]);
  });
  afterAll(async () => {
    await Promise.all([browser.close(), site.stop()]);
    await server.stop();
  });

  /** The form, filled in as its owner wants it, and the posts that the browser sends. */
  async function opened(javaScriptEnabled: boolean): Promise<{ page: Page; posts: string[]; id: string }> {
    const endpoint = await server.addEndpoint({ schema });
    const context = await browser.newContext({ javaScriptEnabled, locale: "de-DE" });
    onTestFinished(() => context.close());
    const page = await context.newPage();
    page.setDefaultTimeout(PATIENCE_MS);
    const target = { base: server.url, key: endpoint.publishable, honeypot: "_gotcha", language: "de" };
    const snippet = formSnippet(schema, target);
    await page.goto(site.put("/order", `<!doctype html><title>Order</title>${snippet}`));
    await page.fill("[name=name]", "Ida");
    await page.fill("[name=email]", "ida@example.org");
    await page.fill("[name=day]", "2026-12-24");
    await page.selectOption("[name=cake]", "Plum");
    await page.check("[name=agree]");
    const posts: string[] = [];
    page.on("request", (request) => {
      if (request.method() === "POST") posts.push(request.url());
    });
    return { page, posts, id: endpoint.id };
  }

  test.for([true, false])(
    "is checked by the browser before it is sent; with script: %s",
    async (javaScriptEnabled) => {
      const { page, posts, id } = await opened(javaScriptEnabled);
      for (const [name, typed, problem] of WRONG) {
        const input = page.locator(`[name=${name}]`);
        const right = await input.inputValue();
        if (name === "cake") await input.selectOption(typed);
        else {
          await input.fill("");
          // Only what somebody typed is too short to a browser.
          await input.pressSequentially(typed);
        }
        await page.click("button");
        expect(await input.evaluate((each, kind) => (each as never)["validity"][kind], problem), name).toBe(
          true,
        );
        if (name === "cake") await input.selectOption(right);
        else await input.fill(right);
      }
      await page.uncheck("[name=agree]");
      await page.click("button");
      expect(
        await page.locator("[name=agree]").evaluate((each) => (each as never)["validity"]["valueMissing"]),
      ).toBe(true);
      expect(posts).toEqual([]);
      await page.fill("[name=name]", "");
      await page.locator("[name=name]").pressSequentially("Florentina and her sisters");
      // No more letters fit in.
      expect(await page.inputValue("[name=name]")).toBe("Florentina");
      await page.check("[name=agree]");
      await page.click("button");
      await page
        .getByText(/Vielen Dank/)
        .first()
        .waitFor();
      expect(posts).toHaveLength(1);
      // An optional choice that nobody made is no answer.
      expect(server.stored(id)).toEqual([
        { name: "Florentina", email: "ida@example.org", day: "2026-12-24", cake: "Plum", agree: true },
      ]);
    },
  );
});
