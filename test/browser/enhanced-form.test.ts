import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { chromiumPath, launchChromium } from "../support/chromium.ts";
import type { Endpoint } from "../support/machine-database.ts";
import { makeMachine } from "../support/operator-machine.ts";
import type { RunningServer } from "../support/running-server.ts";
import { startWebSite, type WebSite } from "../support/web-site.ts";

const schema = {
  name: { type: "string", required: true },
  email: { type: "string", format: "email" },
  age: { type: "number", minimum: 18 },
  tags: { type: "array", items: { type: "string" }, maxItems: 1 },
};
const FIELDS = `<label>Name <input name="name"></label>
  <label for="email">E-mail</label><input id="email" name="email" aria-describedby="hint"><span id="hint">Yours</span>
  <input name="age" aria-label="Age">
  <label><input type="checkbox" name="tags[]" value="a">A</label><label><input type="checkbox" name="tags[]" value="b">B</label>`;

describe.skipIf(chromiumPath === null)("a form with data-formsvc", () => {
  const machine = makeMachine();
  let server: RunningServer;
  let site: WebSite;
  let browser: Browser;
  let form: Endpoint;
  let page: Page;

  beforeAll(async () => {
    const plan = { monthlySubmissions: null, endpoints: null, customSpam: true };
    machine.configure({ plans: { hobby: plan, tiny: { ...plan, monthlySubmissions: 1 } } });
    [server, site, browser] = await Promise.all([machine.serve(), startWebSite(), launchChromium()]);
    form = await machine.createEndpoint({ schema, allowOrigin: [site.origin] });
  });
  afterEach(() => page.close());
  afterAll(async () => {
    await browser.close();
    await Promise.all([site.stop(), machine.remove()]);
  });

  interface Shown {
    readonly form?: Endpoint;
    readonly fields?: string;
    readonly attributes?: string;
    readonly headers?: Record<string, string>;
    readonly locale?: string;
  }

  async function show({
    form: shown = form,
    fields = FIELDS,
    attributes = "",
    headers = {},
    locale,
  }: Shown = {}) {
    const action = `${server.url}/f/${shown.publishable}`;
    const html = `<!doctype html><form data-formsvc action="${action}" method="post" ${attributes}>${fields}<button>Send</button></form>
      <script src="${server.url}/formsvc.js" defer></script>`;
    page = await browser.newPage(locale === undefined ? {} : { locale });
    page.setDefaultTimeout(15_000);
    await page.goto(site.put("/enhanced", html, headers));
  }
  const status = () => page.locator("[data-formsvc-status]");
  const posts = (wanted: Endpoint) => machine.stored(wanted).then((all) => all.length);

  test("is sent in the background and stored without the control members", async () => {
    await show({ attributes: 'data-formsvc-success="Danke!"' });
    await page.fill("[name=name]", "Ana");
    await page.fill("[name=age]", "42");
    await page.check("[value=a]");
    await page.click("button");
    await status().filter({ hasText: "Danke!" }).waitFor();
    expect(page.url()).toBe(`${site.origin}/enhanced`);
    expect(await page.inputValue("[name=name]")).toBe("");
    expect((await machine.stored(form)).at(-1)).toEqual({ name: "Ana", age: 42, tags: ["a"] });
  });

  test("tells the time from the first sight to the sending, and adds a honeypot that no person meets", async () => {
    await show();
    const sent = page.waitForRequest((request) => request.method() === "POST");
    await page.fill("[name=name]", "Ana");
    await page.click("button");
    const fields = new URLSearchParams((await sent).postData() ?? "");
    expect(Number(fields.get("_elapsed_ms"))).toBeGreaterThan(0);
    expect(fields.get("_gotcha")).toBe("");
    const trap = page.locator("[name=_gotcha]");
    expect((await trap.boundingBox())?.x).toBeLessThan(-1000);
    expect([await trap.getAttribute("tabindex"), await trap.getAttribute("aria-hidden")]).toEqual([
      "-1",
      "true",
    ]);
  });

  test("is answered in the language of the nearest lang around it", async () => {
    await show({ attributes: 'lang="de"' });
    await page.fill("[name=email]", "nowhere");
    await page.click("button");
    await page.getByText("name fehlt noch").waitFor();
    await page.getByText("email muss eine E-Mail-Adresse sein").waitFor();
    await page.fill("[name=name]", "Ida");
    await page.fill("[name=email]", "ida@example.com");
    await page.click("button");
    await status().filter({ hasText: "Vielen Dank. Ihre Angaben sind angekommen." }).waitFor();
    expect((await machine.stored(form)).at(-1)).toEqual({ name: "Ida", email: "ida@example.com" });
  });

  test("on a page without lang speaks the form's own language, else the browser's, also in its thanks", async () => {
    const french = await machine.createEndpoint({ name: "Salon", allowOrigin: [site.origin] });
    await machine.mustRun(["endpoint", "set", "Salon", "--language", "fr"]);
    const fields = '<input name="name" value="Ida"><input name="email" value="ida@example.com">';
    const thanksOf = async (shown: Endpoint): Promise<string | null> => {
      await show({ form: shown, locale: "de-AT", fields });
      await page.click("button");
      return status().filter({ hasText: /\S/ }).textContent();
    };
    expect(await thanksOf(form)).toBe("Vielen Dank. Ihre Angaben sind angekommen.");
    expect(await thanksOf(french)).toBe("Merci. Vos réponses ont bien été reçues.");
  });

  test("keeps the language that the form itself names", async () => {
    const fields = `${FIELDS}<input type="hidden" name="_language" value="fr">`;
    await show({ attributes: 'lang="de"', fields });
    await page.click("button");
    await page.getByText("name : ce champ est obligatoire").waitFor();
    expect(await page.getByText("fehlt noch").count()).toBe(0);
  });

  test("shows what is wrong beside each input, tied to it, and takes it away again", async () => {
    await show();
    // The last field of the schema is the first on the page.
    await page.evaluate("document.forms[0].prepend(document.querySelector('[name=age]'))");
    await page.fill("[name=email]", "nowhere");
    await page.fill("[name=age]", "7");
    for (const tag of ["a", "b"]) await page.check(`[value=${tag}]`);
    await page.keyboard.press("Enter");
    await status().filter({ hasText: "Some of your answers need another look." }).waitFor();
    const described = async (selector: string) => {
      const ids = ((await page.getAttribute(selector, "aria-describedby")) ?? "").split(" ");
      return Promise.all(ids.map((id) => page.textContent(`[id="${id}"]`)));
    };
    expect(await described("[name=name]")).toEqual(["Name is required"]);
    expect(await described("[name=email]")).toEqual(["Yours", "Email must be an e-mail address"]);
    expect(await described("[name=age]")).toEqual(["Age must be at least 18"]);
    expect(await described("[value=a]")).toEqual(["Tags must have at most 1 item"]);
    expect(await page.locator("[aria-invalid=true]").count()).toBe(4);
    // The keyboard is in the first of them on the page, so that the person can go on typing.
    expect(await page.evaluate("document.activeElement.name")).toBe("age");
    await page.keyboard.type("0");
    await page.fill("[name=email]", "");
    await page.fill("[name=name]", "Ana");
    await page.uncheck("[value=b]");
    await page.click("button");
    await status().filter({ hasText: "Thank you" }).waitFor();
    expect(await page.locator("[aria-invalid], [data-formsvc-error]").count()).toBe(0);
    expect(await page.getAttribute("[name=email]", "aria-describedby")).toBe("hint");
  });

  test("a double click stores once, and the form says that it is busy meanwhile", async () => {
    const before = await posts(form);
    await show();
    await page.fill("[name=name]", "Twice");
    let release = () => {};
    const held = new Promise<void>((resolve) => (release = resolve));
    let sent = 0;
    await page.route("**/f/*", async (route) => {
      sent += 1;
      await held;
      await route.continue();
    });
    await page.dblclick("button");
    await page.locator("form[aria-busy=true] button[aria-disabled=true]").waitFor();
    release();
    await status().filter({ hasText: "Thank you" }).waitFor();
    expect(await page.locator("[aria-busy], [aria-disabled]").count()).toBe(0);
    expect(sent).toBe(1);
    expect(await posts(form)).toBe(before + 1);
  });

  test("an answer that is lost on the way is asked for again, and stored once", async () => {
    const before = await posts(form);
    await show();
    await page.fill("[name=name]", "Lost answer");
    const keys: (string | undefined)[] = [];
    await page.route("**/f/*", async (route) => {
      keys.push(route.request().headers()["idempotency-key"]);
      if (keys.length > 1) return route.continue();
      await route.fetch();
      return route.abort("connectionreset");
    });
    await page.click("button");
    await status().filter({ hasText: "Thank you" }).waitFor();
    expect(keys).toHaveLength(2);
    expect(keys[1]).toBe(keys[0]);
    expect(await posts(form)).toBe(before + 1);
  });

  test("503 is tried again after the time that it names, anything else is not", async () => {
    await show();
    await page.fill("[name=name]", "Patient");
    const times: number[] = [];
    await page.route("**/f/*", async (route) => {
      times.push(performance.now());
      if (times.length > 1) return route.continue();
      return route.fulfill({
        status: 503,
        headers: {
          "access-control-allow-origin": "*",
          "access-control-expose-headers": "Retry-After",
          "retry-after": "2",
        },
        json: { error: "Service unavailable", message: "Later." },
      });
    });
    await page.click("button");
    await status().filter({ hasText: "Thank you" }).waitFor();
    expect((times[1] ?? 0) - (times[0] ?? 0)).toBeGreaterThanOrEqual(1900);
  });

  test("a server that stays away is told after the last try, and sending again is still the same post", async () => {
    const before = await posts(form);
    await show();
    await page.clock.install();
    await page.fill("[name=name]", "Stubborn");
    const keys = new Set<string | undefined>();
    let reachable = false;
    await page.route("**/f/*", async (route) => {
      keys.add(route.request().headers()["idempotency-key"]);
      if (reachable) return route.continue();
      await route.fetch();
      return route.abort("connectionreset");
    });
    await page.click("button");
    await expect
      .poll(
        async () => {
          await page.clock.runFor(5000);
          return status().textContent();
        },
        { timeout: 15_000 },
      )
      .toContain("could not be reached");
    expect(await page.inputValue("[name=name]")).toBe("Stubborn");
    reachable = true;
    await page.click("button");
    await status().filter({ hasText: "Thank you" }).waitFor();
    expect(keys.size).toBe(1);
    expect(await posts(form)).toBe(before + 1);
  });

  test("a post that looks like spam, the monthly limit and a file are told in words", async () => {
    await show();
    await page.fill("[name=name]", "Robot");
    await page.evaluate("document.querySelector('[name=_gotcha]').value = 'I fill everything'");
    await page.click("button");
    await status().filter({ hasText: "could not be sent" }).waitFor();
    await page.close();

    const made = await machine.json(["workspace", "create", "--name", "Tiny"]);
    const workspace = (made["workspace"] as { id: string }).id;
    await machine.json(["workspace", "set-plan", workspace, "tiny"]);
    const limited = await machine.createEndpoint({ schema: {}, workspace });
    await show({ form: limited });
    await page.click("button");
    await status().filter({ hasText: "Thank you" }).waitFor();
    await page.fill("[name=name]", "Ana");
    await page.click("button");
    await status().filter({ hasText: "We have your message" }).waitFor();
    // It is there: a second press does not send it again.
    await expect.poll(() => page.inputValue("[name=name]")).toBe("");
    await page.close();

    await show({ fields: '<input name="name" value="A"><input type="file" name="cv">' });
    await page.setInputFiles("[name=cv]", {
      name: "cv.txt",
      mimeType: "text/plain",
      buffer: Buffer.from("x"),
    });
    await page.click("button");
    await status().filter({ hasText: "leave files out" }).waitFor();
    expect(await page.inputValue("[name=name]")).toBe("A");
  });

  /** Sends the form and has it answered with this, until the status of the page tells of it. */
  async function answerWith(code: number, body: string, told: string) {
    await page.route("**/f/*", (route) =>
      route.fulfill({ status: code, headers: { "access-control-allow-origin": "*" }, body }),
    );
    const answered = page.waitForResponse("**/f/*");
    await page.click("button");
    await answered;
    await status().filter({ hasText: told }).waitFor();
  }

  test("shows the message of a 400 whatever its details are", async () => {
    await show();
    const oddDetails = [
      { body: "malformed" },
      { name: null },
      { name: { issues: [] } },
      { name: { issues: [1] } },
    ];
    for (const details of [...oddDetails, ["name"], "name", 1, null, undefined]) {
      const body = { error: "Invalid request", message: "Too many fields.", details };
      await answerWith(400, JSON.stringify(body), "Too many fields.");
      expect(await page.locator("[aria-invalid], [aria-busy]").count()).toBe(0);
    }
  });

  test("takes an answer that is not the server's for no success", async () => {
    await show();
    await page.fill("[name=name]", "Kept");
    for (const body of ["null", "[]", "5", '"text"', "{}", '{"error":1,"message":{}}', "<h1>Sign in</h1>"]) {
      for (const code of [200, 400]) await answerWith(code, body, "The server could not be reached.");
      expect(await page.inputValue("[name=name]")).toBe("Kept");
    }
  });

  test("listeners can look at everything and take over", async () => {
    await show();
    await page.evaluate(`
      window.heard = [];
      for (const name of ["submit", "success", "error"]) {
        document.querySelector("form").addEventListener("formsvc:" + name, (event) => {
          heard.push([name, event.detail.error ?? event.detail.ok ?? event.detail.data.get("name")]);
          if (name !== "submit" || event.detail.data.get("name") === "stop") event.preventDefault();
        });
      }`);
    const send = async (name: string) => {
      await page.fill("[name=name]", name);
      await page.click("button");
    };
    const heard = () => page.evaluate("heard");
    await send("stop");
    await send("");
    await expect.poll(heard).toEqual([
      ["submit", "stop"],
      ["submit", ""],
      ["error", "Validation failed"],
    ]);
    await send("Ana");
    await expect.poll(async () => ((await heard()) as unknown[]).at(-1)).toEqual(["success", true]);
    expect(await status().textContent()).toBe("");
    expect(await page.inputValue("[name=name]")).toBe("Ana");
  });

  test("the form's own _redirect is followed, and a form that comes later is served too", async () => {
    await show({
      fields: '<input name="name" value="A"><input type="hidden" name="_redirect" value="/thanks">',
    });
    site.put("/thanks", "<h1>Thanks</h1>");
    await page.evaluate(
      "{ const late = document.forms[0].cloneNode(true); document.forms[0].replaceWith(late); }",
    );
    await page.click("button");
    await page.waitForURL(`${site.origin}/thanks`);
    expect(await page.textContent("h1")).toBe("Thanks");
  });

  test("works under a strict policy of the page, pinned by its hash", async () => {
    const [line = ""] = (await (await fetch(`${server.url}/formsvc.js`)).text()).split("\n");
    const tag = (/<script.*<\/script>/.exec(line)?.[0] ?? "").replace("…", server.url);
    const action = `${server.url}/f/${form.publishable}`;
    const policy = `default-src 'none'; script-src ${server.url}; connect-src ${server.url}`;
    const html = `<form data-formsvc action="${action}" method="post"><input name="name" value="A"><button>Send</button></form>${tag}`;
    page = await browser.newPage();
    const complaints: string[] = [];
    page.on("console", (message) => complaints.push(message.text()));
    await page.goto(site.put("/strict", html, { "content-security-policy": policy }));
    await page.click("button");
    await status().filter({ hasText: "Thank you" }).waitFor();
    expect(complaints.filter((text) => !text.includes("favicon"))).toEqual([]);

    const wrong = html.replace(/integrity="sha384-.{4}/, 'integrity="sha384-AAAA');
    await page.goto(site.put("/tampered", wrong, { "content-security-policy": policy }));
    expect(await page.evaluate("typeof formsvc")).toBe("undefined");
  });

  test("formsvc.submit sends data and answers with the outcome", async () => {
    const before = await posts(form);
    await show();
    const submit = (data: object, more = "") =>
      page.evaluate(`formsvc.submit(${JSON.stringify(form.publishable)}, ${JSON.stringify(data)}${more})`);
    expect(await submit({ name: "App", age: 20 })).toEqual({
      ok: true,
      status: 200,
      success: true,
      message: "Submission received",
      submission_id: expect.stringMatching(/^sub_/),
    });
    expect(await submit({})).toMatchObject({
      ok: false,
      status: 400,
      error: "Validation failed",
      details: { name: { issues: [{ path: ["name"] }] } },
    });
    const key = ', { idempotencyKey: "app-1" }';
    const [first, second] = [await submit({ name: "Once" }, key), await submit({ name: "Once" }, key)];
    expect(second).toEqual(first);
    expect(await posts(form)).toBe(before + 2);
  });
});
