import type { BrowserContextOptions, Page } from "playwright-core";
import { afterAll, describe, expect, test } from "vitest";
import { LANGUAGES } from "../../src/languages/language.ts";
import { NO_PAGE, type OwnPage } from "../../src/endpoints/own-page.ts";
import type { SchemaDefinition } from "../../src/schemas/definition.ts";
import type { FieldDefinition } from "../../src/schemas/field-definition.ts";
import { axeInColours } from "../support/axe.ts";
import { chromiumPath, launchChromium } from "../support/chromium.ts";
import { startServer, type TestServer } from "../support/test-server.ts";
import { changeEndpoint } from "../support/terminal.ts";
import { until } from "../support/until.ts";

const SCHEMA: SchemaDefinition = {
  name: { type: "string", required: true, minLength: 2, maxLength: 80 },
  email: { type: "string", required: true, format: "email" },
  site: { type: "string", format: "url" },
  guests: { type: "number" },
  cake: { type: "string", enum: ["Apple & nut", "<b>Chocolate</b>"], required: true },
  days: { type: "array", items: { type: "string", enum: ["Fri", "Sat"] } },
  vegan: { type: "boolean" },
  address: { type: "object", required: true, properties: { city: { type: "string", required: true } } },
  message: { type: "string", maxLength: 5000 },
};

async function world(page: Partial<OwnPage> = {}, schema = SCHEMA) {
  const server = await startServer();
  const endpoint = await server.addEndpoint({
    schema,
    settings: { allowedOrigins: ["https://bakery.example"], page: { ...NO_PAGE, isOn: true, ...page } },
  });
  return { server, endpoint, path: `/p/${endpoint.id}` };
}

const GOOD = "name=Ana&email=ana%40example.org&cake=Apple+%26+nut&address%5Bcity%5D=Graz";

function send(server: TestServer, path: string, body: string, headers: Record<string, string> = {}) {
  const origin = server.url;
  return server.request({
    method: "POST",
    path,
    headers: { "content-type": "application/x-www-form-urlencoded", origin, ...headers },
    body,
  });
}

test("a form has no page of its own before its owner wants one, and none once it is switched off", async () => {
  const { server, endpoint, path } = await world({ isOn: false });
  expect((await server.request({ method: "GET", path })).status).toBe(404);
  expect((await send(server, path, GOOD)).status).toBe(404);
  const settings = { page: { ...NO_PAGE, isOn: true } };
  server.owner.now(() => changeEndpoint(endpoint.id, { settings }));
  await until(async () => (await server.request({ method: "GET", path })).status === 200);
  expect((await send(server, path, GOOD)).status).toBe(200);
  server.owner.now(() => changeEndpoint(endpoint.id, { settings: { page: NO_PAGE } }));
  await until(async () => (await server.request({ method: "GET", path })).status === 404);
  expect((await send(server, path, GOOD)).status).toBe(404);
  expect(server.stored()).toHaveLength(1);
});

test("the page asks for every field with what a browser can check, and loads nothing", async () => {
  const { server, path } = await world({ title: "Order <b>a cake</b>", intro: "One\nline\n\nTwo & three" });
  const { text, headers } = await server.request({ method: "GET", path });
  expect(text).toContain("<title>Order &lt;b&gt;a cake&lt;/b&gt;</title>");
  expect(text).toContain('<p dir="auto">One<br>line</p>');
  expect(text).toContain("Two &amp; three");
  expect(text).toContain('name="name" required minlength="2" maxlength="80"');
  expect(text).toContain('<input type="email" autocomplete="email" id="i1" name="email" required');
  expect(text).toContain("<option>&lt;b&gt;Chocolate&lt;/b&gt;</option>");
  expect(text).toContain('name="address[city]" required');
  expect(text).toMatch(/<textarea id="i8" name="message" maxlength="5000"/);
  expect(text).not.toContain("<script");
  expect(text).not.toContain("novalidate");
  expect(headers["content-security-policy"]).toMatch(
    /^default-src 'none'; style-src 'sha256-[^']+'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'$/,
  );
  expect(Buffer.byteLength(text)).toBeLessThan(30_000);
});

