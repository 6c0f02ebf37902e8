import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { chromiumPath, launchChromium } from "../support/chromium.ts";
import { makeMachine } from "../support/operator-machine.ts";
import type { RunningServer } from "../support/running-server.ts";
import { startWebSite, type WebSite } from "../support/web-site.ts";

describe.skipIf(chromiumPath === null)("a form whose server stays away", () => {
  const machine = makeMachine();
  let server: RunningServer;
  let site: WebSite;
  let browser: Browser;

  beforeAll(async () => {
    machine.configure({});
    [server, site, browser] = await Promise.all([machine.serve(), startWebSite(), launchChromium()]);
  });
  afterAll(async () => {
    await browser.close();
    await Promise.all([site.stop(), machine.remove()]);
  });

  test.each([
    ["de-AT", "nothing", "Der Server ist nicht erreichbar."],
    ["he", "a stranger", "לא ניתן להתחבר לשרת."],
    ["constructor", "nothing", "The server could not be reached."],
    ["", "nothing", "Nie udało się połączyć z serwerem."],
  ])("with lang=%s, if %s answers, the visitor reads: %s", async (lang, answering, text) => {
    const page = await browser.newPage({ locale: "pl-PL" });
    const html = `<!doctype html><form data-formsvc action="${server.url}/f/fpk_any" method="post" lang="${lang}">
      <input name="name" /><button>Send</button></form><script src="${server.url}/formsvc.js" defer></script>`;
    await page.goto(site.put("/enhanced", html, {}));
    await page.clock.install();
    await page.route("**/f/*", (route) =>
      answering === "nothing"
        ? route.abort("connectionreset")
        : route.fulfill({ status: 200, body: "<p>Sign in to our network</p>" }),
    );
    await page.click("button");
    await expect
      .poll(
        async () => {
          await page.clock.runFor(5000);
          return page.locator("[data-formsvc-status]").textContent();
        },
        { timeout: 15_000 },
      )
      .toContain(text);
    await page.close();
  });
});
