import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { chromiumPath, launchChromium } from "../support/chromium.ts";
import type { Endpoint } from "../support/machine-database.ts";
import { makeMachine } from "../support/operator-machine.ts";
import type { RunningServer } from "../support/running-server.ts";
import { startWebSite, type WebSite } from "../support/web-site.ts";

interface Seen {
  readonly status: number;
  readonly body: Record<string, unknown>;
  readonly headers: Record<string, string>;
}

describe.skipIf(chromiumPath === null)("a page on another origin", () => {
  const machine = makeMachine();
  let server: RunningServer;
  let site: WebSite;
  let stranger: WebSite;
  let browser: Browser;
  let form: Endpoint;
  let page: Page;

  beforeAll(async () => {
    const limits = { FORMSVC_RATE_LIMIT_PUBLISHABLE_MAX: "12" };
    machine.configure({});
    [server, site, stranger, browser] = await Promise.all([
      machine.serve({ env: limits }),
      startWebSite(),
      startWebSite(),
      launchChromium(),
    ]);
    form = await machine.createEndpoint({
      schema: { name: { type: "string", required: true } },
      allowOrigin: [site.origin],
    });
    page = await browser.newPage();
    await page.goto(site.put("/", "<h1>Site</h1>"));
  });
  afterAll(async () => {
    await browser.close();
    await Promise.all([site.stop(), stranger.stop(), machine.remove()]);
  });

  /** The answer that the page's own script can see; null if the browser hides all of it. */
  const send = (from: Page, key: string, body: unknown, [method, path] = ["POST", "/submit"]) =>
    from.evaluate(
      `fetch(${JSON.stringify(server.url + path)}, {
        method: ${JSON.stringify(method)},
        headers: { authorization: "Bearer ${key}", "content-type": "application/json" },
        body: ${method === "POST" ? JSON.stringify(JSON.stringify(body)) : "undefined"},
      }).then(async (answer) => ({
        status: answer.status, body: await answer.json(), headers: Object.fromEntries(answer.headers),
      }), () => null)`,
    ) as Promise<Seen | null>;

  test("posts with fetch, sees its limits, and asks for permission once only", async () => {
    const first = await send(page, form.publishable, { name: "A" });
    expect(first?.body["success"]).toBe(true);
    expect(first?.headers).toMatchObject({ "ratelimit-limit": "12", "ratelimit-remaining": "11" });
    expect(first?.headers["x-request-id"]).toBeTruthy();
    await send(page, form.publishable, { name: "B" });
    await send(page, form.publishable, { name: "C" });
    const asked = server.lines.filter(({ method, path }) => method === "OPTIONS" && path === "/submit");
    expect(asked).toHaveLength(1);
  });

  test("can read what is wrong with its data", async () => {
    const answer = await send(page, form.publishable, {});
    expect(answer).toMatchObject({
      status: 400,
      body: { error: "Validation failed", details: { name: {} } },
    });
  });

  test("can read that its key is unknown", async () => {
    expect(await send(page, "fpk_unknown", { name: "A" })).toMatchObject({
      status: 401,
      body: { error: "Unauthorized" },
    });
  });

  test("can read that a post was taken for spam", async () => {
    const answer = await send(page, form.publishable, { name: "A", _gotcha: "x" });
    expect(answer).toMatchObject({ status: 429, body: { error: "Submission could not be processed" } });
    expect(Object.keys(answer?.body ?? {})).toEqual(["error", "message", "visitor_message"]);
  });

  test("can read how long to wait when it sent too much", async () => {
    let answer = await send(page, form.publishable, { name: "A" });
    for (let count = 0; count < 12 && answer?.status === 200; count += 1) {
      answer = await send(page, form.publishable, { name: "A" });
    }
    expect(answer).toMatchObject({ status: 429, body: { error: "Rate limit exceeded" } });
    expect(Number(answer?.headers["retry-after"])).toBeGreaterThan(0);
  });

  test("that is not listed is refused and can read that it was, and nothing is stored", async () => {
    const other = await machine.createEndpoint({
      schema: { name: { type: "string" } },
      allowOrigin: [site.origin],
    });
    const page = await browser.newPage();
    await page.goto(stranger.put("/", "<h1>Stranger</h1>"));
    expect(await send(page, other.publishable, { name: "A" })).toMatchObject({
      status: 403,
      body: { error: "Forbidden" },
    });
    expect(await machine.stored(other)).toEqual([]);
    await page.close();
  });

  test("in a sandboxed frame, whose origin is null, is refused unless null is listed", async () => {
    const listed = await machine.createEndpoint({
      schema: { name: { type: "string" } },
      allowOrigin: ["null"],
    });
    const sandboxed = await browser.newPage();
    const headers = { "content-security-policy": "sandbox allow-scripts" };
    await sandboxed.goto(site.put("/sandboxed", "<h1>Sandboxed</h1>", headers));
    expect(await sandboxed.evaluate("origin")).toBe("null");
    expect((await send(sandboxed, form.publishable, { name: "A" }))?.status).not.toBe(200);
    expect((await send(sandboxed, listed.publishable, { name: "A" }))?.status).toBe(200);
    await sandboxed.close();
  });

  test("that holds a secret key can neither post nor read with it, and the key is marked for its owner", async () => {
    expect(await send(page, form.secret, { name: "A" })).toMatchObject({
      status: 403,
      body: { error: "Forbidden" },
    });
    expect(await send(page, form.secret, null, ["GET", "/submissions"])).toBeNull();
    const keys = (await machine.json(["key", "list", form.id]))["data"] as Record<string, unknown>[];
    expect(keys.find(({ kind }) => kind === "secret")?.["seen_in_browser_at"]).toBeTruthy();
    expect(keys.find(({ kind }) => kind === "publishable")?.["seen_in_browser_at"]).toBeNull();
  });
});