test("a pattern is given to the browser if it is anchored; the server looks at each", async () => {
  const schema: SchemaDefinition = {
    zip: { type: "string", pattern: "^[0-9]{5}$" },
    part: { type: "string", pattern: "[0-9]{5}" },
  };
  const { server, path } = await world({}, schema);
  const { text } = await server.request({ method: "GET", path });
  const patterns = [...text.matchAll(/name="(\w+)"[^>]*? pattern="([^"]*)"/g)].map(([, ...found]) => found);
  expect(patterns).toEqual([["zip", "^[0-9]{5}$"]]);
  for (const wrong of ["zip=A-80101", "part=8010"])
    expect((await send(server, path, wrong)).status).toBe(400);
  expect((await send(server, path, "zip=80101&part=A-80101")).status).toBe(200);
});

test("what is sent from the page is stored as from any form, without a key, and thanked for in the owner's words", async () => {
  const { server, path } = await world({ thanks: "We bake it.\nSee you!" });
  const { status, text } = await send(server, path, `${GOOD}&days=Fri&vegan=on&guests=3`);
  expect([status, text.includes("We bake it.<br>See you!")]).toEqual([200, true]);
  expect(server.stored()).toEqual([
    {
      name: "Ana",
      email: "ana@example.org",
      guests: 3,
      cake: "Apple & nut",
      days: ["Fri"],
      vegan: true,
      address: { city: "Graz" },
    },
  ]);
  const trapped = await send(server, path, `${GOOD}&_gotcha=x`);
  expect(trapped.status).toBe(429);
});

test("of a form that is paused there is no page, and a post that was begun before is refused and stored nowhere", async () => {
  const { server, endpoint, path } = await world();
  server.owner.now(() => changeEndpoint(endpoint.id, { state: "paused" }));
  await until(async () => (await server.request({ method: "GET", path })).status === 403);
  expect((await send(server, path, GOOD)).status).toBe(403);
  expect(server.stored()).toEqual([]);
  server.owner.now(() => changeEndpoint(endpoint.id, { state: "active" }));
  await until(async () => (await server.request({ method: "GET", path })).status === 200);
  expect((await send(server, path, GOOD)).status).toBe(200);
});

test("a post to the page from elsewhere is refused and stored nowhere, whatever origins the form allows", async () => {
  const { server, path } = await world();
  for (const origin of ["https://bakery.example", "https://evil.example", "null"])
    expect((await send(server, path, GOOD, { origin })).status).toBe(403);
  const { status } = await server.request({
    method: "POST",
    path,
    headers: { "content-type": "application/x-www-form-urlencoded" },
    body: GOOD,
  });
  expect([status, server.stored()]).toEqual([403, []]);
  expect(server.owner.prepare("SELECT count(*) FROM held").pluck().get()).toBe(0);
});

test("a name leads to the page of the form that had it there first, an id always; both say nothing of other forms", async () => {
  const { server, endpoint } = await world();
  const read = async (form: string) => (await server.request({ method: "GET", path: `/p/${form}` })).status;
  expect([await read("Contact"), await read(endpoint.id)]).toEqual([200, 200]);
  const page = { ...NO_PAGE, isOn: true, title: "Of a stranger" };
  const later = await server.addEndpoint({ settings: { page } });
  expect([await read("Contact"), await read(endpoint.id), await read(later.id)]).toEqual([200, 200, 200]);
  const named = await server.request({ method: "GET", path: "/p/Contact" });
  expect(named.text).not.toContain("Of a stranger");
  expect([await read("ep_none"), await read("x".repeat(3000)), await read("%00")]).toEqual([404, 404, 404]);
});

test("whoever opens a page that is not there, or is paused, reads that in their language, and nothing of a form that was sent", async () => {
  const { server, endpoint, path } = await world();
  const open = async (at: string) => {
    const headers = { "accept-language": "de", accept: "text/html" };
    const { status, text } = await server.request({ method: "GET", path: at, headers });
    return { status, text: text.replaceAll(/\s+/g, " ") };
  };
  const none = await open("/p/ep_none");
  expect(none.status).toBe(404);
  expect(none.text).toContain("<h1>Dieses Formular lässt sich nicht öffnen</h1>");
  expect(none.text).toContain("Unter dieser Adresse gibt es kein Formular, oder nicht mehr.");
  server.owner.now(() => changeEndpoint(endpoint.id, { state: "paused" }));
  await until(async () => (await open(path)).status === 403);
  const paused = await open(path);
  expect(paused.text).toContain("nimmt von hier oder zurzeit keine Angaben an");
  for (const { text } of [none, paused]) expect(text).not.toMatch(/gesendet|Zurück-Taste|schiefgegangen/);
});

