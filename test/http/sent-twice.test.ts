import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { NO_PAGE } from "../../src/endpoints/own-page.ts";
import type { SchemaDefinition } from "../../src/schemas/definition.ts";
import { chromiumPath, launchChromium } from "../support/chromium.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { startServer } from "../support/test-server.ts";

const SCHEMA: SchemaDefinition = {
  name: { type: "string", required: true, maxLength: 5 },
  message: { type: "string", maxLength: 5000 },
  cv: { type: "file" },
};
const URL_ENCODED = "application/x-www-form-urlencoded";

async function world() {
  const server = await startServer();
  const settings = { page: { ...NO_PAGE, isOn: true } };
  const { id, publishable } = await server.addEndpoint({ schema: SCHEMA, settings });
  const headers = { "content-type": URL_ENCODED, origin: server.url };
  /** The address that the form of a page is sent to. */
  const read = async (path: string): Promise<string> => {
    const { text } = await server.request({ method: "GET", path });
    return `${path}${/<form[^>]* action="([^"]*)"/.exec(text)?.[1] ?? ""}`;
  };
  const send = (path: string, body: string) => server.request({ method: "POST", path, headers, body });
  return { server, publishable, own: `/p/${id}`, read, send };
}

test("what is sent twice from one showing of a form’s own page is stored once, also at the same time", async () => {
  const { server, own, read, send } = await world();
  const shown = await read(own);
  const pressed = await Promise.all([1, 2, 3].map(() => send(shown, "name=Ana")));
  const reloaded = await send(shown, "name=Ana");
  expect([...pressed, reloaded].map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  expect(reloaded.text).toContain("Thank you");
  expect(server.stored()).toEqual([{ name: "Ana" }]);
});

test("another answer from the same showing of a page, and the same answer from another one, are posts of their own", async () => {
  const { server, own, read, send } = await world();
  const shown = await read(own);
  for (const [path, name] of [
    [shown, "Ana"],
    [shown, "Bo"],
    [await read(own), "Ana"],
    [own, "Ana"],
    [own, "Ana"],
  ] as const)
    expect((await send(path, `name=${name}`)).status).toBe(200);
  expect(server.stored().map(({ name }) => name)).toEqual(["Ana", "Bo", "Ana", "Ana", "Ana"]);
});

test("the page that shows a form of another site again stores what is sent from it once", async () => {
  const { server, publishable, send } = await world();
  const path = `/f/${publishable}`;
  const { text } = await send(path, "name=Anastasia");
  const again = `${path}${/<form[^>]* action="([^"]*)"/.exec(text)?.[1] ?? ""}`;
  expect(again).toMatch(/\?once=/);
  for (let press = 0; press < 2; press += 1) expect((await send(again, "name=Ana")).status).toBe(200);
  expect(server.stored()).toEqual([{ name: "Ana" }]);
});

describe.skipIf(chromiumPath === null)("in a browser", () => {
  let browser: Awaited<ReturnType<typeof launchChromium>>;
  beforeAll(async () => {
    browser = await launchChromium();
  });
  afterAll(() => browser.close());

  async function open(address: string): Promise<Page> {
    const context = await browser.newContext();
    onTestFinished(() => context.close());
    const page = await context.newPage();
    await page.goto(address);
    await page.fill("[name=message]", "A long letter");
    return page;
  }
  const typed = (page: Page): Promise<string> => page.inputValue("[name=message]", { timeout: 5_000 });

  test("a form’s own page that was sent without a line is there again by the Back button, with what was typed", async () => {
    const { server, own } = await world();
    const page = await open(server.url + own);
    await page.fill("[name=name]", "Ana");
    await page.context().setOffline(true);
    await page.click("button");
    await page.waitForURL(/^chrome-error:/);
    await page.context().setOffline(false);
    await page.goBack();
    expect(await typed(page)).toBe("A long letter");
    await page.click("button");
    await page.getByText("Thank you").waitFor();
    await page.reload();
    expect(server.stored()).toEqual([{ name: "Ana", message: "A long letter" }]);
  });

  test("so is a page whose file is gone from the disk", async () => {
    const { server, own } = await world();
    const page = await open(server.url + own);
    const file = join(temporaryFolder(), "cv.pdf");
    writeFileSync(file, "%PDF-1.4\n");
    await page.fill("[name=name]", "Ana");
    await page.setInputFiles("[name=cv]", file);
    rmSync(file);
    await page.click("button");
    await page.waitForURL(/^chrome-error:/);
    await page.goBack();
    await page.setInputFiles("[name=cv]", []);
    expect(await typed(page)).toBe("A long letter");
    await page.click("button");
    await page.getByText("Thank you").waitFor();
    expect(server.stored()).toEqual([{ name: "Ana", message: "A long letter" }]);
  });
});
