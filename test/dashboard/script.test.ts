import type { ServerResponse } from "node:http";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { script, style } from "../../src/dashboard/assets/assets.generated.ts";
import { keysButton, keysDialog } from "../../src/dashboard/assets/keys-dialog.ts";
import { PAGE_HEADERS } from "../../src/dashboard/scope.ts";
import { chromiumPath, launchChromium, serveAt } from "../support/chromium.ts";
import { until } from "../support/until.ts";
import { startWebSite, type WebSite } from "../support/web-site.ts";
import { HOUR_MS } from "../../src/foundation/time-units.ts";

const ROWS = ["Ana", "Ben", "Cleo"].map(
  (name) => `<tr><td><input type="checkbox" name="id" value="${name}" aria-label="Select ${name}"></td>
    <td><a href="/read/${name}">${name}</a></td></tr>`,
);
const LIST = `<form method="post" action="/mark">
  <b data-selected></b> <button name="do" value="read">Mark read</button>
  <button name="do" value="spam" data-key="s">Spam <kbd>s</kbd></button>
  <input type="checkbox" data-select-all aria-label="Select all">
  <table><tbody data-rows>${ROWS.join("")}</tbody></table></form>
  <input type="search" aria-label="Search" data-key="/">${String(keysButton)}${String(keysDialog)}`;

