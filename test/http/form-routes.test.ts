import { afterAll, beforeAll, expect, test } from "vitest";
import { listKeys } from "../../src/keys/key-store.ts";
import type { SchemaDefinition } from "../../src/schemas/definition.ts";
import { launchServer, startServer, type TestEndpoint, type TestServer } from "../support/test-server.ts";
import { sendRequest } from "../support/http-client.ts";

const schema: SchemaDefinition = {
  name: { type: "string", required: true, maxLength: 40 },
  age: { type: "number", minimum: 18 },
  agree: { type: "boolean" },
  tags: { type: "array", items: { type: "string" } },
  plan: { type: "string", enum: ["free", "paid"] },
  message: { type: "string" },
};
const SITE = "https://site.example";
const BROWSER = {
  "user-agent": "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
  "accept-language": "en",
  accept: "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
};

let server: TestServer;
let open: TestEndpoint;
let listed: TestEndpoint;
let withPages: TestEndpoint;

beforeAll(async () => {
  server = await launchServer();
  open = await server.addEndpoint({ schema });
  listed = await server.addEndpoint({
    schema,
    settings: { allowedOrigins: [SITE, "https://*.site.example", "null"] },
  });
  const pages = { successUrl: `${SITE}/thanks`, errorUrl: `${SITE}/oops?a=1` };
  withPages = await server.addEndpoint({ schema, settings: pages });
});
afterAll(() => server.stop());

interface Sent {
  readonly form?: TestEndpoint;
  readonly key?: string;
  readonly body: URLSearchParams | FormData | string | Record<string, string>;
  readonly headers?: Record<string, string>;
}

async function post({ form = open, key = form.publishable, body, headers = {} }: Sent) {
  const isPlain = body.constructor === Object;
  const answer = await fetch(`${server.url}/f/${key}`, {
    method: "POST",
    body: isPlain ? new URLSearchParams(body as Record<string, string>) : (body as FormData),
    headers: { ...BROWSER, ...headers },
    redirect: "manual",
  });
  const text = await answer.text();
  return { status: answer.status, headers: answer.headers, text, location: answer.headers.get("location") };
}

const json = { accept: "application/json" };

test("a urlencoded form is coerced, stored and answered with a page that runs no script", async () => {
  const body = new URLSearchParams([
    ["name", "Ünal & Söhne"],
    ["age", "42"],
    ["agree", "on"],
    ["tags", "a"],
    ["tags", "b"],
    ["plan", ""],
  ]);
  const answer = await post({ body, headers: { origin: SITE } });
  expect(answer.status).toBe(200);
  expect(answer.headers.get("content-type")).toBe("text/html; charset=utf-8");
  expect(answer.text).toContain("<h1>Thank you</h1>");
  expect(answer.text).toContain(`href="${SITE}/"`);
  expect(answer.text).not.toContain("<script");
  const policy = answer.headers.get("content-security-policy") ?? "";
  expect(policy).toMatch(/^default-src 'none'; style-src 'sha256-[^']+'; form-action 'self'; /);
  expect(policy).not.toContain("unsafe");
  expect(answer.headers.get("cache-control")).toBe("no-store");
  expect(server.stored(open.id).at(-1)).toEqual({
    name: "Ünal & Söhne",
    age: 42,
    agree: true,
    tags: ["a", "b"],
  });
});

test("a multipart form is the same; a file input left empty is absent", async () => {
  const body = new FormData();
  body.set("name", "Ana\r\nRuiz ✓");
  body.append("tags[]", "x");
  body.set("upload", new File([], ""));
  const answer = await post({ body });
  expect(answer.status).toBe(200);
  expect(server.stored(open.id).at(-1)).toEqual({ name: "Ana\nRuiz ✓", tags: ["x"] });
});

test("a file is refused with 415, in a page that still has the rest of the input", async () => {
  for (const file of [new File(["x"], "a.txt"), new File([], "empty.txt"), new File(["x"], "")]) {
    const body = new FormData();
    body.set("name", "Kept <b>");
    body.set("upload", file);
    const answer = await post({ body });
    expect(answer.status).toBe(415);
    expect(answer.text).toContain('value="Kept &lt;b&gt;"');
    expect(answer.text).toContain("Unsupported media type");
  }
});

