import type { Browser } from "playwright-core";
import { describe, expect, test } from "vitest";
import { chromiumPath, launchUndrawn } from "./chromium.ts";

/** The id of Chromium's process. */
async function processOf(browser: Browser): Promise<number> {
  const session = await browser.newBrowserCDPSession();
  const { processInfo } = await session.send("SystemInfo.getProcessInfo");
  await session.detach();
  return processInfo.find(({ type }) => type === "browser")?.id ?? 0;
}

describe.skipIf(chromiumPath === null)("the Chromium of a process", () => {
  test("goes on for the next file of tests without what the one before opened", async () => {
    const first = await launchUndrawn();
    const page = await first.newPage();
    const id = await processOf(first);
    expect(id).toBeGreaterThan(0);
    await first.close();
    expect(page.isClosed()).toBe(true);
    const second = await launchUndrawn();
    expect([second.contexts(), await processOf(second)]).toEqual([[], id]);
  });

  test("is another one after it ended", async () => {
    const first = await launchUndrawn();
    const id = await processOf(first);
    const ended = new Promise((resolve) => first.on("disconnected", resolve));
    process.kill(id, "SIGKILL");
    await ended;
    const second = await launchUndrawn();
    expect(await processOf(second)).not.toBe(id);
    await second.close();
  });
});