describe.skipIf(chromiumPath === null)("the script of the dashboard's pages", () => {
  let site: WebSite;
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  let complaints: string[] = [];

  beforeAll(async () => {
    [site, browser] = await Promise.all([startWebSite(), launchChromium()]);
    site.put("/script.js", script);
    for (const name of ["Ana", "Ben"]) site.put(`/read/${name}`, `<title>${name}</title>`);
    site.answer("/style.css", (_request, response) => {
      response.writeHead(200, { "content-type": "text/css" }).end(style);
    });
  });
  afterEach(async () => {
    // A request may still be on its way to the site.
    await page.unrouteAll({ behavior: "ignoreErrors" });
    await context.close();
    expect(complaints).toEqual([]);
  });
  afterAll(async () => {
    await browser.close();
    await site.stop();
  });

  /** Shows a page of ours with this content, as the server sends it. */
  async function show(
    content: string,
    options: { scripts?: boolean; before?: string; origin?: string } = {},
  ): Promise<void> {
    context = await browser.newContext({
      javaScriptEnabled: options.scripts ?? true,
      locale: "en-GB",
      timezoneId: "UTC",
    });
    page = await context.newPage();
    page.setDefaultTimeout(15_000);
    complaints = [];
    page.on("console", (message) => {
      if (!message.text().includes("Failed to load resource")) complaints.push(message.text());
    });
    page.on("pageerror", (error) => complaints.push(String(error)));
    if (options.before !== undefined) await page.addInitScript(options.before);
    const head = `<title>Inbox</title><link rel="icon" href="data:,"><link rel="stylesheet" href="/style.css"><script type="module" src="/script.js"></script>`;
    const markup = `<!doctype html><html lang="en"><head>${head}</head><body>${content}</body></html>`;
    const address = new URL(site.put("/list", markup, { ...PAGE_HEADERS }));
    const { origin = address.origin } = options;
    if (origin !== address.origin) await serveAt(page, origin, address.origin);
    await page.goto(`${origin}/list`);
  }

  const inRow = () => page.evaluate("document.activeElement.closest('tr')?.innerText.trim() ?? null");
  const press = async (...keys: string[]) => {
    for (const key of keys) await page.keyboard.press(key);
  };
  /** What the next form that is sent holds. */
  async function sentBy(act: () => Promise<unknown>): Promise<string> {
    let told = (_body: string): void => {};
    const sent = new Promise<string>((resolve) => (told = resolve));
    site.answer("/mark", (request, response) => {
      let body = "";
      request.on("data", (part) => (body += String(part)));
      request.on("end", () => {
        response.writeHead(303, { location: "/list" }).end();
        told(body);
      });
    });
    await act();
    const body = await sent;
    await page.waitForURL("**/list");
    return body;
  }

  test("shows times as their distance from now, and the exact time as their title", async () => {
    const ago = (ms: number) => new Date(Date.now() - ms).toISOString();
    const times = [ago(5000), ago(3_700_000), ago(50 * HOUR_MS), "2020-02-03T10:00:00Z", "never"];
    await show(times.map((time) => `<time datetime="${time}" data-time="ago">${time}</time>`).join(" "));
    expect(await page.locator("time").allTextContents()).toEqual([
      "just now",
      "1 h",
      "2 d",
      "3 Feb 2020",
      "never",
    ]);
    expect(await page.locator("time").nth(3).getAttribute("title")).toBe("03/02/2020, 10:00:00");
  });

  test("shows a time in a sentence by day and hour, and what is still to come by how long it takes", async () => {
    const soon = new Date(Date.now() + 3_900_000).toISOString();
    await show(`<time datetime="2020-02-03T10:00:00Z" data-time="exact"></time>
      <time datetime="2020-02-03T10:00:00Z" data-time="due"></time> <time datetime="${soon}" data-time="due"></time>`);
    const [exact, ...due] = await page.locator("time").allTextContents();
    expect(exact).toMatch(/^3 Feb 2020,? .*10:00/);
    expect(due).toEqual(["any moment", "in 1 h"]);
  });

  test("copies the text beside the button or of the element that it names, and says so to screen readers", async () => {
    await show(`<div><code>fsk_one</code> <button type="button" data-copy>Copy</button></div>
      <pre id="all">{ "a": "&lt;b&gt;" }</pre> <button type="button" data-copy="all">Copy as JSON</button>`);
    await context.grantPermissions(["clipboard-read", "clipboard-write"]);
    for (const [index, text] of ["fsk_one", '{ "a": "<b>" }'].entries()) {
      await page.locator("[data-copy]").nth(index).click();
      await page.locator("[role=status]", { hasText: "Copied" }).waitFor({ state: "attached" });
      await expect.poll(() => page.evaluate("navigator.clipboard.readText()")).toBe(text);
    }
    await page.getByRole("button", { name: "Copy as JSON" }).waitFor();
  });

  test("selects the text instead if the browser forbids copying", async () => {
    await show(`<div><code>fsk_one</code> <button type="button" data-copy>Copy</button></div>`, {
      before: "Object.defineProperty(navigator, 'clipboard', { value: undefined })",
    });
    await page.click("[data-copy]");
    await page.getByRole("button", { name: "Selected: press Ctrl+C" }).waitFor();
    expect(await page.evaluate("getSelection().toString()")).toBe("fsk_one");
  });

  test("j and k move between rows, x ticks, o opens", async () => {
    await show(LIST);
    const steps: [key: string, row: string][] = [
      ["j", "Ana"],
      ["j", "Ben"],
      ["j", "Cleo"],
      ["j", "Cleo"],
      ["k", "Ben"],
    ];
    for (const [key, row] of steps) {
      await press(key);
      expect(await inRow(), key).toBe(row);
    }
    await press("x");
    expect(await page.isChecked("[value=Ben]")).toBe(true);
    expect(await page.textContent("[data-selected]")).toBe("1 selected");
    await press("o");
    await page.waitForURL("**/read/Ben");
  });

  test("a key for ticked rows takes these, else the row of the keyboard, and goes on at the same place", async () => {
    await show(LIST);
    await press("j", "x", "j", "j", "x");
    expect(await sentBy(() => press("s"))).toBe("do=spam&id=Ana&id=Cleo");
    await expect.poll(inRow).toBe("Cleo");
    await press("k");
    expect(await sentBy(() => press("s"))).toBe("do=spam&id=Ben");
    await expect.poll(inRow).toBe("Ben");
    // On the checkbox of a row, Enter opens the row and does not send the form.
    await page.focus("[value=Ana]");
    await press("Enter");
    await page.waitForURL("**/read/Ana");
  });

  test("a key for ticked rows does nothing if no row is meant", async () => {
    await show(LIST);
    await press("s", "o", "x", "?");
    await page.locator("dialog[open]").waitFor();
    expect(page.url()).toBe(`${site.origin}/list`);
  });

  test("keys do nothing while somebody types, with Ctrl, or while the help is open; / and ? are keys too", async () => {
    await show(LIST);
    await press("/", "j", "x", "s");
    expect(await page.inputValue("[type=search]")).toBe("jxs");
    await page.evaluate("document.activeElement.blur()");
    await press("Control+j", "Alt+j");
    expect(await inRow()).toBe(null);
    await press("?", "j", "s");
    expect(await page.locator("dialog[open] h2").textContent()).toBe("Keys");
    expect(await inRow()).not.toBe("Ana");
    await press("Escape", "j");
    expect(await inRow()).toBe("Ana");
  });

  test("keys can be switched off, which the browser keeps, and on again", async () => {
    await show(LIST);
    const isHintShown = () => page.locator("[data-key=s] kbd").isVisible();
    expect(await isHintShown()).toBe(true);
    await press("?");
    await page.uncheck("[data-keys-setting]");
    await page.click("dialog button");
    for (const reload of [false, true]) {
      if (reload) await page.reload();
      await press("j", "?");
      expect([await inRow(), await page.locator("dialog[open]").count(), await isHintShown()]).toEqual([
        null,
        0,
        false,
      ]);
    }
    await page.click("[data-opens]");
    await page.check("[data-keys-setting]");
    await page.click("dialog button");
    await press("j");
    expect(await inRow()).toBe("Ana");
  });

  test("one checkbox ticks all rows of the page", async () => {
    await show(LIST);
    const all = page.locator("[data-select-all]");
    await all.check();
    expect(await page.locator("[name=id]:checked").count()).toBe(3);
    expect(await page.textContent("[data-selected]")).toBe("3 selected");
    await page.uncheck("[value=Ben]");
    expect(
      await page.evaluate(
        "(box => [box.checked, box.indeterminate])(document.querySelector('[data-select-all]'))",
      ),
    ).toEqual([false, true]);
    await all.check();
    await all.uncheck();
    expect(await page.locator("[name=id]:checked").count()).toBe(0);
  });

  test("asks before typed text is lost, and only then", async () => {
    await show(
      `<form data-unsaved method="post" action="/mark"><input name="name" aria-label="Name"></form>`,
    );
    const asked: string[] = [];
    page.on("dialog", (dialog) => {
      asked.push(dialog.type());
      void dialog.accept();
    });
    await page.click("input");
    await page.reload();
    expect(asked).toEqual([]);
    await page.locator("input").pressSequentially("A");
    await page.reload();
    expect(asked).toEqual(["beforeunload"]);
    await page.locator("input").pressSequentially("B");
    expect(await sentBy(() => press("Enter"))).toBe("name=B");
    expect(asked).toHaveLength(1);
  });

  const OFFLINE = `Object.defineProperty(navigator, "onLine", { value: false })`;
  const UNSAVED = `<form data-unsaved method="post" action="/mark"><input name="name" aria-label="Name"></form>`;

  test("a form that is sent without a network is sent only if the person says so", async () => {
    await show(UNSAVED, { before: OFFLINE, origin: "https://forms.example.org" });
    await page.locator("input").pressSequentially("A");
    const asked: string[] = [];
    page.once("dialog", (dialog) => {
      asked.push(dialog.message());
      void dialog.dismiss();
    });
    await press("Enter");
    expect(asked).toEqual(["Offline. Send it?"]);
    expect([await page.locator("input").inputValue(), page.url().endsWith("/list")]).toEqual(["A", true]);
    page.once("dialog", (dialog) => void dialog.accept());
    expect(await sentBy(() => press("Enter"))).toBe("name=A");
  });

  test("a form of a server on the same machine is sent without a network, and nobody is asked", async () => {
    await show(UNSAVED, { before: OFFLINE });
    page.once("dialog", (dialog) => {
      complaints.push(dialog.message());
      void dialog.dismiss();
    });
    await page.locator("input").pressSequentially("A");
    expect(await sentBy(() => press("Enter"))).toBe("name=A");
  });

  test("a button that is pressed twice on a slow line sends its form once, and a later press sends it again", async () => {
    await show(`<form method="post" action="/slow"><button name="press">Add</button></form>`);
    const heard: string[] = [];
    site.answer("/slow", (request, response) => {
      request.on("data", (part) => heard.push(String(part)));
      // The page stays, as while an answer is awaited.
      response.writeHead(204).end();
    });
    await page.evaluate(`for (const at of [0, 300, 2400])
      setTimeout(() => {
        const button = document.querySelector("button");
        button.value = at;
        button.click();
      }, at)`);
    await until(() => heard.includes("press=2400"));
    expect(heard).toEqual(["press=0", "press=2400"]);
  });

  test("leaving asks again if somebody stopped the browser while it sent the form, and typed on", async () => {
    await show(UNSAVED);
    await page.evaluate(`addEventListener("submit", (event) => event.preventDefault())`);
    const asked: string[] = [];
    page.on("dialog", (dialog) => {
      asked.push(dialog.type());
      void dialog.accept();
    });
    await page.locator("input").pressSequentially("B");
    await press("Enter");
    await page.locator("input").pressSequentially("C");
    await page.reload();
    expect(asked).toEqual(["beforeunload"]);
  });

  test("without script nothing is shown that needs it", async () => {
    await show(`${LIST}<div><code>a</code><button type="button" data-copy>Copy</button></div>`, {
      scripts: false,
    });
    for (const hidden of ["[data-copy]", "[data-opens]", "[data-select-all]", "kbd"])
      expect(await page.locator(hidden).first().isVisible(), hidden).toBe(false);
    expect(await page.getByRole("button", { name: "Spam" }).isVisible()).toBe(true);
  });

  describe("the live bar", () => {
    const LIVE = `<div data-live="/events?after=7" data-list="/list?unread=1"></div><span class="live" data-live-mark hidden>Live</span>`;
    /** Lets a test say whether the tab is looked at. */
    const TAB = `window.isAway = false;
      Object.defineProperty(document, "hidden", { get: () => window.isAway });`;
    const look = (isAway: boolean) =>
      page.evaluate(`isAway = ${isAway}; document.dispatchEvent(new Event("visibilitychange"))`);
    let streams: ServerResponse[] = [];
    const openStreams = () => streams.filter(({ closed, destroyed }) => !closed && !destroyed).length;

    async function showLive(): Promise<void> {
      streams = [];
      site.answer("/events", (request, response) => {
        expect(request.url).toBe("/events?after=7");
        streams.push(response);
        response.writeHead(200, { "content-type": "text/event-stream" });
        response.write(": open\n\n");
      });
      await show(LIVE, { before: TAB });
      await page.locator("[data-live-mark]").waitFor();
    }
    const tell = (data: string) => streams.at(-1)?.write(`event: new\ndata: ${data}\n\n`);

    test("tells how many are new, in the title too, and leads to the list", async () => {
      await showLive();
      tell('{"count":1}');
      await page.getByRole("link", { name: "1 new · show" }).waitFor();
      tell('{"count":3}');
      await page.getByRole("status").getByRole("link", { name: "3 new · show" }).click();
      await page.waitForURL("**/list?unread=1");
      await expect.poll(openStreams).toBe(1);
      expect(await page.title()).toBe("Inbox");
    });

    test("shows the number in the title, and nothing for what is no number", async () => {
      await showLive();
      for (const data of ["null", "[]", "<b>9</b>", '{"count":"<img>"}', '{"count":-1}', '{"count":0}'])
        tell(data);
      tell('{"count":12}');
      await expect.poll(() => page.title()).toBe("(12) Inbox");
      expect(await page.textContent("[data-live]")).toBe("12 new · show");
    });

    test("holds a connection only while the tab is looked at", async () => {
      await showLive();
      await look(true);
      await expect.poll(openStreams).toBe(0);
      expect(await page.locator("[data-live-mark]").isVisible()).toBe(false);
      await look(false);
      await page.locator("[data-live-mark]").waitFor();
      expect([streams.length, openStreams()]).toEqual([2, 1]);
    });

    test("asks a server that refuses once, and again when the person comes back", async () => {
      for (const status of [204, 401, 503]) {
        let asked = 0;
        site.answer("/events", (_request, response) => {
          asked += 1;
          response.writeHead(status).end();
        });
        if (status === 204) await show(LIVE, { before: TAB });
        else {
          // The page that goes is hidden, and the browser tells it: otherwise it would ask once more.
          await look(true);
          await page.reload();
        }
        await expect.poll(() => asked).toBe(1);
        await look(true);
        await look(false);
        await expect.poll(() => asked, { message: String(status) }).toBe(2);
        expect(await page.locator("[data-live-mark]").isVisible()).toBe(false);
      }
    });
  });
});
