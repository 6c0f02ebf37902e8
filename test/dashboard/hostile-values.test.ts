import type { Browser, Page } from "playwright-core";
import { unzip } from "../support/read-xlsx.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { chromiumPath, launchUndrawn } from "../support/chromium.ts";
import {
  addressOf,
  type DashboardRoute,
  dashboardRoutes,
  EVERY_PAGE,
  pagesOf,
} from "../support/dashboard-routes.ts";
import { HOSTILE_JSON, HOSTILE_TEXTS, LONGEST_TEXT } from "../support/hostile-values.ts";
import { furnish, type OwnerHome } from "../support/owner-home.ts";
import { formsIn } from "../support/page-forms.ts";
import { openTab } from "../support/signed-in-browser.ts";
import { launchServer, type TestServer } from "../support/test-server.ts";
import { startWebSite, type WebSite } from "../support/web-site.ts";
import { PATIENCE_MS } from "../support/until.ts";
import { changeEndpoint } from "../support/terminal.ts";

/** Every form of every page is sent eight times; only a hang takes longer than this. */
const TIME_LIMIT_MS = 6 * PATIENCE_MS;

/** Elements that our pages are made of. */
const ELEMENTS = new Set(
  `html head meta title link script body a nav main header section article aside footer div span p b i em strong small br hr
  h1 h2 h3 h4 ul ol li dl dt dd table caption colgroup col thead tbody tfoot tr th td form fieldset legend label input button select
  optgroup option textarea datalist output details summary dialog code pre kbd bdi time progress meter
  figure figcaption svg g path rect line circle polyline text desc noscript`.split(/\s+/),
);
/** Their attributes, besides `data-…` and `aria-…`. */
const ATTRIBUTES = new Set(
  `lang charset name content rel href type src class id for title label role dir hidden tabindex method action formaction formmethod
  formnovalidate novalidate value checked selected disabled readonly required multiple placeholder autocomplete autocapitalize
  autofocus spellcheck inputmode enterkeyhint min max step minlength maxlength pattern rows cols size list scope colspan rowspan
  datetime target download open form wrap translate inert accept enctype
  viewbox width height x y x1 x2 y1 y2 r cx cy rx ry d fill points preserveaspectratio focusable shape-rendering`.split(
    /\s+/,
  ),
);

/** Looks through markup as a browser reads it: for what no page of ours is made of, and for what came out of a value. */
const INSPECT = `(markup, elements, attributes) => {
  const page = new DOMParser().parseFromString(markup, "text/html");
  const bad = [];
  for (const element of page.querySelectorAll("*")) {
    const tell = (what) => bad.push(what + ": " + element.outerHTML.slice(0, 300));
    if (!elements.includes(element.localName)) tell("element");
    for (const { name, value } of element.attributes) {
      if (!attributes.includes(name.toLowerCase()) && !/^(data|aria)-[a-z-]+$/.test(name)) tell("attribute " + name);
      if (/^(class|id|for|name|role|type|method)$/.test(name) && element.localName === "form" && value.includes("x-evil")) tell("form");
      if (/^(href|src|action|formaction)$/.test(name) && !/^(#|\\?|\\/(?![\\/\\\\])|mailto:|https?:|data:image\\/svg)/.test(value)) tell("address");
    }
    if (element.localName === "script" && (element.textContent !== "" || !element.getAttribute("src").startsWith("/dashboard/assets/"))) tell("script");
    if (element.localName === "form" && !/^(\\/dashboard|$)/.test(element.getAttribute("action") ?? "")) tell("form elsewhere");
    if (element.localName === "meta" && element.hasAttribute("http-equiv")) tell("meta");
  }
  const texts = page.createTreeWalker(page.body, NodeFilter.SHOW_TEXT);
  for (let text = texts.nextNode(); text !== null; text = texts.nextNode()) {
    const turned = /[\\u202a-\\u202e\\u2066-\\u2069]/.test(text.data);
    if (turned && text.parentElement.closest("bdi, [dir=auto], textarea, option, title, code, pre") === null) bad.push("not isolated: " + text.data.slice(0, 100));
  }
  return bad;
}`;

