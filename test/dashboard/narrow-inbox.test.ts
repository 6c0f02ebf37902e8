import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { storeSubmissions } from "../support/add-submission.ts";
import { axeViolations } from "../support/axe.ts";
import { chromiumPath, launchChromium } from "../support/chromium.ts";
import { addFormOwner, type FormOwner } from "../support/form-owner.ts";
import { openTab } from "../support/signed-in-browser.ts";
import { launchServer, type TestServer } from "../support/test-server.ts";

const ROWS = 20;

/** Runs in a page: whether the focused link can be seen as a whole with its ring, which stands out by 4 px. */
const IS_WHOLE = `(() => {
  const boxOf = (each) => each.getBoundingClientRect();
  const link = document.activeElement;
  const [{ left, right, top, bottom }, row] = [boxOf(link), link.parentElement];
  const around = getComputedStyle(row).overflowX === "visible" ? boxOf(document.documentElement) : boxOf(row);
  return left - 4 >= around.left && right + 4 <= around.right && top - 4 >= around.top && bottom + 4 <= around.bottom;
})()`;

describe.skipIf(chromiumPath === null)("the inbox on a narrow screen", () => {
  let server: TestServer;
  let browser: Browser;
  let ben: FormOwner;

  beforeAll(async () => {
    [server, browser] = await Promise.all([launchServer(), launchChromium()]);
    ben = await addFormOwner(server, "ben@example.org");
    const createdAt = server.clock.now();
    const given = { endpointId: ben.endpoint.id, data: { message: "A word" }, createdAt };
    await storeSubmissions(
      server.owner,
      Array.from({ length: ROWS }, () => given),
    );
  });
  afterAll(async () => {
    await browser.close();
    await server.stop();
  });

  async function openInbox(options: BrowserContextOptions = {}): Promise<Page> {
    const viewport = { width: 360, height: 640 };
    const { page, context } = await openTab(browser, server, ben, {
      viewport,
      reducedMotion: "reduce",
      ...options,
    });
    onTestFinished(() => context.close());
    await page.goto(`${server.url}/dashboard`);
    return page;
  }

  test("shows its buttons when a submission is selected, however far down, and tells the number to screen readers", async () => {
    const page = await openInbox();
    const bar = page.getByRole("group", { name: "With the selected" });
    const count = bar.getByRole("status");
    const buttons = bar.getByRole("button");
    const box = page.locator("td input[type=checkbox]").nth(ROWS - 1);
    await count.waitFor({ state: "attached" });
    expect([await count.textContent(), await buttons.count()]).toEqual(["0 selected", 0]);
    await box.focus();
    await page.keyboard.press("Space");
    expect([await count.textContent(), await buttons.count()]).toEqual(["1 selected", 7]);
    const seen = await buttons.evaluateAll((all) =>
      all.map((each) => {
        const { top, bottom } = each.getBoundingClientRect();
        return top >= 0 && bottom <= 640;
      }),
    );
    expect(seen).toEqual(Array.from({ length: 7 }, () => true));
    expect(await axeViolations(page)).toEqual([]);
    await page.keyboard.press("Space");
    expect([await count.textContent(), await buttons.count()]).toEqual(["0 selected", 0]);
  });

  test("shows what was marked as spam, and no other score", async () => {
    const page = await openInbox();
    await page.locator("td input[type=checkbox]").first().check();
    await page.getByRole("button", { name: "Spam", exact: true }).click();
    await page.getByText("1 submission marked as spam.").waitFor();
    const judged = page.locator("tbody .pill").filter({ visible: true });
    expect(await judged.allTextContents()).toEqual(["marked spam"]);
    expect(await page.locator("tr.unread").count()).toBe(ROWS - 1);
    expect(await axeViolations(page)).toEqual([]);
  });

  test("shows each filter as a whole, with its ring, when the keyboard comes to it", async () => {
    const page = await openInbox();
    const filters = page.getByRole("navigation", { name: "Usual filters" }).getByRole("link");
    await page.locator("main summary").focus();
    const whole: unknown[] = [];
    for (let left = await filters.count(); left > 0;) {
      await page.keyboard.press("Tab");
      if (!(await page.evaluate("document.activeElement.matches('.chip')"))) continue;
      whole.push(await page.evaluate(IS_WHOLE));
      left -= 1;
    }
    expect(whole).toEqual(Array.from({ length: 9 }, () => true));
  });

  test("shows who wrote beside the time, with script and without", async () => {
    const data = { name: `Ana ${"w".repeat(60)}`, message: "A word" };
    await storeSubmissions(server.owner, [
      { endpointId: ben.endpoint.id, data, createdAt: server.clock.now() },
    ]);
    for (const javaScriptEnabled of [true, false]) {
      const page = await openInbox({ javaScriptEnabled });
      const row = page.locator("tbody tr", { hasText: "Ana w" }).first();
      const [name, time] = [await row.locator("b").boundingBox(), await row.locator("time").boundingBox()];
      expect(name?.width).toBeGreaterThan(100);
      expect((name?.x ?? 0) + (name?.width ?? 0)).toBeLessThanOrEqual(time?.x ?? 0);
    }
  });
});
