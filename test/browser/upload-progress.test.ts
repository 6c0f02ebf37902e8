import { readFileSync } from "node:fs";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { chromiumPath, launchChromium } from "../support/chromium.ts";
import { makeMachine } from "../support/operator-machine.ts";
import type { RunningServer } from "../support/running-server.ts";
import { applicationSchema, pdf, sha256 } from "../support/uploads.ts";
import { startWebSite, type WebSite } from "../support/web-site.ts";

const SIZE = 1_500_000;
/** Slow enough that the browser tells of the upload more often than a page is told. */
const BYTES_PER_SECOND = 500_000;

/** The bar that the page about formsvc.js shows: the HTML that follows its sentence about the event. */
function documentedBar(): string {
  const page = readFileSync(new URL("../../docs/recipes/html-with-script.md", import.meta.url), "utf8");
  const code = /`formsvc:progress`[^]*?```html\n([^]*?)```/.exec(page)?.[1];
  if (code === undefined) throw new Error("the page shows no bar");
  return code;
}

interface Told {
  readonly at: number;
  readonly loaded: number;
  readonly total: number;
  /** What the bar of the recipe shows; null if it is hidden. */
  readonly bar: number | null;
}

describe.skipIf(chromiumPath === null)("a form with files that is sent by script", () => {
  const machine = makeMachine();
  let server: RunningServer;
  let site: WebSite;
  let browser: Browser;

  beforeAll(async () => {
    machine.configure({ files: { minFreeBytes: 0 } });
    [server, site, browser] = await Promise.all([machine.serve(), startWebSite(), launchChromium()]);
  });
  afterAll(async () => {
    await browser.close();
    await Promise.all([site.stop(), machine.remove()]);
  });

  /** Sends a form with these fields, and gives what the page was told of its way. */
  async function sendForm(fields: string, file: Buffer | null): Promise<Told[]> {
    const form = await machine.createEndpoint({
      schema: { ...applicationSchema, cv: { ...applicationSchema["cv"], required: false } as never },
      allowOrigin: [site.origin],
    });
    const page = await browser.newPage();
    await page.goto(
      site.put(
        "/upload",
        `<!doctype html><form data-formsvc action="${server.url}/f/${form.publishable}" method="post" enctype="multipart/form-data">
          ${fields}<button>Send</button></form>
        ${documentedBar()}
        <script>
          globalThis.told = [];
          addEventListener("formsvc:progress", ({ detail }) => {
            const { value, hidden } = document.getElementById("sent");
            told.push({ at: performance.now(), ...detail, bar: hidden ? null : value });
          });
        </script>
        <script src="${server.url}/formsvc.js" defer></script>`,
      ),
    );
    const network = await page.context().newCDPSession(page);
    await network.send("Network.enable");
    await network.send("Network.emulateNetworkConditions", {
      offline: false,
      latency: 0,
      downloadThroughput: -1,
      uploadThroughput: BYTES_PER_SECOND,
    });
    await page.fill("[name=name]", "Ana");
    if (file !== null)
      await page.setInputFiles("[name=cv]", { name: "cv.pdf", mimeType: "application/pdf", buffer: file });
    await page.click("button");
    await page.locator("[data-formsvc-status]").filter({ hasText: "Thank you" }).waitFor();
    const told = (await page.evaluate("told")) as Told[];
    await page.close();
    const stored = (await machine.stored(form)).at(-1);
    expect(stored).toMatchObject({
      name: "Ana",
      ...(file !== null && { cv: [{ name: "cv.pdf", sha256: sha256(file) }] }),
    });
    return told;
  }

  const input = '<input name="name"><input type="file" name="cv">';

  test("tells the page how far it is, up to its end and at most ten times a second", async () => {
    const told = await sendForm(input, pdf(SIZE));
    expect(told.length).toBeGreaterThan(2);
    const last = told.at(-1);
    expect(last?.loaded).toBe(last?.total);
    expect(last?.total).toBeGreaterThan(SIZE);
    expect(new Set(told.map(({ total }) => total)).size).toBe(1);
    const loaded = told.map((each) => each.loaded);
    expect(loaded).toEqual(loaded.toSorted((left, right) => left - right));
    // The bar hears the event before the page does.
    expect(told.map(({ bar }) => bar)).toEqual(
      told.map((each) => (each.loaded === each.total ? null : expect.closeTo(each.loaded / each.total, 5))),
    );
    const tooMany = told.filter(({ at }, index) => (told[index + 10]?.at ?? Infinity) - at < 1000);
    expect(tooMany).toEqual([]);
  });

  test("tells nothing if no file is chosen", async () => {
    expect(await sendForm(input, null)).toEqual([]);
  });
});
