import { createHash } from "node:crypto";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { NO_PAGE } from "../../src/endpoints/own-page.ts";
import type { Brand } from "../../src/foundation/brand.ts";
import { unsubscribeUrl } from "../../src/mail/recipients/mail-links.ts";
import { startConfirmation } from "../../src/mail/recipients/agree-to-mail.ts";
import { defaultMailRecipientSettings } from "../../src/mail/recipients/mail-recipient.ts";
import { updateSettingsRow } from "../../src/workspaces/workspace-settings.ts";
import { getWorkspace } from "../../src/workspaces/workspace-store.ts";
import { axeInColours } from "../support/axe.ts";
import { chromiumPath, launchUndrawn } from "../support/chromium.ts";
import type { Answer } from "../support/http-client.ts";
import { addMailRecipient } from "../support/mail-recipients.ts";
import { BASE_URL, startMailedSite } from "../support/mailed-site.ts";
import { until } from "../support/until.ts";

const BRAND: Brand = {
  colour: "#7a3b12",
  name: "Mia’s <b>Bakery</b> & מאפייה",
  footer: 'Mia Berg\n"Hauptstr. 1"',
};

async function world(page = {}) {
  const { server } = await startMailedSite();
  const endpoint = await server.addEndpoint({
    schema: {
      email: { type: "string", required: true, format: "email" },
      guests: { type: "array", items: { type: "object", properties: { name: { type: "string" } } } },
    },
    settings: { page: { ...NO_PAGE, isOn: true, ...page } },
  });
  const recipientOf = (isConfirmed: boolean) => {
    const settings = { ...defaultMailRecipientSettings, address: `${String(isConfirmed)}@example.org` };
    const made = { endpointId: endpoint.id, settings, isConfirmed };
    return server.owner.now(() => addMailRecipient(made, server.clock.now()));
  };
  const confirmed = recipientOf(true);
  const asked = recipientOf(false);
  const token = server.owner.now(() => startConfirmation(asked.id, server.clock.now()));
  const get = (path: string) => server.request({ method: "GET", path });
  const post = (path: string, body: string) =>
    server.request({
      method: "POST",
      path,
      headers: { "content-type": "application/x-www-form-urlencoded", origin: BASE_URL },
      body,
    });
  const [own, form] = [`/p/${endpoint.id}`, `/f/${endpoint.publishable}`];
  const stop = unsubscribeUrl(BASE_URL, confirmed).slice(BASE_URL.length);
  /** The pages that speak for the workspace, by what they are. */
  const pages: Record<string, () => Promise<Answer>> = {
    "own page": () => get(own),
    "own page's thanks": () => post(own, "email=ana%40example.org"),
    "own page's mistake": () => post(own, "email=nobody"),
    thanks: () => post(form, "email=ana%40example.org"),
    mistake: () => post(form, "email=nobody"),
    unsubscribe: () => get(stop),
  };
  const brand = async (given: Brand) => {
    server.owner.now(function* () {
      const workspace = yield* getWorkspace(endpoint.workspaceId);
      yield* updateSettingsRow(workspace, { timeZone: null, brand: given });
    });
    await until(async () => (await get(own)).text.includes('class="maker"') === (given.name !== null));
  };
  return { server, pages, brand, get, post, stop, confirm: `/mail/confirm/${asked.id}/${token}` };
}

/** The style of a page, and whether its policy lets that style and nothing else in. */
function lookOf({ text, headers }: Answer) {
  const style = /<style>([^]*?)<\/style>/.exec(text)?.[1] ?? "";
  const hash = createHash("sha256").update(style).digest("base64");
  const policy = String(headers["content-security-policy"]);
  return { style, isAllowed: policy.includes(`style-src 'sha256-${hash}';`), policy };
}

test("each page for visitors has the workspace's colour, name and footer, escaped, and its policy lets just that style in", async () => {
  const { pages, brand } = await world();
  await brand(BRAND);
  for (const [what, ask] of Object.entries(pages)) {
    const answer = await ask();
    const { style, isAllowed, policy } = lookOf(answer);
    expect(style, what).toContain("button, .seal { background: #7a3b12; color: #ffffff; }");
    expect(answer.text, what).toContain(
      '<header class="maker"><bdi>Mia’s &lt;b&gt;Bakery&lt;/b&gt; &amp; מאפייה</bdi></header>',
    );
    expect(answer.text, what).toContain(
      '<div dir="auto">Mia Berg</div><div dir="auto">&quot;Hauptstr. 1&quot;</div></footer>',
    );
    expect([isAllowed, policy.includes("default-src 'none'")], what).toEqual([true, true]);
    // Which pages may show it in a frame says nothing of what the page loads.
    expect(policy.replace(/frame-ancestors [^;]*/, ""), what).not.toMatch(/img-src|https?:|\*/);
    expect(Buffer.byteLength(answer.text), what).toBeLessThan(30_000);
  }
});

test("without a brand pages are as before, and one that is taken away is gone from running servers", async () => {
  const { pages, brand } = await world();
  const before = await Promise.all(Object.values(pages).map((ask) => ask()));
  await brand(BRAND);
  await brand({ colour: null, name: null, footer: null });
  const after = await Promise.all(Object.values(pages).map((ask) => ask()));
  const styles = new Set([...before, ...after].map((answer) => lookOf(answer).style));
  expect(styles.size).toBe(1);
  for (const { text } of [...before, ...after]) expect(text).not.toMatch(/Mia|7a3b12/);
});

test("the colour of a form's own page goes before the workspace's, also on its pages for errors and thanks", async () => {
  const { pages, brand } = await world({ colour: "#ffcc00" });
  await brand(BRAND);
  for (const what of ["own page", "own page's thanks", "own page's mistake"]) {
    const { style, isAllowed } = lookOf(await pages[what]!());
    expect([style.includes("background: #ffcc00; color: #000000"), isAllowed], what).toEqual([true, true]);
  }
});

test("whoever has not agreed yet, or opens a dead link, sees nothing that an owner chose", async () => {
  const { brand, get, stop, confirm } = await world();
  await brand(BRAND);
  for (const path of [confirm, `${stop}x`, "/f/fpk_none"]) {
    const { text } = await get(path);
    expect(text, path).not.toMatch(/Mia|7a3b12/);
  }
});

describe.skipIf(chromiumPath === null)("in Chromium", () => {
  let browser: Browser;
  let page: Page;
  beforeAll(async () => {
    browser = await launchUndrawn();
    page = await browser.newPage({ viewport: { width: 390, height: 800 }, reducedMotion: "reduce" });
  });
  afterAll(() => browser.close());

  const COLOURS = ["#7a3b12", "#ffffff", "#000000", "#1b1d20", "#777777", "#ffcc00"];

  test.each(COLOURS)("axe finds nothing on any page in light and dark with the colour %s", async (colour) => {
    const { pages, brand } = await world();
    await brand({ ...BRAND, colour });
    for (const [what, ask] of Object.entries(pages)) {
      await page.setContent((await ask()).text);
      expect([what, await axeInColours(page)]).toEqual([what, []]);
    }
  });
});
