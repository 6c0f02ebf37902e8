import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { axeViolations } from "../support/axe.ts";
import { chromiumPath, launchChromium } from "../support/chromium.ts";
import { addFormOwner, type FormOwner } from "../support/form-owner.ts";
import { openTab } from "../support/signed-in-browser.ts";
import { launchServer, type TestServer } from "../support/test-server.ts";

const LINES = [
  "When,Full name,email,message,Source",
  "31.01.2026 14:05,Ana Ruiz,ana@example.org,Are you open on Sunday?,web",
  "31.01.2026 15:10,Jörg Groß,joerg@example.org,Two loaves of rye,web",
  "yesterday,Late Lee,late@example.org,Hello,web",
  "01.02.2026 09:00,No Mail,nobody,Hello,web",
];
const FILE = { name: "five years.csv", mimeType: "text/csv", buffer: Buffer.from(LINES.join("\n")) };

describe.skipIf(chromiumPath === null)("importing in a browser", () => {
  let server: TestServer;
  let browser: Browser;
  let ben: FormOwner;

  beforeAll(async () => {
    [server, browser] = await Promise.all([launchServer(), launchChromium()]);
    await addFormOwner(server, "operator@example.com");
    ben = await addFormOwner(server, "ben@example.org");
  });
  afterAll(async () => {
    await browser.close();
    await server.stop();
  });

  async function open(options: Parameters<typeof openTab>[3]): Promise<Page> {
    const tab = await openTab(browser, server, ben, options);
    onTestFinished(async () => {
      await tab.context.close();
      expect(tab.complaints).toEqual([]);
    });
    await tab.page.goto(`${server.url}/dashboard/endpoints/${ben.endpoint.id}`);
    return tab.page;
  }

  /** What is wrong with a page as it is shown. A folder in `SHOTS` gets pictures. */
  async function lookAt(page: Page, name: string, hasScript: boolean): Promise<void> {
    // axe waits for a timer, which a page without script never rings.
    if (hasScript) expect(await axeViolations(page), name).toEqual([]);
    const overflow = "document.documentElement.scrollWidth - document.documentElement.clientWidth";
    expect(await page.evaluate(overflow), name).toBe(0);
    const folder = process.env["SHOTS"];
    if (folder !== undefined) await page.screenshot({ path: `${folder}/${name}.png`, fullPage: true });
  }

  const looks = [
    { width: 1280, colorScheme: "light", javaScriptEnabled: true },
    { width: 390, colorScheme: "dark", javaScriptEnabled: true },
    { width: 390, colorScheme: "light", javaScriptEnabled: false },
    { width: 1280, colorScheme: "dark", javaScriptEnabled: false },
  ] as const;
  test.each(looks)(
    "an owner brings a table along: $width px wide, $colorScheme, script $javaScriptEnabled",
    async ({ width, colorScheme, javaScriptEnabled }) => {
      server.owner.execute("DELETE FROM submission");
      server.owner.execute("DELETE FROM imported_row");
      const page = await open({ viewport: { width, height: 800 }, colorScheme, javaScriptEnabled });
      const shot = (name: string) => lookAt(page, `${name}-${width}-${colorScheme}`, javaScriptEnabled);
      await page.getByRole("link", { name: "Import posts" }).click();
      if (await page.getByRole("link", { name: "Import another file" }).isVisible())
        await page.getByRole("link", { name: "Import another file" }).click();
      await page.getByLabel("File", { exact: true }).setInputFiles(FILE);
      await shot("1-choose");
      await page.getByRole("button", { name: "Look at the file" }).click();
      await page.getByText("each of them gets the time of the import").waitFor();
      await shot("2-no-time");
      await page.getByLabel("When", { exact: true }).selectOption({ label: "When it was sent" });
      await page.getByLabel("Full name", { exact: true }).selectOption({ label: "Field: name" });
      await page.getByRole("button", { name: "Look again" }).click();
      await page.getByRole("heading", { name: "What would happen" }).waitFor();
      await page.getByText("2 rows refused").waitFor();
      await shot("3-look");
      expect(server.stored(ben.endpoint.id)).toEqual([]);
      await page.getByRole("button", { name: "Import 2 posts" }).click();
      await page.getByRole("heading", { name: "2 posts imported" }).waitFor();
      await shot("4-imported");
      await page.reload();
      await page.getByRole("heading", { name: "2 posts imported" }).waitFor();
      expect(server.stored(ben.endpoint.id).map(({ name }) => name)).toEqual(["Ana Ruiz", "Jörg Groß"]);
      await page.goBack();
      // The page of before has its button still; it finds what was done.
      const again = page.getByRole("button", { name: "Import 2 posts" });
      if (await again.isVisible()) await again.click();
      expect(new URL(page.url()).pathname).toContain(`/endpoints/${ben.endpoint.id}`);
      expect(server.stored(ben.endpoint.id)).toHaveLength(2);
    },
  );
});
