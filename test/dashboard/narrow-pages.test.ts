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

/** Runs in a page: what lies under something else, of the focused element and its label. */
const COVERED = `[document.activeElement, ...(document.activeElement.labels ?? [])]
  .filter((each) => {
    const { left, top, bottom } = each.getBoundingClientRect();
    const seen = [top + 2, bottom - 2].map((y) => document.elementFromPoint(left + 2, y));
    return !seen.every((at) => at !== null && (each.contains(at) || at.contains(each)));
  })
  .map((each) => each.outerHTML)`;

/** The spaces of WCAG 1.4.12, which a reader may ask for. */
const SPACED = `*, nav.main * { line-height: 1.5 !important; letter-spacing: 0.12em !important; word-spacing: 0.16em !important; }`;

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
    expect(await page.locator("button, nav, .button, kbd, textarea").filter({ visible: true }).count()).toBe(
      0,
    );
    expect(await page.getByRole("heading", { name: "Notes" }).count()).toBe(0);
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

  test("nothing that the keyboard comes to lies under the bar at either edge, and neither does its label", async () => {
    const page = await open(`/dashboard/endpoints/${ada.endpointId}`, 390);
    const last = page.locator("input[name=store_address]:checked");
    const covered = new Set<unknown>();
    const isLast = (): Promise<boolean> => last.evaluate((each) => each === each.ownerDocument.activeElement);
    for (let press = 0; press < 60 && !(await isLast()); press += 1) {
      await page.keyboard.press("Tab");
      for (const each of (await page.evaluate(COVERED)) as string[]) covered.add(each);
    }
    expect(await isLast()).toBe(true);
    expect([...covered]).toEqual([]);
    // What is empty and must not be gets the focus.
    await page.locator("#f-name").fill("");
    await page.getByRole("button", { name: "Save the settings" }).click();
    expect(await page.locator("#f-name").evaluate((each) => each === each.ownerDocument.activeElement)).toBe(
      true,
    );
    expect(await page.evaluate(COVERED)).toEqual([]);
  });

  test("with a reader's own spaces between letters and words no page is wider than the screen", async () => {
    for (const path of ["", "/endpoints", `/endpoints/${ada.endpointId}`, "/help/dashboard", "/account"]) {
      const page = await open(`/dashboard${path}`);
      await page.evaluate(`const sheet = new CSSStyleSheet();
        sheet.replaceSync(${JSON.stringify(SPACED)});
        document.adoptedStyleSheets = [sheet];`);
      expect(await page.evaluate("document.documentElement.scrollWidth"), path).toBe(320);
    }
  });

  test("at 400 % of zoom the keyboard comes to each place of the menu in sight, and no bar stays over the page", async () => {
    const page = await open(`/dashboard/endpoints/${ada.endpointId}`);
    await page.setViewportSize({ width: 320, height: 256 });
    await page.locator("nav summary").click();
    const last = page.getByRole("button", { name: "Keys" });
    const isLast = (): Promise<boolean> => last.evaluate((each) => each === each.ownerDocument.activeElement);
    const hidden: string[] = [];
    for (let press = 0; press < 20 && !(await isLast()); press += 1) {
      await page.keyboard.press("Tab");
      hidden.push(...(await page.evaluate<string[]>(COVERED)));
    }
    expect([await isLast(), hidden]).toEqual([true, []]);
    const bars = `[...document.querySelectorAll("body *")]
      .filter((each) => ["sticky", "fixed"].includes(getComputedStyle(each).position))
      .map((each) => each.outerHTML)`;
    expect(await page.evaluate(bars)).toEqual([]);
  });

  test("two inputs of one rule do not touch if the second is in the next line", async () => {
    const page = await open(`/dashboard/endpoints/${ada.endpointId}/fields`);
    await page.locator("#field-0 > details > summary").click();
    const inputs = page.locator("#field-0 .sentence input");
    const [least, most] = [await inputs.nth(0).boundingBox(), await inputs.nth(1).boundingBox()];
    expect(most?.y).toBeGreaterThanOrEqual((least?.y ?? 0) + (least?.height ?? 0) + 4);
  });

  test("the name of a field has a quarter of the width beside its value", async () => {
    const page = await open(`/dashboard/submissions/${ada.submissionIds[0] ?? ""}`, 1280);
    const row = page.locator("dl > div").first();
    const [whole, name] = [await row.boundingBox(), await row.locator("dt").boundingBox()];
    expect((name?.width ?? 0) / (whole?.width ?? 1)).toBeGreaterThan(0.22);
  });

  test("points of three digits stand in one line", async () => {
    const page = await open(`/dashboard/held/${ada.heldId}`);
    const lines = await page
      .locator(".sum li > :first-child")
      .first()
      .evaluate((points) => {
        points.textContent = "−163";
        const range = points.ownerDocument.createRange();
        range.selectNodeContents(points);
        return range.getClientRects().length;
      });
    expect(lines).toBe(1);
  });

  test("what is asked before a download, and who is invited, keep a distance to what stands above", async () => {
    const page = await open("/dashboard/choose-export");
    const fields = page.locator("main form > .field");
    const places = await fields.evaluateAll((all) => all.map((each) => each.getBoundingClientRect()));
    expect(places.length).toBe(4);
    for (const [index, { top }] of places.slice(1).entries())
      expect(top - (places[index]?.bottom ?? 0)).toBeGreaterThanOrEqual(12);
    const members = await open("/dashboard/members");
    const line = await members.evaluate(
      `getComputedStyle(document.querySelector("tbody:not(:last-child) tr:last-child")).borderBottomWidth`,
    );
    expect(line).toBe("1px");
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
