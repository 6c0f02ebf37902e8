import type { Browser, BrowserContext, BrowserContextOptions, Page } from "playwright-core";
import type { TestServer } from "./test-server.ts";
import type { Visitor } from "./visitor.ts";

/** A tab of somebody's browser, with what the pages in it complained about. */
export interface Tab {
  readonly context: BrowserContext;
  readonly page: Page;
  /** Violations of the policy, errors of scripts, and whatever else the console shows. */
  readonly complaints: readonly string[];
}

/** Opens a tab in a browser of its own that is signed in already. */
export async function openTab(
  browser: Browser,
  server: TestServer,
  visitor: Visitor,
  options: BrowserContextOptions = {},
): Promise<Tab> {
  const context = await browser.newContext({ locale: "en-GB", timezoneId: "UTC", ...options });
  const [name = "", value = ""] = visitor.cookie.split("=", 2);
  await context.addCookies([{ name, value, url: server.url }]);
  const page = await context.newPage();
  page.setDefaultTimeout(30_000);
  const complaints: string[] = [];
  page.on("console", (message) => {
    // That an answer has the status 404 is no complaint about the page.
    if (!message.text().startsWith("Failed to load resource")) complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(String(error)));
  await page.addInitScript(`addEventListener("securitypolicyviolation", ({ violatedDirective, blockedURI, sample }) =>
    console.error("policy", violatedDirective, blockedURI, sample))`);
  return { context, page, complaints };
}
