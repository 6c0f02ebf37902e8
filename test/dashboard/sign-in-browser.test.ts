import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { readTotpSecret, totpCode } from "../../src/sessions/totp.ts";
import { axeInColours } from "../support/axe.ts";
import { chromiumPath, launchChromium } from "../support/chromium.ts";
import { pathIn, startMailedSite } from "../support/mailed-site.ts";
import { PASSWORD, signInForms } from "../support/sign-in-form.ts";
import { startServer } from "../support/test-server.ts";

describe.skipIf(chromiumPath === null)("signing in with a real browser", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchChromium();
  });
  afterAll(() => browser.close());

  async function open(options: { scripts?: boolean } = {}) {
    const server = await startServer();
    const forms = signInForms(server);
    const context = await browser.newContext({
      javaScriptEnabled: options.scripts ?? true,
      viewport: { width: 1280, height: 800 },
    });
    onTestFinished(() => context.close());
    const page = await context.newPage();
    page.setDefaultTimeout(15_000);
    const complaints: string[] = [];
    page.on("console", (message) => {
      if (!message.text().startsWith("Failed to load resource")) complaints.push(message.text());
    });
    return { server, forms, page, complaints, at: (path: string) => `${server.url}/dashboard${path}` };
  }

  const waitForInbox = (page: Page) => page.waitForURL((url) => url.pathname === "/dashboard");

  test("a link's token goes into its form and out of the address, and the password that is set signs in", async () => {
    const { forms, page, complaints, at } = await open();
    const token = forms.link();
    await page.goto(`${at("/sign-in")}?next=%2Fdashboard#${token}`);
    await expect.poll(() => page.inputValue("[name=token]")).toBe(token);
    expect(await page.innerText("h1")).toBe("Welcome, choose a password");
    expect(await page.title()).toBe("Welcome, choose a password");
    const fields = "input:not([type=hidden])";
    const seen = async () =>
      page
        .locator(fields)
        .filter({ visible: true })
        .evaluateAll((all) => all.map((field) => field.getAttribute("name")));
    expect(await seen()).toEqual(["new_password"]);
    expect(await page.innerText("main")).not.toContain(token);
    expect(await page.evaluate("location.href")).toBe(at("/sign-in?next=%2Fdashboard"));
    expect(await page.evaluate("document.activeElement.name")).toBe("new_password");
    await page.keyboard.type(PASSWORD);
    await page.keyboard.press("Enter");
    await waitForInbox(page);
    await page.goto(at("/account"));
    await page.click("nav >> text=Sign out");
    await page.fill("[name=email]", "ada@example.com");
    await page.fill("[name=password]", PASSWORD);
    await page.keyboard.press("Enter");
    await waitForInbox(page);
    expect(complaints).toEqual([]);
  });

  test("a password that is refused leaves the welcome as it was, and a link that was used leads on", async () => {
    const { forms, page, at } = await open();
    const link = at(`/sign-in#${forms.link()}`);
    await page.goto(link);
    await page.fill("[name=new_password]", "short");
    await page.click("text=Set the password and sign in");
    await page.waitForSelector("[role=alert]");
    expect(await page.innerText("h1")).toBe("Welcome, choose a password");
    expect(await page.inputValue("[name=email]")).toBe("ada@example.com");
    expect(await page.locator("input:visible:not([readonly])").count()).toBe(1);
    await page.fill("[name=new_password]", PASSWORD);
    await page.click("text=Set the password and sign in");
    await waitForInbox(page);
    await page.context().clearCookies();
    await page.goto("about:blank");
    await page.goto(link);
    await page.fill("[name=new_password]", PASSWORD);
    await page.click("text=Set the password and sign in");
    await page.waitForSelector("[role=alert]");
    expect(await page.innerText("[role=alert]")).toContain("Ask whoever sent it for a new one");
    expect(await page.isVisible("[name=password]")).toBe(true);
    expect(await page.isVisible("[name=token]")).toBe(false);
  });

  test("without script the link is pasted", async () => {
    const { server, forms, page, at } = await open({ scripts: false });
    const link = at(`/sign-in#${forms.link()}`);
    await page.goto(link);
    await page.click("summary");
    await page.fill("[name=token]", link);
    await page.fill("[name=new_password]", PASSWORD);
    await page.click("text=Set the password and sign in");
    await waitForInbox(page);
    await page.goto(at("/account"));
    expect(await page.textContent("h1")).toBe("Account");
    expect(server.owner.prepare("SELECT count(*) FROM session").pluck().get()).toBe(1);
  });

  test("without script somebody signs up, confirms the address, and sets a forgotten password", async () => {
    const site = await startMailedSite();
    const { server, letterTo } = site;
    const context = await browser.newContext({ javaScriptEnabled: false });
    onTestFinished(() => context.close());
    const page = await context.newPage();
    page.setDefaultTimeout(15_000);
    const at = (path: string) => `${server.url}${path}`;
    const ask = async (link: string) => {
      await page.goto(at("/dashboard/sign-in"));
      await page.click(`text=${link}`);
      await page.fill("[name=email]", "new@example.org");
      await page.click("text=Send the e-mail");
      expect(await page.textContent("h1")).toBe("Look into your e-mail");
    };
    const choose = async (path: string, password: string) => {
      await page.goto(at(path));
      expect(await page.inputValue("[name=email]")).toBe("new@example.org");
      await page.fill("[name=new_password]", password);
      await page.click("button.primary");
      await waitForInbox(page);
    };
    await ask("Sign up");
    await choose(pathIn(await letterTo("new@example.org")), PASSWORD);
    await context.clearCookies();
    await ask("Forgotten your password?");
    await choose(pathIn(await letterTo("new@example.org", 2)), "another password");
    expect(await page.textContent(".who")).toContain("new@example.org");
  });

  test("its pages pass every axe rule and keep their policy, light and dark, wide and narrow", async () => {
    const { server, forms, page, complaints, at } = await open();
    const check = async (): Promise<void> => {
      for (const width of [1280, 320]) {
        await page.setViewportSize({ width, height: 800 });
        const where = `${page.url()} ${width}`;
        expect(await axeInColours(page), where).toEqual([]);
        expect(await page.evaluate("document.documentElement.scrollWidth"), where).toBeLessThanOrEqual(width);
      }
    };
    await page.goto(at(`/sign-in#${forms.link()}`));
    await page.fill("[name=new_password]", "too short");
    await page.click("text=Set the password and sign in");
    await page.waitForSelector("[role=alert]");
    await check();
    await page.fill("[name=new_password]", PASSWORD);
    await page.click("text=Set the password and sign in");
    await waitForInbox(page);
    await page.goto(at("/account"));
    await check();
    await page.click("text=Set it up");
    await page.waitForSelector("svg.qr");
    await check();
    const secret = (await page.inputValue("[name=secret]")) || "";
    await page.fill("[name=code]", totpCode(readTotpSecret(secret) ?? Buffer.alloc(20), server.clock.now()));
    await page.fill("[name=password]", PASSWORD);
    await page.click("text=Switch it on");
    await page.waitForSelector("#recovery-codes");
    await check();
    await page.click("text=I have kept them");
    await page.click("text=Renew the recovery codes");
    await page.waitForSelector("text=Switch the second factor off");
    await check();
    await page.click("nav >> text=Menu");
    await page.click("nav >> text=Sign out");
    await page.fill("[name=email]", "ada@example.com");
    await page.fill("[name=password]", PASSWORD);
    await page.click("button.primary");
    await page.waitForSelector("[name=ticket]", { state: "attached" });
    await check();
    expect(complaints).toEqual([]);
  });
});
