import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { axeViolations } from "../support/axe.ts";
import { chromiumPath, launchChromium } from "../support/chromium.ts";
import { furnish, type OwnerHome } from "../support/owner-home.ts";
import { openTab } from "../support/signed-in-browser.ts";
import { goodPost, launchServer, type TestServer } from "../support/test-server.ts";
import { until } from "../support/until.ts";

describe.skipIf(chromiumPath === null)("settings in a browser", () => {
  let server: TestServer;
  let browser: Browser;
  let ada: OwnerHome;

  beforeAll(async () => {
    [server, browser] = await Promise.all([
      launchServer({ plans: { hobby: { customSpam: true } } }),
      launchChromium(),
    ]);
    ada = await furnish(server, "ada@example.com");
  });
  afterAll(async () => {
    await browser.close();
    await server.stop();
  });

  async function open(path: string, width = 1280): Promise<Page> {
    const tab = await openTab(browser, server, ada.visitor, { viewport: { width, height: 800 } });
    onTestFinished(async () => {
      await tab.context.close();
      expect(tab.complaints).toEqual([]);
    });
    await tab.page.goto(`${server.url}${path}`);
    return tab.page;
  }
  const settings = () => `/dashboard/endpoints/${ada.endpointId}`;

  test("the save bar counts what is not saved, also on a page that tells what is wrong, and undoes it", async () => {
    const page = await open(settings());
    const bar = page.locator(".savebar");
    const undo = bar.getByRole("link");
    const at = (text: string) => bar.getByText(text, { exact: true }).waitFor();
    await at("New posts follow what is saved here.");
    expect(await undo.isVisible()).toBe(false);
    await page.getByLabel("Days that posts are kept").fill("90");
    await at("1 change is not saved");
    await page.getByRole("radio", { name: /^Leave out/ }).check();
    await at("2 changes are not saved");
    await page.getByLabel("Days that posts are kept").fill("");
    await at("1 change is not saved");
    await page.getByLabel("Sites that may post").fill("https://a.example\nno site");
    await page.getByRole("button", { name: "Save the settings" }).click();
    await page.getByText("Nothing was saved yet.").waitFor();
    await at("2 changes are not saved");
    await undo.click();
    await at("New posts follow what is saved here.");
    expect(await page.getByLabel("Sites that may post").inputValue()).toBe("");
    expect(await page.getByRole("radio", { name: /^Set aside and show/ }).isChecked()).toBe(true);
  });

  test("the filter's save bar counts too, and still does when the preview is shown", async () => {
    const page = await open(`/dashboard/spam/workspaces/${ada.workspaceId}`);
    const bar = page.locator(".savebar");
    await page.getByRole("radio", { name: /^A form for bug reports/ }).check();
    await bar.getByText("1 change is not saved", { exact: true }).waitFor();
    await page.getByRole("button", { name: "See what would change" }).click();
    await page.getByRole("heading", { name: "What would change" }).waitFor();
    await bar.getByText("1 change is not saved", { exact: true }).waitFor();
    expect(await axeViolations(page)).toEqual([]);
    await page.getByRole("button", { name: "Save the settings" }).click();
    await page.getByText("Saved.").waitFor();
    expect(await page.getByRole("radio", { name: /^A form for bug reports/ }).isChecked()).toBe(true);
  });

  test("leaving asks only while something would be lost", async () => {
    const page = await open(settings());
    let asked = 0;
    page.on("dialog", (dialog) => {
      asked += 1;
      void dialog.accept();
    });
    const days = page.getByLabel("Days that posts are kept");
    await days.fill("90");
    await days.fill("");
    await page.getByRole("link", { name: "Fields" }).click();
    await page.getByRole("heading", { name: "Fields", exact: true, level: 2 }).waitFor();
    expect(asked).toBe(0);
    await page.goBack();
    await days.fill("90");
    await page.getByRole("link", { name: "Fields" }).click();
    await page.getByRole("heading", { name: "Fields", exact: true, level: 2 }).waitFor();
    expect(asked).toBe(1);
  });

  test("a note, the texts of a form's own page and those of a workspace are not lost without a question", async () => {
    const long = "a note. ".repeat(300).trim();
    for (const [path, label] of [
      [`/dashboard/submissions/${ada.submissionIds[0]}`, "Add a note"],
      [`${settings()}/page`, "Above the fields"],
      [`/dashboard/workspaces/${ada.workspaceId}`, "Text below"],
    ] as const) {
      const page = await open(path);
      const asked: string[] = [];
      page.on("dialog", (dialog) => {
        asked.push(dialog.type());
        void dialog.dismiss();
      });
      const field = page.getByLabel(label);
      await field.focus();
      await page.keyboard.insertText(long);
      await page.getByRole("link", { name: "Forms", exact: true }).first().click({ noWaitAfter: true });
      await expect.poll(() => asked).toEqual(["beforeunload"]);
      // What is too long is refused by the server, which says so. A browser would cut off its end.
      expect(await field.inputValue()).toBe(long);
    }
  });

  test.each([320, 1280])(
    "a refused site is allowed or set apart by its own button (%i px)",
    async (width) => {
      const site = `https://a-rather-long-name-of-a-preview.site-${width}.bakery.example`;
      server.owner.execute(
        `UPDATE endpoint SET allowed_origins = '["https://bakery.example"]' WHERE id = '${ada.endpointId}'`,
      );
      await server.restart();
      const { status } = await server.post(ada.publishable, goodPost, { origin: site });
      expect(status).toBe(403);
      const count = server.owner.prepare("SELECT count(*) FROM refused_origin WHERE origin = ?").pluck();
      await until(() => count.get(site) === 1);
      const page = await open(settings(), width);
      const row = page.getByRole("list", { name: "Sites that were refused" }).getByRole("listitem").filter({
        hasText: site,
      });
      expect(await axeViolations(page)).toEqual([]);
      expect(await page.evaluate("document.documentElement.scrollWidth - innerWidth")).toBeLessThanOrEqual(0);
      await row.getByRole("button", { name: "Not ours" }).click();
      await row.getByText("You said that it is not yours").waitFor();
      expect(await axeViolations(page)).toEqual([]);
      await row.getByRole("button", { name: "It is ours" }).click();
      await row.getByRole("button", { name: "Allow this site" }).click();
      await page.getByText("The site is allowed").waitFor();
      expect(await page.getByLabel("Sites that may post").inputValue()).toContain(site);
      expect(await row.count()).toBe(0);
    },
  );
});