describe.skipIf(chromiumPath === null)("hostile values", () => {
  let server: TestServer;
  let receiver: WebSite;
  let browser: Browser;
  let home: OwnerHome;
  let routes: readonly DashboardRoute[];
  let inspector: Page;

  beforeAll(async () => {
    receiver = await startWebSite();
    [server, browser] = await Promise.all([
      launchServer({ ...EVERY_PAGE, webhooks: { allowNetworks: ["127.0.0.1"] } }),
      launchUndrawn(),
    ]);
    const said = HOSTILE_TEXTS.slice(0, 8).join("\n");
    const hook = receiver.answer("/hook", (_request, response) => response.writeHead(500).end(said));
    home = await furnish(server, "ada@example.com", {
      endpointName: `<x-evil>"'&`,
      receiverUrl: `${hook}?q=%22%3E%3Cx-evil%3E&r='x-evil'`,
    });
    // No new name has the mark. One of an earlier version may.
    server.owner.execute("UPDATE endpoint SET name = name || char(0x202e)");
    await postAll();
    routes = await dashboardRoutes(server);
    inspector = await (await browser.newContext()).newPage();
  });
  afterAll(async () => {
    await browser.close();
    await Promise.all([server.stop(), receiver.stop()]);
  });

  /** Every value, as a text, as the name of a field, and as the browser's name; some are stored, some are held as spam. */
  async function postAll(): Promise<void> {
    server.owner.now(() => changeEndpoint(home.endpointId, { settings: { unknownFields: "keep" } }));
    const bodies = [
      ...HOSTILE_TEXTS.map((text) =>
        JSON.stringify({
          name: text,
          email: "x-evil@example.org",
          message: text,
          [text]: text,
          list: [text],
        }),
      ),
      ...HOSTILE_JSON.map(
        (value) =>
          `{"name":"x-evil","email":"x-evil@example.org","message":"x","__proto__":${value},"constructor":${value},"hasOwnProperty":${value},"more":${value}}`,
      ),
      JSON.stringify({ name: "x-evil", email: "x-evil@example.org", message: LONGEST_TEXT }),
    ];
    const refused: string[] = [];
    for (const [index, body] of bodies.entries()) {
      const agent = (HOSTILE_TEXTS[index] ?? "x-evil").replaceAll(/[^\x20-\x7e]/g, "");
      const { status, text } = await server.post(home.secret, body, { "user-agent": agent });
      if (status !== 200 && status !== 429) refused.push(`${status} ${text} ${body.slice(0, 200)}`);
    }
    expect(refused).toEqual([]);
  }

  const idsOf = (table: "submission" | "held") =>
    server.owner.prepare(`SELECT id FROM ${table}`).pluck().all() as string[];
  const inspect = (markup: string) =>
    inspector.evaluate(
      `(${INSPECT})(${JSON.stringify(markup)}, ${JSON.stringify([...ELEMENTS])}, ${JSON.stringify([...ATTRIBUTES])})`,
    ) as Promise<string[]>;

  /** Every address with every row in it. */
  function addresses(): string[] {
    const perRow = routes
      .filter(({ method, path }) => method === "GET" && /\/(?:submissions|held)\/:/.test(path))
      // A file belongs to one submission, and is no page.
      .filter(({ path }) => !/\/files[/.]/.test(path))
      .flatMap((route) =>
        (route.path.includes("/held/") ? idsOf("held") : idsOf("submission")).map((id) =>
          addressOf(route, { ...home, heldId: id, submissionIds: [id] }),
        ),
      );
    return [...new Set([...pagesOf(routes, home), ...perRow])];
  }

  test("no page breaks, and none has an element that we did not make", async () => {
    const bad: string[] = [];
    let shown = 0;
    for (const path of addresses()) {
      const { status, text, headers } = await home.visitor.get(path);
      // With a single workspace, its page is led to.
      expect(status === 200 || (status === 303 && path === "/dashboard/spam"), `${path}: ${status}`).toBe(
        true,
      );
      if (!(headers["content-type"] ?? "").startsWith("text/html")) continue;
      // oxlint-disable-next-line no-control-regex -- these characters are what is looked for
      if (/[\u0000-\u0008\u000b\u000c\u000e-\u001f]/.test(text)) bad.push(`${path}: a control character`);
      if (text.includes("x-evil")) shown += 1;
      bad.push(...(await inspect(text)).map((each) => `${path}: ${each}`));
    }
    expect(bad).toEqual([]);
    // Otherwise nothing hostile was looked at.
    expect(shown).toBeGreaterThan(HOSTILE_TEXTS.length);
  });

  test("what an address says is shown as text or not at all", async () => {
    const bad: string[] = [];
    const names = [
      "q",
      "endpoint",
      "class",
      "since",
      "until",
      "cursor",
      "before",
      "after",
      "month",
      "notice",
      "n",
      "next",
      "tab",
    ];
    for (const path of pagesOf(routes, home)) {
      // Markup that several of them are answered with is looked at once.
      const texts = new Map<string, string>();
      for (const value of HOSTILE_TEXTS.slice(0, 12)) {
        const query = new URLSearchParams(names.map((name) => [name, value]));
        const { status, text } = await home.visitor.get(`${path}?${query.toString()}`);
        expect(status, `${path}?${query.toString()}`).toBeLessThan(500);
        texts.set(text, value);
      }
      for (const [text, value] of texts)
        bad.push(...(await inspect(text)).map((each) => `${path} ${value}: ${each}`));
    }
    expect(bad).toEqual([]);
  });

  test("nothing runs, and nothing is asked for elsewhere, when the pages are looked at", async () => {
    const tab = await openTab(browser, server, home.visitor, { viewport: { width: 320, height: 800 } });
    const elsewhere: string[] = [];
    tab.page.on("request", (request) => {
      if (!request.url().startsWith(`${server.url}/dashboard`) && !request.url().startsWith("data:image/svg"))
        elsewhere.push(request.url());
    });
    const wide: string[] = [];
    for (const path of pagesOf(routes, home)) {
      await tab.page.goto(`${server.url}${path}`);
      expect(await tab.page.title()).toMatch(/ · formsvc$/);
      const overflow = "document.documentElement.scrollWidth - document.documentElement.clientWidth";
      if (Number(await tab.page.evaluate(overflow)) > 0) wide.push(path);
    }
    expect([elsewhere, tab.complaints, wide]).toEqual([[], [], []]);
    await tab.context.close();
  });

  test("exports give every value as it was posted, and a spreadsheet no formula", async () => {
    // Files are no values: test/dashboard/files.test.ts reads their archive.
    const exports = routes.filter(
      ({ method, path }) => method === "GET" && /\/export/.test(path) && !path.endsWith(".zip"),
    );
    expect(exports.length).toBeGreaterThanOrEqual(2);
    for (const route of exports) {
      const path = addressOf(route, home);
      const { status, headers, text } = await home.visitor.get(path);
      expect([path, status, headers["x-content-type-options"]]).toEqual([path, 200, "nosniff"]);
      expect(headers["content-disposition"]).toMatch(/^attachment; filename="[\w.-]+"$/);
      expect(headers["content-type"]).not.toContain("html");
      if (path.endsWith(".csv")) {
        const cells = text.split(/[,\r\n]/).map((cell) => cell.replace(/^"/, ""));
        expect(cells.filter((cell) => /^[=+@]/.test(cell) || cell.startsWith("-x"))).toEqual([]);
      } else if (path.endsWith(".xlsx")) {
        const answer = await fetch(`${server.url}${path}`, { headers: { cookie: home.visitor.cookie } });
        const sheets = unzip(Buffer.from(await answer.arrayBuffer()));
        const sheet = sheets.get("xl/worksheets/sheet1.xml")?.toString("utf8") ?? "";
        expect(sheet.match(/<row /g)).toHaveLength(server.stored(home.endpointId).length + 1);
        expect(sheet).not.toMatch(/<f[ >]/);
      } else {
        const stored = server.stored(home.endpointId);
        const lines = text.trim().startsWith("[")
          ? (JSON.parse(text) as unknown[])
          : text
              .trim()
              .split("\n")
              .map((line) => JSON.parse(line) as unknown);
        const exported = lines.map((line) => (line as { data: unknown }).data);
        expect(exported.map((data) => JSON.stringify(data)).toSorted()).toEqual(
          stored.map((data) => JSON.stringify(data)).toSorted(),
        );
      }
    }
  });

  test("the inspection finds planted faults", async () => {
    const planted: [markup: string, found: RegExp][] = [
      ["<x-evil>", /^element/],
      ["<p onclick='x'>", /^attribute onclick/],
      ["<a href='javascript:x'>", /^address/],
      ["<a href='//x-evil.example'>", /^address/],
      ["<form action='https://x-evil.example'>", /^form elsewhere/],
      ["<script>x</script>", /^script/],
      ["<p>\u202ex</p>", /^not isolated/],
      ["<p style='color:red'>", /^attribute style/],
    ];
    for (const [markup, found] of planted)
      expect(await inspect(`<!doctype html><title>x</title><main>${markup}`), markup).toContainEqual(
        expect.stringMatching(found),
      );
  });

  // The last one, because a form may change what the others look at.
  test(
    "what somebody typed and was refused is shown as text",
    async () => {
      const bad: string[] = [];
      let refused = 0;
      for (const path of pagesOf(routes, home)) {
        const { text: shown } = await home.visitor.get(path);
        for (const { action, fields, buttons } of formsIn(shown, path)) {
          if (action === "/dashboard/sign-out") continue;
          for (const value of HOSTILE_TEXTS.slice(0, 8)) {
            // Buttons without a value are the form's main one; others delete rows that are looked at later.
            const form = new URLSearchParams(
              fields.filter(([name]) => name !== "").map(([name]) => [name, value]),
            );
            const [button] = buttons;
            if (button !== undefined && button[0] !== "") form.append(button[0], value);
            const { status, text } = await home.visitor.post(action, form);
            expect(status, `${action} ${form.toString()}`).toBeLessThan(500);
            if (status === 422) refused += 1;
            bad.push(...(await inspect(text)).map((each) => `${action} ${value}: ${each}`));
          }
        }
      }
      expect(bad).toEqual([]);
      expect(refused).toBeGreaterThan(0);
    },
    TIME_LIMIT_MS,
  );
});
