import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { makeSignInLink } from "../../src/sessions/sign-in-link.ts";
import { insertAccountRows } from "../../src/workspaces/workspace-store.ts";
import { axeViolations } from "../support/axe.ts";
import { chromiumPath, launchChromium } from "../support/chromium.ts";
import { launchServer, type TestServer } from "../support/test-server.ts";
import { PATIENCE_MS } from "../support/until.ts";

const PASSWORD = "seven loaves and a plum cake";
const PHONE = { width: 390, height: 844 };
const DESK = { width: 1280, height: 900 };
/** How the pages are looked at: wide and narrow, light and dark, and right to left. */
const LOOKS = [
  { viewport: PHONE, colorScheme: "light", locale: "de-DE" },
  { viewport: DESK, colorScheme: "dark", locale: "de-DE" },
] as const;
const HEBREW = { viewport: PHONE, colorScheme: "light", locale: "he-IL" } as const;

describe.skipIf(chromiumPath === null)("the owner of a bakery, on a phone and without script", () => {
  let server: TestServer;
  let browser: Browser;

  beforeAll(async () => {
    [server, browser] = await Promise.all([launchServer(), launchChromium()]);
  });
  afterAll(async () => {
    await browser.close();
    await server.stop();
  });

  async function phone(locale: string): Promise<Page> {
    const context = await browser.newContext({ javaScriptEnabled: false, viewport: PHONE, locale });
    const page = await context.newPage();
    page.setDefaultTimeout(PATIENCE_MS);
    return page;
  }

  type Look = (typeof LOOKS)[number] | typeof HEBREW;

  const tabs = new Map<Look, Page>();
  /** A tab with this look, for whoever is signed in on the phone. */
  async function tabWith(look: Look, owner: Page): Promise<Page> {
    const open = tabs.get(look);
    if (open !== undefined) return open;
    const context = await browser.newContext({ ...look, storageState: await owner.context().storageState() });
    const page = await context.newPage();
    tabs.set(look, page);
    return page;
  }

  /** What axe says of a page, after somebody did something on it. `SHOTS` names a folder for pictures. */
  async function violations(
    owner: Page,
    path: string,
    { looks = LOOKS, act }: { looks?: readonly Look[]; act?: (page: Page) => Promise<void> } = {},
  ): Promise<string[]> {
    const found: string[] = [];
    for (const look of looks) {
      const page = await tabWith(look, owner);
      const opened = await page.goto(`${server.url}${path}`);
      if (opened?.status() !== 200) found.push(`${path}: ${opened?.status()}`);
      await act?.(page);
      found.push(...(await axeViolations(page)));
      if (await page.evaluate("document.documentElement.scrollWidth > innerWidth"))
        found.push(`${path}: too wide`);
      // A German title too, as the labels below it.
      const side = await page.evaluate("getComputedStyle(document.querySelector('h1')).textAlign");
      if (look === HEBREW && side !== "right") found.push(`${path}: the title stands ${String(side)}`);
      const folder = process.env["SHOTS"];
      const name = `${path.replaceAll(/\W+/g, "-")}${act?.name ?? ""}-${look.viewport.width}-${look.locale}`;
      if (folder !== undefined) await page.screenshot({ path: `${folder}/${name}.png`, fullPage: true });
    }
    return found;
  }

  test("goes from the first sign-in to the first order in German, with a choice, a day and consent", async () => {
    const mia = await phone("en-GB");
    await signIn(mia);
    await makeForm(mia);
    const path = await offerPage(mia);
    const fields = new URL(mia.url()).pathname.replace(/page$/, "fields");

    const ida = await phone("de-DE");
    await ida.goto(`${server.url}${path}`);
    await order(ida);

    await mia.goto(`${server.url}/dashboard`);
    await mia
      .getByRole("link", { name: /Ida Berg/ })
      .first()
      .click();
    const { pathname } = new URL(mia.url());
    for (const shown of ["Ihre Torte", "Zwetschge", "Abholtag", "2026-12-24", "Ida Berg"])
      expect(await mia.textContent("main")).toContain(shown);
    expect(server.stored()).toEqual([
      {
        name: "Ida Berg",
        email: "ida@kunde.example",
        item: "Zwetschge",
        day: "2026-12-24",
        meine_angaben_durfen_verwendet_werden: true,
      },
    ]);
    const form = fields.replace(/\/fields$/, "");
    const seen = ["/dashboard/endpoints/new?start=order", "/dashboard/endpoints", "/dashboard", pathname];
    for (const each of [...seen, ...["", "/fields", "/page", "/keys", "/import"].map((name) => form + name)])
      expect(await violations(mia, each), each).toEqual([]);
    // In the visitors' own languages again.
    server.owner.execute("UPDATE endpoint SET language = NULL");
    server.owner.execute("UPDATE settings_version SET version = version + 1");
    const looks = [...LOOKS, HEBREW];
    expect(await violations(mia, path, { looks })).toEqual([]);
    expect(await violations(mia, path, { act: order })).toEqual([]);
    expect(await violations(mia, path, { looks: [HEBREW, LOOKS[1]], act: err })).toEqual([]);
    await Promise.all([mia.context().close(), ida.context().close()]);
  });

  async function signIn(page: Page): Promise<void> {
    const email = "mia@bakery.example";
    server.owner.now(() => insertAccountRows(email, server.clock.now()));
    const { token } = server.owner.now(() => makeSignInLink(email, server.clock.now()));
    const link = `${server.url}/dashboard/sign-in#${token}`;
    await page.goto(link);
    await page.locator("summary").first().click();
    await page.getByLabel("Sign-in link", { exact: true }).fill(link);
    await page.getByLabel("New password").fill(PASSWORD);
    await page.getByRole("button", { name: "Set the password and sign in" }).click();
    await page.getByRole("heading", { name: "Inbox" }).waitFor();
  }

  /** From the ready-made order, in the owner's own words. */
  async function makeForm(page: Page): Promise<void> {
    await page.goto(`${server.url}/dashboard/endpoints/new?start=order`);
    await page.fill("#f-name", "Tortenbestellung");
    await page.getByLabel("Language for visitors").selectOption("German");
    const change = async (row: number, label: string): Promise<void> => {
      await page.locator(`#field-${row} > details > summary`).click();
      await page.fill(`#f-f-${row}-label`, label);
    };
    await change(0, "Ihr Name");
    await change(3, "Ihre Torte");
    await page.fill("#f-f-3-enum", "Schokolade\nZitrone\nZwetschge");
    await change(4, "Abholtag");
    await page.locator("#field-5 > details > summary").click();
    await page.getByRole("button", { name: "Remove this field Wishes" }).click();
    await page.locator("#field-2 > details > summary").click();
    await page.getByRole("button", { name: "Remove this field Telefon" }).click();
    await page.getByRole("button", { name: "Consent", exact: true }).click();
    await page.fill("#f-f-4-label", "Meine Angaben dürfen verwendet werden");
    await page
      .getByRole("button", { name: /^Done Meine|^Done/ })
      .last()
      .click();
    const preview = page.locator("[data-preview=right]");
    expect(await preview.locator("label").allTextContents()).toEqual(
      ["Ihr Name", "E-Mail", "Ihre Torte", "Abholtag", "Meine Angaben dürfen verwendet werden"].map((label) =>
        expect.stringContaining(label),
      ),
    );
    expect(await preview.locator("option").allTextContents()).toContain("Zwetschge");
    expect(await page.evaluate("document.documentElement.scrollWidth > innerWidth")).toBe(false);
    await page.getByLabel("On a page of its own").check();
    await page.getByRole("button", { name: "Make the form" }).click();
    await page.getByRole("heading", { name: "Tortenbestellung is ready" }).waitFor();
    // Of no use to her: folded.
    expect(await page.locator(".snippet").first().isVisible()).toBe(false);
    await page.locator("main summary").click();
    expect(await page.locator(".snippet").first().innerText()).toContain("<button>Senden</button>");
    expect(await page.evaluate("document.documentElement.scrollWidth > innerWidth")).toBe(false);
  }

  /** The path of the form's own page. */
  async function offerPage(page: Page): Promise<string> {
    await page.getByRole("link", { name: "Change its title, colour or thanks" }).click();
    await page.getByLabel("Colour").fill("#8a1c4a");
    await page.getByRole("button", { name: "Save" }).click();
    await page.waitForURL("**notice=saved**");
    const address = (await page.locator("main a[href*='/p/']").first().getAttribute("href")) ?? "";
    // Whole, to be copied into a message.
    expect(address.startsWith(`${server.url}/p/`)).toBe(true);
    return address.slice(server.url.length);
  }

  /** On the form's own page. */
  async function order(page: Page): Promise<void> {
    const before = server.stored().length;
    expect(await page.getAttribute("html", "lang")).toBe("de");
    await page.getByLabel("Ihr Name").fill("Ida Berg");
    await page.getByLabel("E-mail").fill("ida@kunde.example");
    await page.getByLabel("Ihre Torte").selectOption("Zwetschge");
    await page.getByLabel("Abholtag").fill("2026-12-24");
    const send = page.locator("main button").last();
    // Without consent the browser does not even ask the server.
    await send.click();
    expect(server.stored()).toHaveLength(before);
    await page.getByLabel("Meine Angaben dürfen verwendet werden").check();
    await send.click();
    await page.getByRole("heading", { name: "Vielen Dank" }).waitFor();
    expect(await page.textContent("main")).toContain("Ihre Angaben sind angekommen.");
    expect(await page.evaluate("document.documentElement.scrollWidth > innerWidth")).toBe(false);
  }

  /** Sends the page with everything missing, as a browser does that checks nothing. */
  async function err(page: Page): Promise<void> {
    await page.evaluate("document.forms[0].noValidate = true");
    await page.locator("main button").last().click();
    await page.locator("[role=alert]").waitFor();
  }
});
