import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { storeMember } from "../../src/workspaces/member-store.ts";
import { insertAccountRows } from "../../src/workspaces/workspace-store.ts";
import { axeViolations } from "../support/axe.ts";
import { chromiumPath, launchChromium } from "../support/chromium.ts";
import { READER } from "../support/members.ts";
import { freePort } from "../support/postgresql-cluster.ts";
import { startRealIssuer } from "../support/real-issuer.ts";
import { CLIENT } from "../support/scripted-issuer.ts";
import { type ConfigOverrides, startServer } from "../support/test-server.ts";

const ANA = "ana@example.org";

describe.skipIf(chromiumPath === null)("signing in by a real provider in a real browser", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchChromium();
  });
  afterAll(() => browser.close());

  async function open(
    oidc: ConfigOverrides["oidc"] = {},
    groups: Record<string, readonly string[]> = {},
    dashboard: ConfigOverrides["dashboard"] = {},
  ) {
    const port = await freePort();
    const site = `http://127.0.0.1:${port}`;
    const { issuer } = await startRealIssuer(site, groups);
    const server = await startServer({
      server: { port, baseUrl: site },
      oidc: { issuer, ...CLIENT, label: "Example ID", ...oidc },
      dashboard,
    });
    server.owner.now(() => insertAccountRows("root@example.com", server.clock.now()));
    const context = await browser.newContext();
    onTestFinished(() => context.close());
    const page = await context.newPage();
    page.setDefaultTimeout(30_000);
    const complaints: string[] = [];
    page.on("console", (message) => {
      if (message.text().includes("Content Security Policy")) complaints.push(message.text());
    });
    return { server, issuer, page, complaints, at: (path: string) => `${site}/dashboard${path}` };
  }

  /** On the provider's own pages: who one is, and that this server may know it. */
  async function signInThere(page: Page, issuer: string, email: string): Promise<void> {
    await page.waitForURL(`${issuer}/**`);
    await page.fill("[name=login]", email);
    await page.fill("[name=password]", "anything");
    await page.click("button[type=submit]");
    await page.click("button:has-text('Continue')");
  }

  test("a member signs in with passwords off, sees exactly its forms, and signs out at both", async () => {
    const { server, issuer, page, complaints, at } = await open({}, {}, { passwords: "off" });
    const shop = await server.addEndpoint();
    const jobs = await server.addEndpoint({ plan: "pro" });
    await server.post(shop.secret, { name: "Kim", email: "kim@example.org", message: "About the shop" });
    await server.post(jobs.secret, { name: "Lee", email: "lee@example.org", message: "About a job" });
    server.owner.now(function* () {
      const { account } = yield* insertAccountRows(ANA, server.clock.now());
      const made = { since: server.clock.now(), byAccountId: null };
      const place = { workspaceId: shop.workspaceId, accountId: account.id };
      yield* storeMember(place, { ...READER, endpoints: [shop.id] }, made);
    });
    await page.goto(at("/endpoints"));
    expect(await axeViolations(page)).toEqual([]);
    await page.click("text=Sign in with Example ID");
    await signInThere(page, issuer, ANA);
    await page.waitForURL(at("/endpoints"));
    expect(await page.content()).toContain(shop.id);
    expect(await page.content()).not.toContain(jobs.id);
    await page.goto(at(""));
    expect(await page.innerText("main")).toContain("Kim");
    expect(await page.innerText("main")).not.toContain("Lee");
    expect((await page.request.get(at(`/endpoints/${jobs.id}`))).status()).toBe(404);
    await page.click("nav >> text=Sign out");
    await page.waitForURL(`${issuer}/session/end**`);
    await page.click("button:has-text('Yes')");
    await page.waitForURL(at("/sign-in"));
    await page.click("text=Sign in with Example ID");
    await page.waitForURL(`${issuer}/**`);
    expect(await page.isVisible("[name=login]")).toBe(true);
    expect(complaints).toEqual([]);
  });

  test("somebody of the operator group gets an account and the System page", async () => {
    const oidc = { createAccounts: true, operatorGroup: "admins" };
    const { page, issuer, at } = await open(oidc, { [ANA]: ["staff", "admins"] });
    await page.goto(at("/system"));
    await page.click("text=Sign in with Example ID");
    await signInThere(page, issuer, ANA);
    await page.waitForURL(at("/system"));
    expect(await page.innerText("h1")).toContain("System");
  });

  test("a code works once, at the provider too, and who cancels there is told so here", async () => {
    const { page, issuer, at } = await open({ createAccounts: true });
    const returned: string[] = [];
    page.on("request", (request) => {
      if (request.url().includes("/oidc/callback")) returned.push(request.url());
    });
    await page.goto(at("/sign-in/oidc"));
    await signInThere(page, issuer, ANA);
    await page.waitForURL(at(""));
    await page.goto(returned[0] ?? "");
    expect(await page.innerText("[role=alert]")).toContain("was finished already");
    await page.context().clearCookies();
    await page.goto(at("/sign-in/oidc"));
    await page.click("text=Cancel");
    await page.waitForURL(/oidc\/callback/);
    expect(await page.innerText("[role=alert]")).toContain("Example ID refused: access_denied");
  });
});