test("other media types are 415, a broken multipart body and too many fields are 400", async () => {
  const cases: [number, string, string][] = [
    [415, "application/json", "{}"],
    [415, "text/plain", "name=A"],
    [415, "application/x-www-form-urlencodedX", "name=A"],
    [400, "multipart/form-data", "x"],
    [400, "multipart/form-data; boundary=b", "--b\r\nContent-Disposition: form-data; name=a\r\n\r\nhello"],
    [400, "application/x-www-form-urlencoded", "a=1&".repeat(1001)],
    [413, "application/x-www-form-urlencoded", `name=${"a".repeat(70_000)}`],
    [413, "multipart/form-data; boundary=b", "a".repeat(70_000)],
  ];
  for (const [status, type, body] of cases) {
    const answer = await post({ body, headers: { "content-type": type, ...json } });
    const general = ["error", "message", "visitor_message"];
    const members = status === 400 ? [...general, "details"] : general;
    expect([answer.status, type, Object.keys(JSON.parse(answer.text) as object)]).toEqual([
      status,
      type,
      members,
    ]);
  }
});

test("the body limit holds for bodies of unknown length too, of many small parts", async () => {
  const part = `--b\r\nContent-Disposition: form-data; name="a"\r\n\r\n${"x".repeat(900)}\r\n`;
  const answer = await sendRequest(server.url, {
    method: "POST",
    path: `/f/${open.publishable}`,
    headers: { "content-type": "multipart/form-data; boundary=b", ...json },
    body: `${part.repeat(100)}--b--\r\n`,
    chunked: true,
  });
  expect([answer.status, answer.json["error"]]).toEqual([413, "Payload too large"]);
});

