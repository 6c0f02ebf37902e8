import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { chromiumPath, launchChromium } from "../support/chromium.ts";
import { furnish, type OwnerHome } from "../support/owner-home.ts";
import { openTab } from "../support/signed-in-browser.ts";
import { launchServer, type TestServer } from "../support/test-server.ts";

/** Runs in a page: what of these elements lies beside the screen. */
const beside = (selector: string): string => `[...document.querySelectorAll(${JSON.stringify(selector)})]
  .filter((each) => {
    const { left, right } = each.getBoundingClientRect();
    return left < 0 || right > document.documentElement.clientWidth;
  })
  .map((each) => each.textContent.trim())`;

describe.skipIf(chromiumPath === null)("on a narrow screen", () => {
  let server: TestServer;
  let browser: Browser;
  let ada: OwnerHome;

  beforeAll(async () => {
    const plans = { hobby: { monthlySubmissions: null, endpoints: null, customSpam: true } };
    [server, browser] = await Promise.all([launchServer({ plans }), launchChromium()]);
    ada = await furnish(server, "ada@example.com");
  });
  afterAll(async () => {
    await browser.close();
    await server.stop();
  });

  async function open(
    path: string,
    width = 320,
    options: Pick<BrowserContextOptions, "isMobile" | "hasTouch"> = {},
  ): Promise<Page> {
    const viewport = { width, height: 640 };
    const { page, context } = await openTab(browser, server, ada.visitor, { viewport, ...options });
    onTestFinished(() => context.close());
    await page.goto(`${server.url}${path}`);
    return page;
  }

  test("every page of an endpoint and of the system is offered, and the one that is open is in sight", async () => {
    for (const [path, current] of [
      [`/dashboard/endpoints/${ada.endpointId}/reply`, "Automatic reply"],
      ["/dashboard/system/changes", "Changes"],
    ] as const) {
      const page = await open(path);
      expect(await page.locator(".tabs [aria-current=page]").textContent()).toBe(current);
      expect(await page.evaluate(beside(".tabs a")), path).toEqual([]);
    }
  });

  test("a long name of a form lies beside nothing", async () => {
    const name = `Kontaktformular ${"W".repeat(180)}`;
    const cleo = await furnish(server, "cleo@example.com", { endpointName: name });
    const paths = ["", `/submissions/${cleo.submissionIds[0] ?? ""}`, `/endpoints/${cleo.endpointId}`];
    for (const path of paths) {
      const page = await open(`/dashboard${path}`, 320);
      expect(await page.getByText(name).count(), path).toBeGreaterThanOrEqual(1);
      expect(await page.evaluate(beside("h1, h2, td, tbody th, dd")), path).toEqual([]);
    }
  });

  test("no cell of a list lies beside it", async () => {
    const lists = ["/endpoints", "/notifications", "/account", "/system/accounts", "/system/workspaces"];
    for (const path of lists) {
      const page = await open(`/dashboard${path}`);
      expect(await page.locator("tbody :is(td, th)").count(), path).toBeGreaterThanOrEqual(3);
      expect(await page.evaluate(beside("td, tbody th")), path).toEqual([]);
    }
  });

  test("on a tablet there is room for who wrote, and for what was filled in", async () => {
    const inbox = await open("/dashboard", 768);
    const rooms = await inbox
      .locator(".preview b")
      .evaluateAll((all) => all.map((name) => name.clientWidth - name.scrollWidth));
    expect(new Set(rooms)).toEqual(new Set([0]));
    for (const width of [768, 1001]) {
      const page = await open(`/dashboard/submissions/${ada.submissionIds[0] ?? ""}`, width);
      const value = await page.getByText("Text for ada@example.com", { exact: true }).boundingBox();
      expect(value?.width, `at ${width} px`).toBeGreaterThan(200);
      expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(width);
    }
  });

  test("for fingers there are no keys, and no letters for which a phone enlarges the page", async () => {
    const page = await open("/dashboard", 360, { isMobile: true, hasTouch: true });
    const keys = page.getByRole("button", { name: "Keys" });
    expect([await keys.count(), await page.locator("kbd").filter({ visible: true }).count()]).toEqual([0, 0]);
    const sizes = await page.evaluate(
      `[...document.querySelectorAll("input, select, textarea")].map((each) => parseFloat(getComputedStyle(each).fontSize))`,
    );
    expect(Math.min(...(sizes as number[]))).toBeGreaterThanOrEqual(16);
    // A keyboard beside the screen has them.
    await page.keyboard.press("?");
    expect(await page.locator("dialog[open] h2").textContent()).toBe("Keys");
  });

  test("on paper there is what was filled in and the whole time, and nothing to press", async () => {
    const page = await open(`/dashboard/submissions/${ada.submissionIds[0] ?? ""}`, 718);
    await page.emulateMedia({ media: "print" });
    expect(await page.getByText("Text for ada@example.com", { exact: true }).isVisible()).toBe(true);
    expect(await page.locator("button, nav, .button").filter({ visible: true }).count()).toBe(0);
    const printed = (await page.evaluate(`(() => {
      const time = document.querySelector("time");
      return [getComputedStyle(time, "::after").content, JSON.stringify(time.title)];
    })()`)) as [string, string];
    expect(printed[0]).toBe(printed[1]);
    expect(printed[1]).toMatch(/\d{4}/);
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(718);
  });

  test("the account says with which address one signs in, where the navigation has no room for it", async () => {
    const page = await open("/dashboard/account");
    expect(await page.getByText("ada@example.com", { exact: true }).filter({ visible: true }).count()).toBe(
      1,
    );
  });

  test("no cell of the messages, of the keys and of what spam settings would change lies beside it", async () => {
    const spam = await open(`/dashboard/spam/endpoints/${ada.endpointId}`);
    await spam.locator("textarea").first().fill("text");
    await spam.getByRole("button", { name: "See what would change" }).click();
    const wholes = [
      [spam, 4],
      [await open(`/dashboard/webhooks/${ada.webhookId}`), 4],
      [await open(`/dashboard/endpoints/${ada.endpointId}/keys`), 10],
    ] as const;
    for (const [page, cells] of wholes) {
      const table = page.locator(".folds table");
      await table.waitFor();
      expect(await table.locator("tbody :is(td, th)").count()).toBeGreaterThanOrEqual(cells);
      expect(await page.evaluate(beside(".folds :is(td, tbody th)"))).toEqual([]);
    }
  });
});
