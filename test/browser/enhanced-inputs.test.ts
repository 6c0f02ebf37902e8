import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { chromiumPath, launchChromium } from "../support/chromium.ts";
import type { Endpoint } from "../support/machine-database.ts";
import { makeMachine } from "../support/operator-machine.ts";
import type { RunningServer } from "../support/running-server.ts";
import { startWebSite, type WebSite } from "../support/web-site.ts";

describe.skipIf(chromiumPath === null)("the inputs of a form with data-formsvc", () => {
  const machine = makeMachine();
  let server: RunningServer;
  let site: WebSite;
  let browser: Browser;
  let form: Endpoint;
  let page: Page;

  beforeAll(async () => {
    machine.configure({});
    [server, site, browser] = await Promise.all([machine.serve(), startWebSite(), launchChromium()]);
    const schema = { name: { type: "string", required: true } };
    form = await machine.createEndpoint({ schema, allowOrigin: [site.origin] });
  });
  afterEach(() => page.close());
  afterAll(async () => {
    await browser.close();
    await Promise.all([site.stop(), machine.remove()]);
  });

  async function show(fields: string, attributes = "") {
    const action = `${server.url}/f/${form.publishable}`;
    page = await browser.newPage();
    page.setDefaultTimeout(15_000);
    await page.goto(
      site.put(
        "/inputs",
        `<!doctype html><form data-formsvc action="${action}" method="post" ${attributes}>${fields}<button>Send</button></form>
        <script src="${server.url}/formsvc.js" defer></script>`,
      ),
    );
  }

  test("a form with another file is another post, even if the one before may be stored", async () => {
    const fields = '<input name="name" value="Ana"><input type="file" name="cv">';
    await show(fields);
    await page.clock.install();
    const keys = new Set<string | undefined>();
    await page.route("**/f/*", (route) => {
      keys.add(route.request().headers()["idempotency-key"]);
      return route.fulfill({ status: 502, headers: { "access-control-allow-origin": "*" }, body: "" });
    });
    const choose = (name: string) =>
      page.setInputFiles("[name=cv]", { name, mimeType: "application/pdf", buffer: Buffer.from("%PDF") });
    const send = async () => {
      const answered = page.waitForResponse("**/f/*");
      await page.click("button");
      await answered;
      await page.locator("form:not([aria-busy])").waitFor();
    };
    await choose("first.pdf");
    await send();
    await send();
    expect(keys.size).toBe(1);
    await choose("second.pdf");
    await send();
    expect(keys.size).toBe(2);
  });

  test("no name of an input takes the place of what the script needs of the form", async () => {
    const names = ["elements", "reset", "dataset", "closest", "append", "lang", "querySelectorAll", "after"];
    names.push("querySelector", "dispatchEvent", "getAttribute", "setAttribute", "removeAttribute");
    const inputs = names.map((name) => `<input name="${name}" value="x">`).join("");
    const attributes = 'lang="de" data-formsvc-success="Danke!"';
    await show(`<label>Name <input name="name"></label>${inputs}`, attributes);
    // What Playwright asks of a form before it clicks in it has such names too.
    await page.evaluate("document.querySelector('button').click()");
    await page.waitForFunction("document.body.textContent.includes('Name fehlt noch')");
    await page.evaluate("document.querySelector('[name=name]').value = 'Ana'");
    await page.evaluate("document.querySelector('button').click()");
    await page.waitForFunction("document.body.textContent.includes('Danke!')");
    expect(await page.evaluate("document.querySelector('[name=name]').value")).toBe("");
    expect(await machine.stored(form)).toEqual([{ name: "Ana" }]);
  });
});
