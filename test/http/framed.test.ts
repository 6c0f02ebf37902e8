import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { framersOf } from "../../src/http/forms/form-frames.ts";
import { chromiumPath, launchChromium } from "../support/chromium.ts";
import { startServer } from "../support/test-server.ts";
import { until } from "../support/until.ts";
import { startWebSite } from "../support/web-site.ts";

test("the list of pages that may show a frame has a bound, and names no page without an origin", () => {
  const many = Array.from({ length: 100 }, (_, index) => `https://${"x".repeat(200)}${index}.example`);
  const list = framersOf(["null", ...many], "https://first.example");
  expect(list.length).toBeLessThanOrEqual(2000);
  expect(list).toMatch(/^https:\/\/first\.example https:\/\/x+0\.example /);
  expect([framersOf(["null"], null), framersOf([], null)]).toEqual(["'none'", "*"]);
});

describe.skipIf(chromiumPath === null)("in a frame", () => {
  let browser: Awaited<ReturnType<typeof launchChromium>>;
  beforeAll(async () => {
    browser = await launchChromium();
  });
  afterAll(() => browser.close());

  /** Sends the form that a site has in a frame of another origin, and returns what is stored. */
  async function send(allows: "both" | "any" | "frame", thanks: string) {
    const server = await startServer();
    const site = await startWebSite();
    onTestFinished(() => site.stop());
    const outside = site.origin.replace("127.0.0.1", "localhost");
    const allowedOrigins = { both: [site.origin, outside], any: [], frame: [site.origin] }[allows];
    const { publishable } = await server.addEndpoint({
      schema: { name: { type: "string" } },
      settings: { allowedOrigins },
    });
    const form = site.put(
      "/form",
      `<form action="${server.url}/f/${publishable}" method="post"><input name="name" value="Ana"><button>Send</button></form>`,
    );
    site.put("/", `<!doctype html><iframe src="${form}"></iframe>`);
    const page = await browser.newPage();
    onTestFinished(() => page.close());
    await page.goto(`${outside}/`);
    const answered = page.waitForResponse((answer) => answer.request().method() === "POST");
    await page.frameLocator("iframe").locator("button").click();
    await answered;
    const shown = page.frameLocator("iframe").getByText(thanks);
    return { server, shown };
  }

  test.each(["both", "any"] as const)(
    "on a site builder's page a visitor reads the thanks if the form allows %s",
    async (allows) => {
      const { server, shown } = await send(allows, "Thank you");
      await shown.waitFor({ timeout: 10_000 });
      expect(server.stored()).toEqual([{ name: "Ana" }]);
    },
  );

  test("a site around the frame that the form does not name is not shown the answer", async () => {
    const { server, shown } = await send("frame", "Thank you");
    await until(() => server.stored().length === 1);
    expect(await shown.count()).toBe(0);
  });
});
