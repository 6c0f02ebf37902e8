import type { Browser, BrowserContext, BrowserContextOptions, Page } from "playwright-core";
import type { TestServer } from "./test-server.ts";
import type { Visitor } from "./visitor.ts";

/** A tab of a person's browser, with the complaints of its pages. */
export interface Tab {
  readonly context: BrowserContext;
  readonly page: Page;
  /** Violations of the content security policy, errors of scripts, and everything else that the console shows. */
  readonly complaints: readonly string[];
}

/** Opens a tab in a new browser context that is already signed in. */
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
    // An answer with a status like 404 is not a complaint about the page.
    if (!message.text().startsWith("Failed to load resource")) complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(String(error)));
  await page.addInitScript(`addEventListener("securitypolicyviolation", ({ violatedDirective, blockedURI, sample }) =>
    console.error("policy", violatedDirective, blockedURI, sample))`);
  return { context, page, complaints };
}
