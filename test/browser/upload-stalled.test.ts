import type { IncomingMessage } from "node:http";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { script } from "../../src/http/forms/browser-client.generated.ts";
import { chromiumPath, launchChromium } from "../support/chromium.ts";
import { startWebSite, type WebSite } from "../support/web-site.ts";

/** More than the system keeps of a connection whose other end does not read. */
const SIZE = 16_000_000;
/** Makes the page's clock, and with it its time limits, 30 times as fast: 30 seconds are one. */
const FAST = `{
  const { get, set } = Object.getOwnPropertyDescriptor(XMLHttpRequest.prototype, "timeout");
  Object.defineProperty(XMLHttpRequest.prototype, "timeout", {
    get() { return get.call(this) * 30; },
    set(ms) { set.call(this, ms / 30); },
  });
  const now = performance.now.bind(performance);
  performance.now = () => now() * 30;
}`;

const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

describe.skipIf(chromiumPath === null)("an upload by script", () => {
  let site: WebSite;
  let browser: Browser;
  beforeAll(async () => {
    [site, browser] = await Promise.all([startWebSite(), launchChromium()]);
  });
  afterAll(async () => {
    await browser.close();
    await site.stop();
  });

  /** Reads a body in three of the page's time limits. */
  async function readSlowly(request: IncomingMessage): Promise<void> {
    for await (const piece of request as AsyncIterable<Buffer>) await sleep((3000 * piece.length) / SIZE);
  }

  test("that stands still for 30 seconds is begun anew; one that is slow, or waits for its answer, goes on", async () => {
    const keys: unknown[] = [];
    site.answer("/slow", (request, response) => {
      keys.push(request.headers["idempotency-key"]);
      // Nobody reads the first one.
      if (keys.length === 1) return;
      void readSlowly(request)
        .then(() => sleep(2000))
        .then(() => response.end(JSON.stringify({ message: "Stored", submission_id: "sub_1" })))
        // A page that gave up shows in the number of requests.
        .catch(() => response.destroy());
    });
    const page = await browser.newPage();
    await page.addInitScript(FAST);
    const content = `<!doctype html><form data-formsvc action="/slow" method="post" enctype="multipart/form-data">
      <input type="file" name="cv"><button>Send</button></form><script>${script}</script>`;
    await page.goto(site.put("/page", content));
    const file = { name: "cv.pdf", mimeType: "application/pdf", buffer: Buffer.alloc(SIZE) };
    await page.setInputFiles("[name=cv]", file);
    await page.click("button");
    const thanks = page.locator("[data-formsvc-status]").filter({ hasText: "Thank you" });
    await thanks.waitFor({ timeout: 25_000 });
    expect(keys).toEqual([keys[0], keys[0]]);
    await page.close();
  });
});
