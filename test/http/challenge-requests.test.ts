import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Challenge, NO_CHALLENGE } from "../../src/endpoints/challenge.ts";
import type { SchemaDefinition } from "../../src/schemas/definition.ts";
import { formSnippet } from "../../src/schemas/form-snippets.ts";
import { chromiumPath, launchChromium } from "../support/chromium.ts";
import { startServer } from "../support/test-server.ts";
import { changeEndpoint } from "../support/terminal.ts";
import { startWebSite, type WebSite } from "../support/web-site.ts";

const REQUIRED = { kind: "pow", isRequired: true } as const;
const OPTIONAL = { kind: "pow", isRequired: false } as const;
const schema: SchemaDefinition = { message: { type: "string", required: true } };

describe.skipIf(chromiumPath === null)("in Chromium, formsvc.js", () => {
  let browser: Browser;
  let site: WebSite;
  beforeAll(async () => {
    [browser, site] = await Promise.all([launchChromium(), startWebSite()]);
  });
  afterAll(() => Promise.all([browser.close(), site.stop()]));

  /** @param snippet what the form had when its owner copied the code */
  async function open(snippet: "pow" | null, challenge: Partial<Challenge>, fields = schema) {
    const server = await startServer();
    const endpoint = await server.addEndpoint({
      schema: fields,
      settings: { challenge: { ...NO_CHALLENGE, ...challenge } },
    });
    const target = { base: server.url, key: endpoint.publishable, honeypot: null };
    const code = formSnippet(fields, { ...target, challenge: { kind: snippet ?? "off", siteKey: null } });
    const page = await browser.newPage();
    const asked: string[] = [];
    page.on("response", (response) => {
      const { pathname } = new URL(response.url());
      const method = response.request().method();
      if (/^\/(?:f\/|submit$|challenge$)/.test(pathname) && method !== "OPTIONS")
        asked.push(`${method} ${pathname.split("/")[1]} ${response.status()}`);
    });
    await page.goto(site.put("/form", `<!doctype html>${code}`));
    /** Fills the form, sends it, and waits until it was taken. */
    const send = async (text: string): Promise<void> => {
      await page.fill("[name=message]", text);
      await page.click("button");
      await expect.poll(() => page.inputValue("[name=message]")).toBe("");
    };
    const signals = (): string[] =>
      server.owner
        .prepare("SELECT spam_reasons FROM submission WHERE spam_reasons LIKE '%challenge%'")
        .pluck()
        .all() as string[];
    return { server, endpoint, page, asked, send, signals };
  }

  test("asks for nothing before a post of a form without a challenge", async () => {
    const { asked, send, server, page } = await open(null, {});
    await send("One cake");
    await send("Two cakes");
    expect(asked).toEqual(["POST f 200", "POST f 200"]);
    expect(server.stored()).toEqual([{ message: "One cake" }, { message: "Two cakes" }]);
    await page.close();
  });

  test("does the task that the code of the form names before each post, and none is refused", async () => {
    const { asked, send, signals, page } = await open("pow", OPTIONAL);
    await send("One cake");
    await send("Two cakes");
    expect(asked).toEqual(["GET challenge 200", "POST f 200", "GET challenge 200", "POST f 200"]);
    expect(signals()).toEqual([]);
    await page.close();
  });

  test.each([
    ["required", REQUIRED],
    ["not required", OPTIONAL],
  ])(
    "sends a form whose code is older than its challenge once more with the proof: %s",
    async (_what, challenge) => {
      const { asked, send, server, signals, page } = await open(null, challenge);
      await send("One cake");
      expect(asked).toEqual(["POST f 403", "GET challenge 200", "POST f 200"]);
      // It is known from then on.
      await send("Two cakes");
      expect(asked.slice(3)).toEqual(["GET challenge 200", "POST f 200"]);
      expect([server.stored(), signals()]).toEqual([[{ message: "One cake" }, { message: "Two cakes" }], []]);
      expect(await page.locator("[data-formsvc-status]").textContent()).not.toContain("allow scripts");
      await page.close();
    },
  );

  test("sends a file with it, once more too", async () => {
    const fields: SchemaDefinition = { ...schema, note: { type: "file", accept: ["text/plain"] } };
    const { asked, send, server, page } = await open(null, REQUIRED, fields);
    const file = { name: "note.txt", mimeType: "text/plain", buffer: Buffer.from("Two cakes") };
    await page.setInputFiles("[name=note]", file);
    await send("With a file");
    expect(asked).toEqual(["POST f 403", "GET challenge 200", "POST f 200"]);
    expect(server.stored()).toMatchObject([
      { message: "With a file", note: [{ name: "note.txt", size: 9 }] },
    ]);
    await page.close();
  });

  test("sends a form whose challenge was switched off since", async () => {
    const { asked, send, server, page } = await open("pow", {});
    await send("One cake");
    expect(asked).toEqual(["GET challenge 204", "POST f 200"]);
    expect(server.stored()).toHaveLength(1);
    await page.close();
  });

  test("shows the refusal if the task cannot be had, and keeps what was typed", async () => {
    const { server, endpoint, page } = await open(null, REQUIRED);
    await page.route("**/challenge?*", (route) => route.abort());
    await page.fill("[name=message]", "One cake");
    await page.click("button");
    await page.getByText("Please allow scripts").waitFor();
    expect([await page.inputValue("[name=message]"), server.stored()]).toEqual(["One cake", []]);
    server.owner.now(() => changeEndpoint(endpoint.id, { settings: { challenge: NO_CHALLENGE } }));
    await expect
      .poll(
        async () =>
          (await server.request({ method: "GET", path: `/challenge?key=${endpoint.publishable}` })).status,
      )
      .toBe(204);
    await page.click("button");
    await expect.poll(() => server.stored().length).toBe(1);
    await page.close();
  });

  test("as a module asks only for a form that was found to need it", async () => {
    const submit = (page: Page, base: string, key: string): Promise<unknown> =>
      page.evaluate(
        `import("${base}/formsvc.mjs").then(({ submit }) => submit("${key}", { message: "A cake" }, { server: "${base}" }))`,
      );
    for (const [challenge, wanted] of [
      [{}, ["POST submit 200", "POST submit 200"]],
      [
        REQUIRED,
        ["POST submit 403", "GET challenge 200", "POST submit 200", "GET challenge 200", "POST submit 200"],
      ],
    ] as const) {
      const { server, endpoint, page, asked } = await open(null, challenge);
      const { publishable } = endpoint;
      expect(await submit(page, server.url, publishable)).toMatchObject({ ok: true });
      expect(await submit(page, server.url, publishable)).toMatchObject({ ok: true });
      expect(asked).toEqual(wanted);
      expect(server.stored()).toHaveLength(2);
      await page.close();
    }
  });
});