test("clients that ask for JSON get it, for success and for errors, readable across origins", async () => {
  const good = await post({ body: { name: "A" }, headers: json });
  expect(JSON.parse(good.text)).toEqual({
    success: true,
    message: "Submission received",
    submission_id: expect.stringMatching(/^sub_/),
  });
  const bad = await post({ body: { age: "x" }, headers: { ...json, origin: SITE } });
  expect(bad.status).toBe(400);
  expect(bad.headers.get("access-control-allow-origin")).toBe("*");
  const { details } = JSON.parse(bad.text) as { details: Record<string, { issues: { code: string }[] }> };
  expect(details["name"]?.issues[0]).toMatchObject({ code: "invalid_type", received: "undefined" });
  expect(details["age"]?.issues[0]).toMatchObject({ expected: "number", received: "string" });
  for (const accept of ["application/json, text/plain, */*", "application/json, text/html;q=0.9"]) {
    expect((await post({ body: { name: "A" }, headers: { accept } })).text).toMatch(/^\{/);
  }
  for (const accept of ["*/*", "text/html, application/json;q=0.9", "application/json;q=0", ""]) {
    expect((await post({ body: { name: "A" }, headers: { accept } })).text).toMatch(/^<!doctype/);
  }
});

test("a preflight allows the headers of the browser client for a day", async () => {
  const answer = await fetch(`${server.url}/f/${open.publishable}`, { method: "OPTIONS" });
  expect(answer.status).toBe(204);
  expect(answer.headers.get("access-control-max-age")).toBe("86400");
  expect(answer.headers.get("access-control-allow-headers")).toContain("Idempotency-Key");
});

test("the endpoint's pages get 303, errors with one word for what became of the form", async () => {
  const good = await post({ form: withPages, body: { name: "A" } });
  expect([good.status, good.location]).toEqual([303, `${SITE}/thanks`]);
  const bad = await post({ form: withPages, body: { name: "" } });
  expect([bad.status, bad.location]).toEqual([303, `${SITE}/oops?a=1&error=invalid`]);
  const file = new FormData();
  file.set("upload", new File(["x"], "a.txt"));
  expect((await post({ form: withPages, body: file })).location).toContain("error=invalid");
  const large = await post({ form: withPages, body: { name: "a".repeat(70_000) } });
  expect([large.status, large.location]).toEqual([303, `${SITE}/oops?a=1&error=invalid`]);
});

test("_redirect is followed to an allowed origin only, and is never stored", async () => {
  const cases: [TestEndpoint, string, string, string | null][] = [
    [listed, SITE, `${SITE}/a?b#c`, `${SITE}/a?b#c`],
    [listed, SITE, "https://www.site.example/", "https://www.site.example/"],
    [listed, SITE, "/relative", `${SITE}/relative`],
    [listed, SITE, "https://evil.example/", null],
    [listed, SITE, "https://site.example.evil.example/", null],
    [listed, SITE, "//evil.example/", null],
    [listed, SITE, "https://site.example@evil.example/", null],
    [listed, SITE, "javascript:alert(1)", null],
    [listed, SITE, "data:text/html,x", null],
    [listed, "null", "data:text/html,x", null],
    [listed, SITE, `${SITE}/${"a".repeat(2001)}`, null],
    [open, "https://any.example", "https://any.example/ok", "https://any.example/ok"],
    [open, "https://any.example", "https://other.example/", null],
    [open, "null", "https://other.example/", null],
    [withPages, "https://any.example", "https://any.example/ok", "https://any.example/ok"],
    [withPages, "https://any.example", "https://other.example/", `${SITE}/thanks`],
  ];
  for (const [form, origin, redirect, expected] of cases) {
    const answer = await post({ form, body: { name: "A", _redirect: redirect }, headers: { origin } });
    expect([redirect, answer.location, answer.status]).toEqual([
      redirect,
      expected,
      expected === null ? 200 : 303,
    ]);
  }
  const noOrigin = await post({ body: { name: "A", _redirect: "https://other.example/" } });
  expect(noOrigin.location).toBeNull();
  expect(server.stored(listed.id).at(-1)).toEqual({ name: "A" });
});

test.each<[string, string | null, boolean]>([
  ["an allowed address", `${SITE}/ok`, false],
  ["a path of the page's own site", "/ok", false],
  ["no address", null, false],
  ["an empty one", "", false],
  ["another site", "https://evil.example/", true],
  ["another scheme", "javascript:alert(1)", true],
])(
  "whoever makes the form is told by header and JSON whether _redirect is ignored: %s",
  async (_, redirect, isIgnored) => {
    const body = { name: "A", ...(redirect !== null && { _redirect: redirect }) };
    const send = async (accept: string) => {
      const answer = await fetch(`${server.url}/f/${listed.publishable}`, {
        method: "POST",
        headers: { origin: SITE, accept },
        body: new URLSearchParams(body),
        redirect: "manual",
      });
      return { notice: answer.headers.get("x-formsvc-notice"), text: await answer.text() };
    };
    const notice = isIgnored ? "redirect-ignored" : null;
    expect((await send("text/html")).notice).toBe(notice);
    const json = await send("application/json");
    expect(json.notice).toBe(notice);
    expect(JSON.parse(json.text)).toEqual({
      success: true,
      message: "Submission received",
      submission_id: expect.stringMatching(/^sub_/),
      ...(isIgnored && { notices: ["redirect_ignored"] }),
    });
  },
);

test("if origins are listed, other origins, no origin and an unlisted null are refused", async () => {
  const onlySite = await server.addEndpoint({ schema, settings: { allowedOrigins: [SITE] } });
  for (const headers of [{ origin: "https://evil.example" }, { origin: "null" }, {}] as Record<
    string,
    string
  >[]) {
    const answer = await post({ form: onlySite, body: { name: "A" }, headers });
    expect(answer.status).toBe(403);
    expect(answer.text).toContain("Forbidden");
  }
  expect(server.stored(onlySite.id)).toEqual([]);
  expect((await post({ form: listed, body: { name: "A" }, headers: { origin: "null" } })).status).toBe(200);
});

test("a wildcard stands for every sub-domain, and for nothing else", async () => {
  const form = await server.addEndpoint({
    schema,
    settings: { allowedOrigins: ["https://*.wild.example:8443"] },
  });
  const cases: [string, number][] = [
    ["https://www.wild.example:8443", 200],
    ["https://a.b.wild.example:8443", 200],
    ["https://wild.example:8443", 403],
    ["https://.wild.example:8443", 403],
    ["https://evilwild.example:8443", 403],
    ["https://www.wild.example", 403],
    ["http://www.wild.example:8443", 403],
    ["https://www.wild.example:8443.evil.example", 403],
    ["https://evil.example/.wild.example:8443", 403],
    ["https://evil.example@x.wild.example:8443", 403],
  ];
  for (const [origin, status] of cases) {
    const answer = await post({ form, body: { name: "A" }, headers: { origin, ...json } });
    expect([origin, answer.status]).toEqual([origin, status]);
    expect(answer.headers.get("access-control-allow-origin")).toBe(status === 200 ? origin : "*");
  }
});

test("the error page shows the input again with what is wrong beside it, and sends it for the first page", async () => {
  const form = await server.addEndpoint({ schema, settings: { allowedOrigins: [SITE] } });
  const answer = await post({
    form,
    body: {
      age: "7",
      plan: "none",
      message: "two\nlines </textarea><script>x</script>",
      _redirect: "/ok",
      _gotcha: "",
    },
    headers: { origin: SITE },
  });
  expect(answer.status).toBe(400);
  expect(answer.text).toContain("<h1>Please check your answers</h1>");
  expect(answer.text).toMatch(/name="age" aria-invalid="true" aria-describedby="i0-problem" value="7"/);
  expect(answer.text).toContain("Age must be at least 18");
  expect(answer.text).toContain("Name is required");
  expect(answer.text).toContain("&lt;/textarea&gt;&lt;script&gt;");
  expect(answer.text).not.toContain("<script");
  expect(answer.text).toContain(`<input type="hidden" name="_origin" value="${SITE}">`);
  expect(answer.headers.get("content-security-policy")).toContain(`form-action 'self' ${SITE};`);

  // What a browser sends when the visitor mends it there: our own origin, and the hidden members.
  const again = { name: "Ana", age: "18", _redirect: "/ok", _origin: SITE };
  const mended = await post({ form, body: again, headers: { origin: server.url } });
  expect([mended.status, mended.location]).toEqual([303, `${SITE}/ok`]);
  expect(server.stored(form.id)).toEqual([{ name: "Ana", age: 18 }]);

  // Only our own pages may speak for another one.
  for (const origin of ["https://evil.example", "null"]) {
    expect((await post({ form, body: again, headers: { origin } })).status).toBe(403);
  }
  const forEvil = { ...again, _origin: "https://evil.example" };
  expect((await post({ form, body: forEvil, headers: { origin: server.url } })).status).toBe(403);
});

test("a configured base address is the only own origin", async () => {
  const proxied = await startServer({ server: { baseUrl: "https://forms.example" } });
  const form = await proxied.addEndpoint({ schema, settings: { allowedOrigins: [SITE] } });
  const send = async (origin: string) => {
    const body = new URLSearchParams({ name: "A", _origin: SITE });
    const answer = await fetch(`${proxied.url}/f/${form.publishable}`, {
      method: "POST",
      body,
      headers: { origin },
    });
    return answer.status;
  };
  expect(await send("https://forms.example")).toBe(200);
  expect(await send(proxied.url)).toBe(403);
});

test("an unknown key gets a page with 401, a secret key is refused and shown to its owner", async () => {
  const another = open.publishable.endsWith("x") ? "y" : "x";
  const unknownKey = `${open.publishable.slice(0, -1)}${another}`;
  const unknown = await post({ key: unknownKey, body: { name: "A" } });
  expect(unknown.status).toBe(401);
  expect(unknown.text).toContain("Please tell the owner of the site");
  expect(unknown.text).not.toContain("<form");
  const secret = await post({ key: open.secret, body: { name: "A" } });
  expect(secret.status).toBe(403);
  expect(secret.text).not.toContain(open.secret);
  const keys = server.owner.now(() => listKeys(open.id));
  expect(keys.find(({ kind }) => kind === "secret")).toMatchObject({
    seenInBrowserAt: expect.any(Number),
  });
});

test("the same Idempotency-Key stores once, whatever boundary a multipart form has", async () => {
  const before = server.stored(open.id).length;
  const send = (name: string) => {
    const body = new FormData();
    body.set("name", name);
    return post({ body, headers: { ...json, "idempotency-key": "form-1" } });
  };
  const [first, second, other] = [await send("A"), await send("A"), await send("B")];
  expect(second.text).toBe(first.text);
  expect(other.status).toBe(409);
  expect(server.stored(open.id)).toHaveLength(before + 1);
});

test("a filled honeypot is refused as spam without a word of why", async () => {
  const answer = await post({ body: { name: "A", _gotcha: "I am a robot" }, headers: { origin: SITE } });
  expect(answer.status).toBe(429);
  expect(answer.text).toContain("Submission could not be processed");
  expect(answer.text.replace(/<input type="hidden"[^>]*>/, "")).not.toMatch(/gotcha|honeypot|score/i);
});

test("other methods are 405 and told what is allowed", async () => {
  const answer = await fetch(`${server.url}/f/${open.publishable}`);
  expect(answer.status).toBe(405);
  expect(answer.headers.get("allow")).toBe("OPTIONS, POST");
});
