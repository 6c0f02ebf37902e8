import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { axeViolations } from "../support/axe.ts";
import { chromiumPath, launchChromium } from "../support/chromium.ts";
import { freePort } from "../support/postgresql-cluster.ts";
import { ADA, PASSWORD, signInForms } from "../support/sign-in-form.ts";
import { startServer } from "../support/test-server.ts";

describe.skipIf(chromiumPath === null)("passkeys of a device, in a real browser", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchChromium();
  });
  afterAll(() => browser.close());

  /** A tab whose machine has a fingerprint reader, with Ada's sign-in form. */
  async function open(javaScriptEnabled = true) {
    const port = await freePort();
    const site = `http://localhost:${port}`;
    const server = await startServer({ server: { port, baseUrl: site } });
    const forms = signInForms(server);
    expect((await forms.useLink()).status).toBe(303);
    const context = await browser.newContext({ javaScriptEnabled });
    onTestFinished(() => context.close());
    const page = await context.newPage();
    page.setDefaultTimeout(60_000);
    const complaints: string[] = [];
    page.on("console", (message) => {
      if (message.text().includes("Content Security Policy")) complaints.push(message.text());
    });
    page.on("pageerror", (error) => complaints.push(String(error)));
    const session = await context.newCDPSession(page);
    await session.send("WebAuthn.enable");
    const options = {
      protocol: "ctap2",
      transport: "internal",
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    } as const;
    const { authenticatorId } = await session.send("WebAuthn.addVirtualAuthenticator", { options });
    const refuse = (isRefused: boolean) =>
      session.send("WebAuthn.setUserVerified", { authenticatorId, isUserVerified: !isRefused });
    return { page, complaints, refuse, at: (path: string) => `${site}/dashboard${path}` };
  }

  async function giveName(page: Page): Promise<void> {
    await page.fill(".by-password [name=email]", ADA);
    await page.fill(".by-password [name=password]", PASSWORD);
    await page.click(".by-password button");
  }

  /** By the keyboard, without a mouse. */
  async function press(page: Page, label: string): Promise<void> {
    await page.getByRole("button", { name: label }).focus();
    await page.keyboard.press("Enter");
  }

  async function addPasskey(page: Page, at: (path: string) => string): Promise<void> {
    await page.goto(at("/account"));
    await giveName(page);
    await page.waitForURL(at("/account"));
    await page.click("text=Add a passkey");
    await page.fill("[name=name]", "My laptop");
    await page.fill("[name=password]", PASSWORD);
    await page.click("text=Go on");
    await press(page, "Make the passkey");
    await page.waitForSelector("#recovery-codes");
  }

  test("somebody adds a passkey, signs in with it alone and as second factor, and removes it", async () => {
    const { page, complaints, at } = await open();
    await addPasskey(page, at);
    await page.click("text=I have kept them");
    expect(await page.innerText("main")).toContain("My laptop");
    expect(await axeViolations(page)).toEqual([]);
    await page.click("nav >> text=Sign out");

    expect(await axeViolations(page)).toEqual([]);
    await press(page, "Sign in with a passkey");
    await page.waitForURL(at(""));
    await page.click("nav >> text=Sign out");

    await giveName(page);
    expect(await page.innerText("h1")).toBe("Second factor");
    expect(await axeViolations(page)).toEqual([]);
    await press(page, "Use a passkey");
    await page.waitForURL(at(""));

    await page.goto(at("/account"));
    await page.click("a:has-text('Change')");
    await page.fill("[name=name]", "Old laptop");
    await page.click("text=Save the name");
    await page.click("a:has-text('Change')");
    expect(await page.innerText("h1")).toBe("Old laptop");
    expect(await axeViolations(page)).toEqual([]);
    await page.fill("[name=password]", PASSWORD);
    await page.click("text=Remove the passkey");
    await page.waitForURL(/notice=passkey-removed/);
    await page.click("nav >> text=Sign out");
    await press(page, "Sign in with a passkey");
    await page.waitForURL(at("/sign-in/passkey"));
    expect(await page.innerText("[role=alert]")).toContain("This passkey was not taken");
    expect(complaints).toEqual([]);
  });

  test("a device that does not know who holds it is told about, and the page stays", async () => {
    const { page, refuse, at } = await open();
    await addPasskey(page, at);
    await page.click("text=I have kept them");
    await page.click("nav >> text=Sign out");
    await refuse(true);
    await press(page, "Sign in with a passkey");
    await page.waitForSelector(".problem:not([hidden])");
    expect(await page.innerText(".problem:not([hidden])")).toContain("Nothing came from the device");
    expect(page.url()).toContain("/dashboard/sign-in");
  });

  test("without script people sign in by password, and no button asks for a passkey", async () => {
    const { page, at } = await open(false);
    await page.goto(at("/account"));
    expect(await page.isVisible("text=Sign in with a passkey")).toBe(false);
    await giveName(page);
    await page.waitForURL(at("/account"));
    expect(await page.innerText("main")).toContain("Passkeys");
  });
});
