import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { axeViolations } from "../support/axe.ts";
import { chromiumPath, launchChromium } from "../support/chromium.ts";
import type { Endpoint } from "../support/machine-database.ts";
import { makeMachine } from "../support/operator-machine.ts";
import type { RunningServer } from "../support/running-server.ts";
import { startWebSite, type WebSite } from "../support/web-site.ts";

const schema = {
  name: { type: "string", required: true },
  email: { type: "string", required: true, format: "email" },
  age: { type: "number", minimum: 18 },
  plan: { type: "string", enum: ["free", "paid"], required: true },
  agree: { type: "boolean", required: true },
  message: { type: "string" },
};

describe.skipIf(chromiumPath === null)("a plain form with scripts off", () => {
  const machine = makeMachine();
  let server: RunningServer;
  let site: WebSite;
  let browser: Browser;
  let form: Endpoint;
  let context: BrowserContext | undefined;

  beforeAll(async () => {
    machine.configure({});
    [server, site, browser] = await Promise.all([machine.serve(), startWebSite(), launchChromium()]);
    form = await machine.createEndpoint({ schema, allowOrigin: [site.origin] });
  });
  afterEach(async () => {
    await context?.close();
    context = undefined;
  });
  afterAll(async () => {
    await browser.close();
    await Promise.all([site.stop(), machine.remove()]);
  });

  async function openForm(
    options: { scripts?: boolean; dark?: boolean; fields?: string; form?: Endpoint } = {},
  ) {
    context = await browser.newContext({
      javaScriptEnabled: options.scripts ?? false,
      colorScheme: options.dark === true ? "dark" : "light",
      viewport: { width: 360, height: 740 },
    });
    const page = await context.newPage();
    const address = `${server.url}/f/${(options.form ?? form).publishable}`;
    const fields = options.fields ?? FIELDS;
    const html = `<!doctype html><form action="${address}" method="post">${fields}<button>Send</button></form>`;
    await page.goto(site.put("/contact", html));
    return page;
  }

  test("a wrong answer is shown again with everything typed, mended there by keyboard alone, and stored", async () => {
    const page = await openForm();
    await page.fill("[name=name]", "Ana <Ruiz>");
    await page.fill("[name=email]", "not-an-address");
    await page.fill("[name=message]", "First line\nSecond line");
    await page.click("button");
    expect(await page.textContent("h1")).toBe("Please check your answers");
    expect(await page.inputValue("[name=name]")).toBe("Ana <Ruiz>");
    expect((await page.inputValue("[name=message]")).replaceAll("\r", "")).toBe("First line\nSecond line");
    expect(await page.locator(".problems li").count()).toBe(3);
    expect(await page.textContent("#i1-problem")).toBe("Email must be an e-mail address");

    // The first Tab reaches the first problem, and following it the input.
    const focused = () => page.evaluate("document.activeElement?.getAttribute('name')");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await expect.poll(focused).toBe("email");
    await page.keyboard.press("Control+A");
    await page.keyboard.type("ana@example.org");
    await tabUntil(page, async () => (await focused()) === "plan");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowDown");
    await tabUntil(page, async () => (await focused()) === "agree");
    await page.keyboard.press("Space");
    await page.keyboard.press("Enter");
    await page.waitForSelector("h1:text('Thank you')");
    expect(await page.getAttribute("main a", "href")).toBe(`${site.origin}/`);
    expect((await machine.stored(form)).at(-1)).toEqual({
      name: "Ana <Ruiz>",
      email: "ana@example.org",
      plan: "paid",
      agree: true,
      message: "First line\nSecond line",
    });
  });

  test("corrected answers still lead to the page that the first form named", async () => {
    const page = await openForm({
      fields: `<input name="name"><input name="email" value="a@example.org"><input name="plan" value="free">
        <input name="agree" value="on"><input type="hidden" name="_redirect" value="/thanks">`,
    });
    site.put("/thanks", "<h1>From the site</h1>");
    await page.click("button");
    await page.fill("[name=name]", "Ana");
    await page.click("button");
    await page.waitForURL(`${site.origin}/thanks`);
    expect(await page.textContent("h1")).toBe("From the site");
  });

  test("if the input is too large to be shown again, the browser's Back button still has it", async () => {
    const page = await openForm();
    const long = "long ".repeat(20_000);
    await page.fill("[name=name]", "Ana");
    await page.fill("[name=message]", long);
    await page.click("button");
    expect(await page.textContent("main")).toContain("Back button");
    await page.goBack();
    expect(await page.inputValue("[name=name]")).toBe("Ana");
    expect(await page.inputValue("[name=message]")).toBe(long);
  });

  test("a multipart form with its file input left empty is stored", async () => {
    const open = await machine.createEndpoint({ schema: { name: { type: "string" } } });
    const address = `${server.url}/f/${open.publishable}`;
    context = await browser.newContext({ javaScriptEnabled: false });
    const page = await context.newPage();
    const html = `<form action="${address}" method="post" enctype="multipart/form-data"><input name="name"><input type="file" name="cv"><button>Send</button></form>`;
    await page.goto(site.put("/upload", html));
    await page.fill("[name=name]", "Zoë");
    await page.click("button");
    await page.waitForSelector("h1:text('Thank you')");
    expect(await machine.stored(open)).toEqual([{ name: "Zoë" }]);
    await page.goto(`${site.origin}/upload`);
    await page.setInputFiles("[name=cv]", {
      name: "cv.txt",
      mimeType: "text/plain",
      buffer: Buffer.from("x"),
    });
    await page.fill("[name=name]", "Kept");
    await page.click("button");
    await page.waitForSelector("h1:text('Your form was not sent')");
    expect(await page.inputValue("[name=name]")).toBe("Kept");
  });

  test.each([false, true])(
    "the built-in pages pass every axe rule and keep their policy (dark: %s)",
    async (dark) => {
      const page = await openForm({ scripts: true, dark });
      const complaints: string[] = [];
      page.on("console", (message) => {
        // That an answer has the status 400 is no complaint about the page.
        if (!message.text().startsWith("Failed to load resource")) complaints.push(message.text());
      });
      await page.fill("[name=name]", `Ana Maria ${"Wolfeschlegelsteinhausenbergerdorff".repeat(2)}`);
      await page.fill(
        "[name=message]",
        "Is 3 < 4 & <b>bold</b>?\nPlease write back, we need a table for six on Sunday.",
      );
      await page.click("button");
      await page.waitForSelector("h1:text('Please check your answers')");
      expect(await axeViolations(page)).toEqual([]);
      expect(await page.title()).toBe("Please check your answers");
      const background = await page.evaluate(
        "getComputedStyle(document.querySelector('main')).backgroundColor",
      );
      expect(background).toBe(dark ? "rgb(27, 29, 32)" : "rgb(255, 255, 255)");
      const overflow = "document.documentElement.scrollWidth - document.documentElement.clientWidth";
      expect(await page.evaluate(overflow)).toBe(0);
      await keepPicture(page, `error-${dark ? "dark" : "light"}`);

      await page.fill("[name=email]", "a@example.org");
      await page.selectOption("[name=plan]", "free");
      await page.check("[type=checkbox][name=agree]");
      await page.click("button");
      await page.waitForSelector("h1:text('Thank you')");
      expect(await axeViolations(page)).toEqual([]);
      await keepPicture(page, `success-${dark ? "dark" : "light"}`);
      expect(complaints).toEqual([]);
    },
  );

  test("lists, choices of many and undeclared inputs are shown again too, by the same rules", async () => {
    const kept = await machine.createEndpoint({
      schema: {
        name: { type: "string", required: true },
        topics: { type: "array", items: { type: "string", enum: ["music", "art", "food"] } },
        tags: { type: "array", items: { type: "string" } },
      },
      settings: { unknownFields: "keep" },
    });
    const fields = `<input name="name"><select name="topics" multiple><option>music<option>art<option>food</select>
      <input name="tags" value="red"><input name="tags" value="green"><input name="how did you hear of us?" value="from a friend">`;
    const page = await openForm({ scripts: true, form: kept, fields });
    await page.selectOption("[name=topics]", ["art", "food"]);
    await page.click("button");
    await page.waitForSelector("h1:text('Please check your answers')");
    expect(await axeViolations(page)).toEqual([]);
    await keepPicture(page, "error-lists");
    await page.fill("[name=name]", "Ana");
    await page.click("button");
    await page.waitForSelector("h1:text('Thank you')");
    expect(await machine.stored(kept)).toEqual([
      {
        name: "Ana",
        topics: ["art", "food"],
        tags: ["red", "green"],
        "how did you hear of us?": "from a friend",
      },
    ]);
  });

  test("axe sees a planted fault", async () => {
    const page = await openForm({ scripts: true });
    await page.click("button");
    await page.waitForSelector("h1");
    await page.evaluate("document.querySelector('label').remove()");
    expect(await axeViolations(page)).toContainEqual(expect.stringMatching(/^label:/));
  });

  test("a script that got into a page would not run", async () => {
    const page = await openForm({ scripts: true });
    await page.click("button");
    await page.waitForSelector("h1");
    await page.evaluate(
      "const s = document.createElement('script'); s.textContent = 'document.title = `hacked`'; document.body.append(s)",
    );
    expect(await page.title()).toBe("Please check your answers");
  });
});

const FIELDS = `<input name="name"><input name="email"><input name="age"><textarea name="message"></textarea>`;

async function tabUntil(page: Page, reached: () => Promise<boolean>): Promise<void> {
  for (let presses = 0; presses < 20; presses += 1) {
    await page.keyboard.press("Tab");
    if (await reached()) return;
  }
  throw new Error("the keyboard does not get there");
}

/** To look at the pages, name a folder in `SCREENSHOTS`. */
async function keepPicture(page: Page, name: string): Promise<void> {
  const folder = process.env["SCREENSHOTS"];
  if (folder !== undefined) await page.screenshot({ path: `${folder}/${name}.png`, fullPage: true });
}
