import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { listEndpoints, readSchema } from "../../src/endpoints/endpoint-store.ts";
import { chromiumPath, launchChromium } from "../support/chromium.ts";
import { startServer, type TestServer } from "../support/test-server.ts";
import { PATIENCE_MS } from "../support/until.ts";
import { visit } from "../support/visitor.ts";

describe.skipIf(chromiumPath === null)("the endpoint's pages in a real browser", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchChromium();
  });
  afterAll(() => browser.close());

  /** A page of somebody who is signed in. What the browser complains of fails the test. */
  async function opened(scripts: boolean): Promise<{ server: TestServer; page: Page }> {
    const server = await startServer();
    const [name = "", value = ""] = (await visit(server)).cookie.split("=");
    const context = await browser.newContext({ javaScriptEnabled: scripts });
    await context.addCookies([{ name, value, url: server.url }]);
    const page = await context.newPage();
    page.setDefaultTimeout(PATIENCE_MS);
    const complaints: string[] = [];
    page.on("pageerror", (error) => complaints.push(String(error)));
    page.on("console", (message) => {
      if (message.type() === "error" && !message.text().includes("status of 422"))
        complaints.push(message.text());
    });
    onTestFinished(async () => {
      await context.close();
      expect(complaints).toEqual([]);
    });
    return { server, page };
  }

  const made = (server: TestServer) => server.owner.now(() => listEndpoints(null));

  test.for([true, false])("an endpoint is made by the keyboard alone; with script: %s", async (scripts) => {
    const { server, page } = await opened(scripts);
    await page.goto(`${server.url}/dashboard/endpoints/new`);
    await page.focus("#f-name");
    await page.keyboard.type("Contact");
    // The button that adds a field leads into its label.
    await page.focus('button[value="add-phone"]');
    await page.keyboard.press("Enter");
    await expect.poll(() => page.evaluate("document.activeElement.id")).toBe("f-f-3-label");
    await page.keyboard.type("Phone");
    expect(await page.inputValue("#f-name")).toBe("Contact");
    // Enter in an input does what the form is for, whatever buttons come first.
    await page.keyboard.press("Enter");
    await page.getByText("Copy them now").waitFor();
    const [endpoint] = made(server);
    const schema = endpoint && server.owner.now(() => readSchema(endpoint));
    expect(Object.keys(schema ?? {})).toEqual(["name", "email", "message", "phone"]);
  });

  test("what is wrong is told at its input while somebody types, and gone when it is right", async () => {
    const { server, page } = await opened(true);
    await page.goto(`${server.url}/dashboard/endpoints/new`);
    await page.locator("#field-0 > details > summary").click();
    await page.fill("#f-f-0-maxLength", "many");
    const problem = page.locator("#f-f-0-maxLength-problem");
    await problem.waitFor();
    expect(await problem.textContent()).toBe(
      'Greatest length of “Your name” must be a whole number from 0 up, not "many".',
    );
    expect(await page.getAttribute("#f-f-0-maxLength", "aria-describedby")).toBe("f-f-0-maxLength-problem");
    // Nobody filled in the name yet.
    expect(await page.locator("#f-name-problem").count()).toBe(0);
    await page.fill("#f-f-0-maxLength", "30");
    await problem.waitFor({ state: "detached" });
    expect(await page.getAttribute("#f-f-0-maxLength", "aria-invalid")).toBeNull();
    expect(made(server)).toEqual([]);
  });

  test("another kind of a field shows its rules in place, and without script by a button", async () => {
    for (const scripts of [true, false]) {
      const { server, page } = await opened(scripts);
      await page.goto(`${server.url}/dashboard/endpoints/new`);
      await page.fill("#f-name", "Order");
      await page.locator("#field-2 > details > summary").click();
      const kind = page.locator("#f-f-2-kind");
      await kind.focus();
      await kind.selectOption("Number");
      const button = page.getByRole("button", { name: "Show its rules Message" });
      expect(await button.isVisible()).toBe(!scripts);
      if (!scripts) await button.click();
      const least = page.getByLabel("Least value");
      await least.waitFor();
      await expect.poll(() => page.evaluate("document.activeElement.id")).toBe("f-f-2-kind");
      expect(await page.inputValue("#f-name")).toBe("Order");
      await least.fill("3");
      await page.getByRole("button", { name: "Make the form" }).click();
      await page.getByText("Copy them now").waitFor();
      expect(
        server.owner.prepare("SELECT definition ->> '$.message' FROM endpoint_schema").pluck().get(),
      ).toBe('{"type":"number","label":"Message","minimum":3}');
    }
  });

  test("a key is copied by its button, and without script there is no such button", async () => {
    for (const scripts of [true, false]) {
      const { server, page } = await opened(scripts);
      await page.goto(`${server.url}/dashboard/endpoints/new`);
      await page.fill("#f-name", "Contact");
      await page.getByRole("button", { name: "Make the form" }).click();
      await page.getByText("Copy them now").waitFor();
      const button = page.getByRole("button", { name: "Copy: Secret key" });
      expect(await button.isVisible()).toBe(scripts);
      if (!scripts) continue;
      await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
      await button.click();
      await page.getByText("Copied").first().waitFor();
      const key = await page.locator(".secret code").nth(1).textContent();
      expect(await page.evaluate("navigator.clipboard.readText()")).toBe(key);
    }
  });
});
