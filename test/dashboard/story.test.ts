import { readFileSync } from "node:fs";
import type { Browser, BrowserContext, Locator, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { makeSignInLink } from "../../src/sessions/sign-in-link.ts";
import { insertAccountRows } from "../../src/workspaces/workspace-store.ts";
import { chromiumPath, launchChromium } from "../support/chromium.ts";
import { type Received, startReceiverWith, type TestReceiver } from "../support/receivers.ts";
import { launchServer, type TestServer } from "../support/test-server.ts";
import { visit } from "../support/visitor.ts";
import { startWebSite, type WebSite } from "../support/web-site.ts";

const PASSWORD = "seven oak boards and a plane";
const MESSAGE = "Do you sharpen chisels while one waits?";
/** A page has fewer places for the keyboard than this. */
const MAX_TABS = 120;

/*
 * An owner's first hour in real Chromium, by keyboard alone: from the sign-in link to a replayed webhook, with script and without.
 */
describe.skipIf(chromiumPath === null)("an owner with a keyboard", () => {
  let server: TestServer;
  let site: WebSite;
  let receiver: TestReceiver;
  let browser: Browser;

  beforeAll(async () => {
    [server, site, receiver, browser] = await Promise.all([
      launchServer({ webhooks: { allowNetworks: ["127.0.0.1"] } }),
      startWebSite(),
      startReceiverWith((response) => response.writeHead(204).end()),
      launchChromium(),
    ]);
    // The first account is the operator.
    server.owner.now(() => insertAccountRows("operator@example.com", server.clock.now()));
  });
  afterAll(async () => {
    await browser.close();
    await Promise.all([server.stop(), site.stop(), receiver[Symbol.asyncDispose]()]);
  });

  test.each([true, false])("goes from a link to a replayed webhook (script: %s)", async (hasScript) => {
    const email = `owner-${hasScript ? "with" : "without"}-script@example.com`;
    const context = await browser.newContext({ javaScriptEnabled: hasScript, acceptDownloads: true });
    const page = await context.newPage();
    page.setDefaultTimeout(30_000);
    await signIn(page, email, hasScript);
    const snippet = await makeEndpoint(page);
    await addWebhook(page);

    await press(page, page.getByRole("link", { name: /^Inbox/ }));
    if (hasScript) await page.getByText("Live", { exact: true }).waitFor();
    await postFromOwnSite(context, snippet);
    if (hasScript) await press(page, page.getByRole("link", { name: "1 new · show" }));
    else await page.reload();
    await page.getByRole("link", { name: MESSAGE }).waitFor();

    await mark(page, hasScript);
    expect(await exported(page)).toContain(MESSAGE);
    await replay(page, hasScript);

    const stranger = await visit(server, "stranger@example.com");
    for (const path of [
      "/dashboard",
      "/dashboard/endpoints",
      "/dashboard/notifications",
      "/dashboard/export.csv",
    ])
      expect((await stranger.get(path)).text).not.toMatch(/chisels|Workshop|127\.0\.0\.1/);
    await context.close();
  });

  async function signIn(page: Page, email: string, hasScript: boolean): Promise<void> {
    server.owner.now(() => insertAccountRows(email, server.clock.now()));
    const { token } = server.owner.now(() => makeSignInLink(email, server.clock.now()));
    const link = `${server.url}/dashboard/sign-in#${token}`;
    await page.goto(link);
    if (!hasScript) {
      await reach(page, page.locator("summary"));
      await page.keyboard.press("Enter");
      await type(page, page.getByLabel("Sign-in link", { exact: true }), link);
    }
    await type(page, page.getByLabel("New password"), PASSWORD);
    await press(page, page.getByRole("button", { name: "Set the password and sign in" }));
    await page.getByRole("heading", { name: "Inbox" }).waitFor();
  }

  /** The form's HTML as the page shows it. */
  async function makeEndpoint(page: Page): Promise<string> {
    await page.goto(`${server.url}/dashboard/endpoints/new`);
    await type(page, page.getByLabel("Name of the form"), "Workshop");
    await press(page, page.getByRole("button", { name: "Make the form" }));
    await page.getByRole("heading", { name: "Workshop is ready" }).waitFor();
    return (await page.locator("pre code").first().textContent()) ?? "";
  }

  async function addWebhook(page: Page): Promise<void> {
    await page.goto(`${server.url}/dashboard/webhooks/new`);
    await type(page, page.locator("[name=url]"), receiver.url);
    await press(page, page.getByRole("button", { name: "Add the webhook" }));
    await page.getByRole("heading", { name: "Webhook added" }).waitFor();
  }

  /** Somebody fills in the form on another port. */
  async function postFromOwnSite(context: BrowserContext, snippet: string): Promise<void> {
    const visitor = await context.newPage();
    await visitor.goto(site.put("/contact", `<!doctype html><title>Contact</title>${snippet}`));
    await type(visitor, visitor.locator("[name=name]"), "Lena Vogel");
    await type(visitor, visitor.locator("[name=email]"), "lena@example.org");
    await type(visitor, visitor.locator("[name=message]"), MESSAGE);
    await press(visitor, visitor.getByRole("button", { name: "Send" }));
    await visitor
      .getByText(/thank you/i)
      .first()
      .waitFor();
    await visitor.close();
  }

  async function mark(page: Page, hasScript: boolean): Promise<void> {
    if (hasScript) {
      await page.keyboard.press("j");
      await page.keyboard.press("x");
      await page.keyboard.press("h");
    } else {
      await reach(page, page.locator("tbody input[type=checkbox]"));
      await page.keyboard.press("Space");
      await press(page, page.getByRole("button", { name: /^Not spam/ }), "Shift+Tab");
    }
    await page.locator(".notice[role=status]").waitFor();
    expect(lastMark()).toBe("ham");
  }

  const lastMark = () =>
    server.owner.prepare("SELECT mark FROM lesson ORDER BY id DESC LIMIT 1").pluck().get();

  async function exported(page: Page): Promise<string> {
    await reach(page, page.getByRole("link", { name: /^CSV/ }));
    const [file] = await Promise.all([page.waitForEvent("download"), page.keyboard.press("Enter")]);
    return readFileSync(await file.path(), "utf8");
  }

  async function replay(page: Page, hasScript: boolean): Promise<void> {
    const received = (): Received[] => receiver.received.filter(({ body }) => body.includes("chisels"));
    await expect.poll(received).not.toEqual([]);
    const before = received().length;
    await page.goto(`${server.url}/dashboard/notifications`);
    await press(page, page.locator("tbody a").first());
    await page.getByText("Delivered").first().waitFor();
    await reach(page, page.locator("tbody input[type=checkbox]").first());
    await page.keyboard.press(hasScript ? "x" : "Space");
    await press(page, page.getByRole("button", { name: "Send the chosen again" }));
    await page.getByText("One message is sent again.").waitFor();
    await expect.poll(() => received().length).toBe(before + 1);
    const ids = new Set(
      received()
        .slice(-2)
        .map(({ headers }) => headers["webhook-id"]),
    );
    expect(ids.size).toBe(1);
  }
});

/** Moves the keyboard to an element. */
async function reach(page: Page, target: Locator, key = "Tab"): Promise<void> {
  const focused = target.and(page.locator(":focus"));
  await target.first().waitFor();
  for (let presses = 0; presses < MAX_TABS; presses += 1) {
    if ((await focused.count()) > 0) return;
    await page.keyboard.press(key);
  }
  throw new Error(`the keyboard does not get to ${String(target)}`);
}

async function press(page: Page, button: Locator, key = "Tab"): Promise<void> {
  await reach(page, button, key);
  await page.keyboard.press("Enter");
}

async function type(page: Page, input: Locator, text: string): Promise<void> {
  await reach(page, input);
  await page.keyboard.type(text);
}
