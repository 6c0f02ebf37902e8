import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { readSchema, getEndpoint } from "../../src/endpoints/endpoint-store.ts";
import { axeInColours } from "../support/axe.ts";
import { chromiumPath, launchChromium } from "../support/chromium.ts";
import { HOSTILE_TEXTS } from "../support/hostile-values.ts";
import { openTab } from "../support/signed-in-browser.ts";
import { launchServer, type TestEndpoint, type TestServer } from "../support/test-server.ts";
import { PATIENCE_MS } from "../support/until.ts";
import { visit, type Visitor } from "../support/visitor.ts";

const schema = {
  name: { type: "string", label: "Your name", required: true },
  cake: { type: "string", label: "Your cake", required: true, enum: ["Plum", "Lemon"] },
  day: { type: "string", label: "Day of collection", format: "date" },
  wishes: { type: "string", label: "Wishes", maxLength: 1000 },
} as const;

describe.skipIf(chromiumPath === null)("the fields of a form in a real browser", () => {
  let server: TestServer;
  let browser: Browser;
  let mia: Visitor;
  let form: TestEndpoint;

  beforeAll(async () => {
    [server, browser] = await Promise.all([launchServer(), launchChromium()]);
    mia = await visit(server, "mia@example.org");
  });
  afterAll(async () => {
    await browser.close();
    await server.stop();
  });

  async function opened(options: BrowserContextOptions = {}): Promise<Page> {
    form = await server.addEndpoint({ schema });
    const { page, context, complaints } = await openTab(browser, server, mia, options);
    page.setDefaultTimeout(PATIENCE_MS);
    onTestFinished(async () => {
      await context.close();
      expect(complaints).toEqual([]);
    });
    await page.goto(`${server.url}/dashboard/endpoints/${form.id}/fields`);
    return page;
  }

  const labels = (page: Page) => page.locator(".fields > li > details > summary b").allTextContents();
  const focused = (page: Page): Promise<unknown> =>
    page.evaluate("document.activeElement.ariaLabel ?? document.activeElement.id");
  const stored = () =>
    server.owner.now(function* () {
      return yield* readSchema(yield* getEndpoint(form.id));
    });
  const save = async (page: Page): Promise<void> => {
    await page.getByRole("button", { name: "Save the fields" }).click();
    await page.waitForURL("**notice=fields-saved**");
  };

  test("are moved by their buttons and by Alt with an arrow: the keyboard stays, and who hears the page is told", async () => {
    const page = await opened();
    const news = page.locator("[data-say]");
    await page.getByRole("button", { name: "Move down: Your name" }).focus();
    await page.keyboard.press("Enter");
    await expect.poll(() => news.textContent()).toBe("Your name is now at place 2 of 4.");
    expect(await labels(page)).toEqual(["Your cake", "Your name", "Day of collection", "Wishes"]);
    await expect.poll(() => focused(page)).toBe("Move down: Your name");
    await page.keyboard.press("Enter");
    await expect.poll(() => news.textContent()).toBe("Your name is now at place 3 of 4.");
    await page.keyboard.press("Alt+ArrowUp");
    await expect.poll(() => news.textContent()).toBe("Your name is now at place 2 of 4.");
    // At the end there is only the way back.
    await page.getByRole("button", { name: "Move down: Day of collection" }).focus();
    await page.keyboard.press("Space");
    await expect.poll(() => news.textContent()).toBe("Day of collection is now at place 4 of 4.");
    await expect.poll(() => focused(page)).toBe("Move up: Day of collection");
    await save(page);
    expect(Object.keys(stored())).toEqual(["cake", "name", "wishes", "day"]);
    expect(stored()).toEqual(schema);
  });

  test("are moved by dragging the grip, with what was typed before", async () => {
    const page = await opened({ viewport: { width: 1280, height: 1000 } });
    await page.locator("#field-3 > details > summary").click();
    await page.fill("#f-f-3-label", "Your wishes");
    await page.locator("#field-3 > details > summary").click();
    const grip = await page.locator("#field-3 [data-grip]").boundingBox();
    const first = await page.locator("#field-0").boundingBox();
    if (grip === null || first === null) throw new Error("nothing to drag");
    await page.mouse.move(grip.x + 10, grip.y + 24);
    await page.mouse.down();
    await page.mouse.move(grip.x + 10, first.y + 30, { steps: 5 });
    await page.mouse.move(grip.x + 10, first.y + 4, { steps: 3 });
    await page.mouse.up();
    await expect
      .poll(() => page.locator("[data-say]").textContent())
      .toBe("Your wishes is now at place 1 of 4.");
    expect((await labels(page))[0]).toBe("Your wishes");
    await save(page);
    expect(Object.keys(stored())).toEqual(["wishes", "name", "cake", "day"]);
  });

  test("are moved, added and taken away without script on a phone, and the keyboard stays", async () => {
    const page = await opened({ javaScriptEnabled: false, viewport: { width: 320, height: 700 } });
    expect(await page.locator("[data-grip]").first().isVisible()).toBe(false);
    await page.getByRole("button", { name: "Move up: Wishes" }).click();
    expect(await labels(page)).toEqual(["Your name", "Your cake", "Wishes", "Day of collection"]);
    await expect.poll(() => focused(page)).toBe("Move up: Wishes");
    await page.getByRole("button", { name: "Consent" }).click();
    await expect.poll(() => focused(page)).toBe("f-f-4-label");
    await page.keyboard.type("Use my answers for this order");
    await page.locator("#field-0 > details > summary").click();
    await page.getByRole("button", { name: "Remove this field Your name" }).click();
    expect(await page.evaluate("document.documentElement.scrollWidth > innerWidth")).toBe(false);
    await save(page);
    expect(stored()).toEqual({
      cake: schema.cake,
      wishes: schema.wishes,
      day: schema.day,
      use_my_answers_for_this_order: {
        type: "boolean",
        required: true,
        enum: [true],
        label: "Use my answers for this order",
      },
    });
  });

  test("are shown to their owner as visitors will see them, while somebody types", async () => {
    const page = await opened();
    await page.locator("#field-1 > details > summary").click();
    await page.fill("#f-f-1-enum", "Plum\nLemon\nCarrot");
    const option = page.locator("[data-preview] option", { hasText: "Carrot" });
    await option.waitFor({ state: "attached" });
    expect(await page.locator("#field-1 summary small").first().textContent()).toBe(
      "One of Plum, Lemon, Carrot",
    );
    expect(await page.inputValue("#f-f-1-enum")).toBe("Plum\nLemon\nCarrot");
    await page.fill("#f-f-1-label", "Your bread");
    await expect.poll(() => labels(page)).toContain("Your bread");
    expect(await page.locator("[data-preview]").textContent()).toContain("Your bread");
  });

  test("are shown as they were typed when somebody comes back to the page", async () => {
    const page = await opened();
    await page.locator("#field-1 > details > summary").click();
    await page.fill("#f-f-1-label", "Your bread");
    page.on("dialog", (dialog) => void dialog.accept());
    await page.goto(`${server.url}/dashboard/endpoints`);
    await page.goBack();
    await expect.poll(() => labels(page)).toContain("Your bread");
    expect(await page.locator("[data-preview]").textContent()).toContain("Your bread");
    expect(await page.inputValue("#f-f-1-label")).toBe("Your bread");
  });

  test("that were added, moved and taken away are there again when somebody comes back, until they are saved", async () => {
    const page = await opened();
    await page.getByRole("button", { name: "Consent" }).click();
    await page.fill("#f-f-4-label", "Use my answers");
    await page.getByRole("button", { name: "Move up: Wishes" }).click();
    await expect.poll(() => labels(page).then(([, , third]) => third)).toBe("Wishes");
    await page.locator("#field-0 > details > summary").click();
    await page.getByRole("button", { name: "Remove this field Your name" }).click();
    const typed = ["Your cake", "Wishes", "Day of collection", "Use my answers"];
    await expect.poll(() => labels(page)).toEqual(typed);
    // The last words are typed just before the person leaves.
    await page.locator("#field-0 > details > summary").click();
    await page.fill("#f-f-0-label", "Your bread");
    page.on("dialog", (dialog) => void dialog.accept());
    await page.goto(`${server.url}/dashboard/endpoints`);
    await page.goBack();
    await expect.poll(() => labels(page)).toEqual(["Your bread", ...typed.slice(1)]);
    await save(page);
    expect(Object.keys(stored())).toEqual(["cake", "wishes", "day", "use_my_answers"]);
    // Changes that are saved are no draft any more.
    await page.goto(`${server.url}/dashboard/endpoints/${form.id}/fields`);
    await page.getByRole("button", { name: "Move down: Your bread" }).click();
    await expect.poll(() => labels(page).then(([first]) => first)).toBe("Wishes");
    await save(page);
    await page.goBack();
    await page.locator("[data-fields]").waitFor();
    await page.getByRole("button", { name: "Move up: Your bread" }).click();
    await expect.poll(() => labels(page).then(([first]) => first)).toBe("Your bread");
    await save(page);
    expect(Object.keys(stored())).toEqual(["cake", "wishes", "day", "use_my_answers"]);
  });

  test("stay on the page with what was typed while the server does not answer, and change when it does", async () => {
    const page = await opened();
    await page.locator("#field-1 > details > summary").click();
    await page.fill("#f-f-1-label", "Your bread");
    await page.context().setOffline(true);
    await page.getByRole("button", { name: "Consent" }).click();
    await page.getByText("The server gave no answer. Try again.").waitFor();
    expect(await page.inputValue("#f-f-1-label")).toBe("Your bread");
    await page.context().setOffline(false);
    await page.getByRole("button", { name: "Consent" }).click();
    await page.locator("#field-4").waitFor();
    expect(await page.getByText("The server gave no answer").count()).toBe(0);
    expect((await labels(page))[1]).toBe("Your bread");
  });

  test("of a ready-made form change their language in place, and what was typed stays", async () => {
    const page = await opened();
    await page.goto(`${server.url}/dashboard/endpoints/new?start=order`);
    await page.fill("#f-name", "Torten");
    await page.locator("#field-5 > details > summary").click();
    await page.fill("#f-f-5-label", "Sonst noch etwas?");
    await page.selectOption("#f-language", "de");
    const german = ["Ihr Name", "E-Mail", "Telefon", "Was Sie möchten", "Abholtag", "Sonst noch etwas?"];
    await expect.poll(() => labels(page)).toEqual(german);
    expect(await page.locator("[data-preview] option").allTextContents()).toContain("Erstes");
    expect(await page.getByRole("link", { name: "Booking" }).getAttribute("href")).toContain("language=de");
    expect(await page.locator("[data-starts] [aria-current] b").allTextContents()).toEqual(["Order"]);
    expect(await page.inputValue("#f-name")).toBe("Torten");
    await page.selectOption("#f-language", "en");
    await expect.poll(() => labels(page)).toContain("What you would like");
    await page.selectOption("#f-language", "de");
    await expect.poll(() => labels(page)).toEqual(german);
    await page.locator(".savebar button").click();
    await page.getByRole("heading", { name: "Torten" }).waitFor();
  });

  test("have nothing for axe in light and dark, narrow and wide, with a row open", async () => {
    const narrow = { width: 320, height: 2400 };
    const wide = { width: 1280, height: 2400 };
    const page = await opened({ viewport: narrow, reducedMotion: "reduce" });
    await page.locator("#field-0 > details > summary").click();
    await page.locator("#field-0 .fold").click();
    for (const viewport of [narrow, wide]) {
      await page.setViewportSize(viewport);
      expect(await axeInColours(page)).toEqual([]);
      expect(await page.evaluate("document.documentElement.scrollWidth > innerWidth")).toBe(false);
    }
  });

  test("break a label of one long word on a phone, in the rows and in the preview", async () => {
    const page = await opened({ viewport: { width: 320, height: 800 } });
    await page.locator("#field-1 > details > summary").click();
    await page.fill("#f-f-1-label", "x".repeat(100));
    await page.locator("[data-preview] label", { hasText: "xxx" }).waitFor({ state: "attached" });
    expect(await page.evaluate("document.documentElement.scrollWidth > innerWidth")).toBe(false);
  });

  test("are text to the page, whatever was typed", async () => {
    const page = await opened();
    for (const [turn, text] of HOSTILE_TEXTS.entries()) {
      // The field goes down and up by turns.
      const [from, to, way] = turn % 2 === 0 ? [1, 2, "down"] : [2, 1, "up"];
      const one = text.replaceAll(/[\r\n]/g, " ");
      await page.evaluate(
        `for (const name of ["label", "enum", "default", "description"])
           for (const input of document.querySelectorAll('[name="f.${from}.' + name + '"]')) input.value = ${JSON.stringify(one)}`,
      );
      await page.locator(`button[value="${way}-${from}"]`).dispatchEvent("click");
      await page.locator("[data-say]", { hasText: `place ${to + 1}` }).waitFor({ state: "attached" });
      expect(await page.inputValue(`[name="f.${to}.label"]`)).toContain("x-evil");
      expect(await page.locator("x-evil, .x-evil, #x-evil, [x-evil]").count()).toBe(0);
      expect(await page.title()).not.toContain("x-evil");
    }
  });
});
