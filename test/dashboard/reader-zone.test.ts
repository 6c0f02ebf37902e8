import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { chromiumPath, launchChromium } from "../support/chromium.ts";
import { furnish, type OwnerHome } from "../support/owner-home.ts";
import { openTab } from "../support/signed-in-browser.ts";
import { launchServer, type TestServer } from "../support/test-server.ts";

/** A winter evening in Greenwich, and the next morning in Tokyo. */
const AT = Date.UTC(2026, 0, 15, 21, 30);

describe.skipIf(chromiumPath === null)("the time of a submission", () => {
  let server: TestServer;
  let browser: Browser;
  let home: OwnerHome;

  beforeAll(async () => {
    [server, browser] = await Promise.all([launchServer(), launchChromium()]);
    server.clock.set(AT);
    home = await furnish(server, "mia@example.org");
  });
  afterAll(async () => {
    await browser.close();
    await server.stop();
  });

  /** What stands on its page, and behind it. */
  async function timesIn(options: { readonly timezoneId: string; readonly javaScriptEnabled: boolean }) {
    const { page, context } = await openTab(browser, server, home.visitor, options);
    await page.goto(`${server.url}/dashboard/submissions/${home.submissionIds[0]}`);
    const time = page.locator("main time[data-time]").first();
    const told = `${await time.textContent()} ${await time.getAttribute("title")}`;
    await context.close();
    return told.replaceAll(/\s+/g, " ");
  }

  test("is that of the reader's own zone", async () => {
    const inTokyo = await timesIn({ timezoneId: "Asia/Tokyo", javaScriptEnabled: true });
    expect(inTokyo).toMatch(/16 Jan/);
    expect(inTokyo).toMatch(/0?6:30/);
    const inLima = await timesIn({ timezoneId: "America/Lima", javaScriptEnabled: true });
    expect(inLima).toMatch(/15 Jan/);
    expect(inLima).toMatch(/16:30|4:30/);
  });

  test("says that it is UTC's without script", async () => {
    const told = await timesIn({ timezoneId: "Asia/Tokyo", javaScriptEnabled: false });
    expect(told).toContain("UTC");
  });
});