test("a mistake is shown on the page with what was typed, and can be sent again from there", async () => {
  const { server, path } = await world();
  const { status, text } = await send(server, path, GOOD.replace("ana%40example.org", "nobody"));
  expect(status).toBe(400);
  expect(text).toContain("Email must be an e-mail address");
  expect(text).toContain('value="nobody"');
  expect(text).toMatch(/ action="\?once=[\w-]{22}"/);
});

const GUESTS: SchemaDefinition = {
  email: { type: "string", required: true, format: "email" },
  guests: {
    type: "array",
    label: "Guests",
    required: true,
    maxItems: 4,
    items: {
      type: "object",
      properties: {
        name: { type: "string", required: true },
        age: { type: "number", label: "Years" },
        days: { type: "array", items: { type: "string", enum: ["Fri", "Sat"] } },
      },
    },
  },
  note: { type: "string" },
};

test("after a mistake the whole form is shown, in the schema's order, with all that was typed and what is wrong beside it", async () => {
  const { server, path } = await world({ title: "Order a cake", logo: "https://bakery.example/l.png" });
  const typed = `${GOOD.replace("ana%40example.org", "nobody")}&days=Sat&vegan=on&guests=many&message=a%0D%0Ab&site=`;
  const { status, text, headers } = await send(server, path, typed, { "accept-language": "de" });
  expect([status, server.stored()]).toEqual([400, []]);
  const names = [...new Set([...text.matchAll(/ name="([^"]*)"/g)].map(([, name]) => name))];
  expect(names.slice(-9)).toEqual([
    "name",
    "email",
    "site",
    "guests",
    "cake",
    "days",
    "vegan",
    "address[city]",
    "message",
  ]);
  expect(text).toMatch(/name="email"[^>]* aria-invalid="true" aria-describedby="i1-problem" value="nobody"/);
  expect(text).toMatch(/id="i1-problem">[^<]*E-Mail-Adresse/);
  expect(text).toMatch(/name="guests"[^>]* aria-invalid="true"[^>]* value="many"/);
  expect(text).toMatch(/name="days"[^>]* value="Sat" checked/);
  expect(text).not.toMatch(/value="Fri"[^>]* checked/);
  expect(text).toMatch(/name="vegan"[^>]* checked/);
  expect(text).toContain(">\na\nb</textarea>".replace("a\nb", "a\r\nb"));
  expect(text).toMatch(/<h1 dir="auto">Order a cake<\/h1>\n<div class="wrong" role="alert"><h2>/);
  expect(text).toContain('<img class="logo" src="https://bakery.example/l.png"');
  expect(headers["content-security-policy"]).toMatch(
    /^img-src https:\/\/bakery\.example; default-src 'none'/,
  );
  expect(text).not.toContain("_origin");
});

test("a list of groups has rows; those left empty are no items, and a mistake is shown in its row", async () => {
  const { server, path } = await world({}, GUESTS);
  const { text } = await server.request({ method: "GET", path });
  expect([...text.matchAll(/<legend dir="auto">(Guests.*?)<\/legend>/g)].map(([, legend]) => legend)).toEqual(
    ["Guests 1", ...["Guests 2", "Guests 3"].map((row) => `${row} <span class="optional">(optional)</span>`)],
  );
  expect(text).toContain('name="guests[0][name]" required');
  expect(text).toMatch(/name="guests\[1\]\[name\]" (?!required)/);
  const row = (number: number, name: string, age: string) =>
    `guests%5B${number}%5D%5Bname%5D=${name}&guests%5B${number}%5D%5Bage%5D=${age}`;
  const begun = `email=ana%40example.org&${row(0, "", "")}&${row(1, "Ida", "8")}&${row(2, "", "9")}`;
  const wrong = await send(server, path, begun);
  expect(wrong.status).toBe(400);
  expect(wrong.text).toMatch(/name="guests\[0\]\[name\]"[^>]* value="Ida"/);
  expect(wrong.text).toMatch(/name="guests\[1\]\[name\]"[^>]* aria-invalid="true"[^>]* value=""/);
  expect(wrong.text).toMatch(/name="guests\[1\]\[age\]"[^>]* value="9"/);
  const sent = await send(server, path, `${begun.replace(row(2, "", "9"), row(2, "Bo", "9"))}&note=`);
  expect(sent.status).toBe(200);
  expect(server.stored()).toMatchObject([
    {
      guests: [
        { name: "Ida", age: 8 },
        { name: "Bo", age: 9 },
      ],
    },
  ]);
});

test.each([40, 1000])("a stranger who sends %i rows gets a page of a bounded size", async (count) => {
  const many = { ...GUESTS["guests"]!, maxItems: 10_000 } as FieldDefinition;
  const { server, path } = await world({}, { ...GUESTS, guests: many });
  const rows = Array.from({ length: count }, (_, row) => `guests[${row}][name]=${"x".repeat(30)}`).join("&");
  const { status, text } = await send(server, path, `email=x&${rows}`);
  expect([status, text.match(/<legend[^>]*>Guests/g)?.length ?? 0]).toEqual([400, count === 40 ? 10 : 0]);
  expect(Buffer.byteLength(text)).toBeLessThan(30_000);
});

test("the page speaks the language of its visitor or of the form, right to left if that is written so", async () => {
  const { server, endpoint, path } = await world();
  for (const language of LANGUAGES) {
    const { text } = await server.request({ method: "GET", path, headers: { "accept-language": language } });
    const direction = language === "ar" || language === "he" ? "rtl" : "ltr";
    expect(text).toContain(`<html lang="${language}" dir="${direction}">`);
    expect(text.includes("<button>Send</button>")).toBe(language === "en");
  }
  server.owner.now(() => changeEndpoint(endpoint.id, { settings: { language: "de" } }));
  await until(async () =>
    (await server.request({ method: "GET", path })).text.includes("<button>Senden</button>"),
  );
});

test("a colour and a logo are the only things that an owner brings along, and the policy names them", async () => {
  const { server, path } = await world({ colour: "#ffcc00", logo: "https://bakery.example/logo.png?a=1" });
  const { text, headers } = await server.request({ method: "GET", path });
  expect(text).toContain('<img class="logo" src="https://bakery.example/logo.png?a=1" alt="">');
  expect(text).toContain("button, .seal { background: #ffcc00; color: #000000; }");
  expect(headers["content-security-policy"]).toMatch(
    /^img-src https:\/\/bakery\.example; default-src 'none'; style-src/,
  );
});

test("a form with a field for files takes them on its page", async () => {
  const { server, path } = await world(
    {},
    { name: { type: "string" }, cv: { type: "file", accept: ["text/plain"] } },
  );
  const { text } = await server.request({ method: "GET", path });
  expect(text).toMatch(
    /<form method="post" action="[^"]*" accept-charset="utf-8" enctype="multipart\/form-data">/,
  );
  expect(text).toContain(
    '<input type="file" id="i1" name="cv" aria-describedby="i1-hint" accept="text/plain">',
  );
  const form = new FormData();
  form.set("name", "Ana");
  form.set("cv", new Blob(["I bake."], { type: "text/plain" }), "cv.txt");
  const answer = await fetch(server.url + path, {
    method: "POST",
    body: form,
    headers: { origin: server.url },
  });
  expect(answer.status).toBe(200);
  expect(server.stored()).toMatchObject([{ name: "Ana", cv: [{ name: "cv.txt", size: 7 }] }]);
});

test.each<[Partial<OwnPage>, string]>([
  [{ colour: "red" }, 'not a colour: "red"'],
  [{ colour: "#fff;} body{display:none" }, "not a colour"],
  [{ logo: "https://evil.example/x.png" }, "https://evil.example is none of them"],
  [{ logo: "http://bakery.example/x.png" }, "not an https address"],
  [{ logo: "javascript:alert(1)" }, "not an https address"],
  [{ title: "x".repeat(101) }, "title is longer than 100 characters"],
  [{ intro: "x".repeat(2001) }, "introduction is longer than 2000 characters"],
  [{ thanks: "a\u0007b" }, "thank-you text has a control character"],
])("%j is refused: %s", async (page, complaint) => {
  const server = await startServer();
  const settings = { allowedOrigins: ["https://bakery.example"], page: { ...NO_PAGE, ...page } };
  await expect(server.addEndpoint({ settings })).rejects.toThrow(complaint);
});

describe.skipIf(chromiumPath === null)("in Chromium, on a phone", () => {
  const browser = chromiumPath === null ? null : launchChromium();
  afterAll(async () => (await browser)?.close());

  async function open(server: TestServer, path: string, options: BrowserContextOptions): Promise<Page> {
    const phone = { viewport: { width: 320, height: 640 }, locale: "de-DE", ...options };
    const context = await (await browser!).newContext(phone);
    const page = await context.newPage();
    await page.goto(server.url + path);
    return page;
  }

  async function order(page: Page): Promise<void> {
    const sending = page.getByRole("button", { name: "Senden" });
    await sending.click();
    // The browser asks for what is missing, and sends nothing: the page that shows a form again is another one.
    expect(await page.locator("form[novalidate]").count()).toBe(0);
    await page.locator('[name="name"]').fill("Ana");
    await page.locator('[name="email"]').fill("ana@example.org");
    await page.locator('[name="cake"]').selectOption("Apple & nut");
    await page.locator('[name="address[city]"]').fill("Graz");
    await sending.click();
    await page.getByRole("heading", { name: "Vielen Dank" }).waitFor();
  }

  test("the form is filled in, sent and thanked for without script", async () => {
    const { server, path } = await world({ title: "Order a cake" });
    const page = await open(server, path, { javaScriptEnabled: false });
    await order(page);
    expect(server.stored()).toMatchObject([{ name: "Ana", address: { city: "Graz" } }]);
    await page.context().close();
  });

  test("a required list of groups is filled in without script, also after a mistake, which keeps all that was typed", async () => {
    const { server, path } = await world({}, { ...GUESTS, code: { type: "string", pattern: "^a" } });
    const page = await open(server, path, { javaScriptEnabled: false });
    await page.locator('[name="email"]').fill("ana@example.org");
    await page.locator('[name="guests[0][name]"]').fill("Ida");
    await page.locator('[name="guests[2][name]"]').fill("Bo");
    await page.locator('[name="guests[2][age]"]').fill("nine");
    for (const day of ["Fri", "Sat"]) await page.locator(`[name="guests[2][days]"][value="${day}"]`).check();
    await page.locator('[name="note"]').fill("No nuts");
    await page.getByRole("button", { name: "Senden" }).click();
    const group = page.getByRole("group", { name: "Guests 2" });
    await group.locator("[aria-invalid=true]").fill("9", { timeout: 5000 });
    await page.getByRole("button", { name: "Noch einmal senden" }).click();
    await page.getByRole("heading", { name: "Vielen Dank" }).waitFor();
    expect(server.stored()).toEqual([
      {
        email: "ana@example.org",
        guests: [{ name: "Ida" }, { name: "Bo", age: 9, days: ["Fri", "Sat"] }],
        note: "No nuts",
      },
    ]);
    await page.context().close();
  });

  test("axe finds nothing in light and dark, and nothing is cut off", async () => {
    const { server, path } = await world({ title: "Order a cake", intro: "Tell us.", colour: "#7a1f5c" });
    const page = await open(server, path, {});
    const colour = "getComputedStyle(document.querySelector('form button')).backgroundColor";
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await page.evaluate(colour)).toBe("rgb(122, 31, 92)");
    }
    const overflow = "document.documentElement.scrollWidth - document.documentElement.clientWidth";
    expect([await axeInColours(page), await page.evaluate(overflow)]).toEqual([[], 0]);
    await order(page);
    expect([await axeInColours(page), await page.evaluate(overflow)]).toEqual([[], 0]);
    await page.context().close();
  });
});
