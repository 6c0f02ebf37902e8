import type { Browser, Route } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { NO_CHALLENGE } from "../../src/endpoints/challenge.ts";
import { NO_PAGE } from "../../src/endpoints/own-page.ts";
import { axeViolations } from "../support/axe.ts";
import { chromiumPath, launchChromium } from "../support/chromium.ts";
import { startServer } from "../support/test-server.ts";
import { startWebSite, type WebSite } from "../support/web-site.ts";

const challenge = { ...NO_CHALLENGE, kind: "pow", isRequired: true } as const;

describe.skipIf(chromiumPath === null)("in Chromium, a form that requires a proof of work", () => {
  let browser: Browser;
  let site: WebSite;
  beforeAll(async () => {
    [browser, site] = await Promise.all([launchChromium(), startWebSite()]);
  });
  afterAll(() => Promise.all([browser.close(), site.stop()]));

  async function world() {
    const server = await startServer();
    const endpoint = await server.addEndpoint({
      schema: { message: { type: "string", required: true } },
      settings: { challenge, page: { ...NO_PAGE, isOn: true } },
    });
    return { server, endpoint };
  }

  test("is solved and sent by formsvc.js from another site, twice in a row", async () => {
    const { server, endpoint } = await world();
    const page = await browser.newPage();
    const html = `<!doctype html><form data-formsvc action="${server.url}/f/${endpoint.publishable}" method="post">
      <input name="message" aria-label="Message"><button>Send</button></form>
      <script src="${server.url}/formsvc.js" defer></script>`;
    await page.goto(site.put("/order", html));
    for (const text of ["One cake", "Two cakes"]) {
      await page.fill("[name=message]", text);
      await page.click("button");
      await expect.poll(() => server.stored().length).toBe(text === "One cake" ? 1 : 2);
      await expect.poll(() => page.inputValue("[name=message]")).toBe("");
    }
    expect(server.stored()).toEqual([{ message: "One cake" }, { message: "Two cakes" }]);
    await page.close();
  });

  test("is solved by the form's own page, which axe finds nothing wrong with", async () => {
    const { server, endpoint } = await world();
    const page = await browser.newPage({ viewport: { width: 320, height: 640 } });
    await page.goto(`${server.url}/p/${endpoint.id}`);
    expect(await axeViolations(page)).toEqual([]);
    await page.fill("[name=message]", "A cake");
    await page.click("button");
    await page.getByRole("heading", { name: "Thank you" }).waitFor();
    expect(server.stored()).toEqual([{ message: "A cake" }]);
    await page.close();
  });

  test("is sent again, solved anew, from the page that says what was wrong", async () => {
    const { server, endpoint } = await world();
    const page = await browser.newPage();
    const html = `<!doctype html><form action="${server.url}/f/${endpoint.publishable}" method="post">
      <input name="message" aria-label="Message" value="A plain form"><button>Send</button></form>`;
    await page.goto(site.put("/plain", html));
    await page.click("button");
    await page.getByRole("button", { name: "Send again" }).click();
    await page.getByRole("heading", { name: "Thank you" }).waitFor();
    expect(server.stored()).toEqual([{ message: "A plain form" }]);
    await page.close();
  });

  test("cannot be sent without script, and what was typed is there again", async () => {
    const { server, endpoint } = await world();
    const context = await browser.newContext({ javaScriptEnabled: false });
    const page = await context.newPage();
    await page.goto(`${server.url}/p/${endpoint.id}`);
    await page.fill("[name=message]", "A cake");
    await page.click("button");
    await page.getByRole("button", { name: "Send again" }).waitFor();
    expect([server.stored(), await page.inputValue("[name=message]")]).toEqual([[], "A cake"]);
    await context.close();
  });

  test("a post whose answer was lost is stored once, though its service gives a new token for the next press", async () => {
    const server = await startServer();
    const endpoint = await server.addEndpoint({ schema: { message: { type: "string" } } });
    const page = await browser.newPage();
    const html = `<!doctype html><form data-formsvc action="${server.url}/f/${endpoint.publishable}" method="post">
      <input name="message" aria-label="Message"><div class="cf-turnstile"></div>
      <input type="hidden" name="cf-turnstile-response" value="first"><button>Send</button></form>
      <script>turnstile = { reset: () => (document.querySelector("[type=hidden]").value = "second") };</script>
      <script src="${server.url}/formsvc.js" defer></script>`;
    await page.goto(site.put("/lost-answer", html));
    const lose = async (route: Route): Promise<void> => {
      await route.fetch();
      await route.abort();
    };
    await page.route("**/f/*", lose);
    await page.fill("[name=message]", "One cake");
    await page.click("button");
    await expect.poll(() => page.inputValue("[type=hidden]"), { timeout: 20_000 }).toBe("second");
    await expect.poll(() => page.getAttribute("button", "aria-disabled")).toBe(null);
    await page.unroute("**/f/*", lose);
    await page.click("button");
    await expect.poll(() => page.inputValue("[name=message]")).toBe("");
    expect(server.stored()).toEqual([{ message: "One cake" }]);
    await page.close();
  });

  test("a post that a service's token was taken with has its task renewed, and one that was only looked at has not", async () => {
    const server = await startServer();
    const endpoint = await server.addEndpoint({ schema: { message: { type: "string", minLength: 3 } } });
    const page = await browser.newPage();
    const html = `<!doctype html><form data-formsvc action="${server.url}/f/${endpoint.publishable}" method="post">
      <input name="message" aria-label="Message"><div class="cf-turnstile"></div>
      <div data-hcaptcha-widget-id="w7"></div><button>Send</button></form>
      <script>
        renewed = [];
        turnstile = { reset: (which) => renewed.push(which.className) };
        hcaptcha = { reset: (which) => renewed.push(which) };
      </script>
      <script src="${server.url}/formsvc.js" defer></script>`;
    await page.goto(site.put("/tasks", html));
    const renewed = () => page.evaluate("renewed");
    await page.fill("[name=message]", "x");
    await page.click("button");
    await page.locator("[aria-invalid=true]").waitFor();
    expect(await renewed()).toEqual([]);
    await page.fill("[name=message]", "One cake");
    await page.click("button");
    await expect.poll(() => page.inputValue("[name=message]")).toBe("");
    expect(await renewed()).toEqual(["cf-turnstile", "w7"]);
    expect(server.stored()).toEqual([{ message: "One cake" }]);
    await page.close();
  });
});
