import { expect, test } from "vitest";
import { dashboardUrl } from "../support/dashboard-address.ts";
import { dashboardRoutes } from "../support/dashboard-routes.ts";
import { sendRequest } from "../support/http-client.ts";
import { startServer, type TestServer } from "../support/test-server.ts";
import { visit } from "../support/visitor.ts";
import { HOUR_MS } from "../../src/foundation/time-units.ts";

const LOST = "/dashboard/no-such-page";

test("these pages and no other answer who is not signed in", async () => {
  const routes = await dashboardRoutes(await startServer());
  const open = routes.filter(({ isOpen }) => isOpen).map(({ method, path }) => `${method} ${path}`);
  expect(open.filter((route) => !route.includes("/assets/")).toSorted()).toEqual([
    "GET /dashboard/invitation",
    "GET /dashboard/lost-password",
    "GET /dashboard/lost-password/new",
    "GET /dashboard/lost-password/sent",
    "GET /dashboard/sign-in",
    "GET /dashboard/sign-in/oidc",
    "GET /dashboard/sign-in/oidc/callback",
    "GET /dashboard/sign-up",
    "GET /dashboard/sign-up/confirm",
    "GET /dashboard/sign-up/sent",
    "POST /dashboard/invitation",
    "POST /dashboard/invitation/accept",
    "POST /dashboard/lost-password",
    "POST /dashboard/lost-password/new",
    "POST /dashboard/sign-in",
    "POST /dashboard/sign-in/code",
    "POST /dashboard/sign-in/link",
    "POST /dashboard/sign-in/passkey",
    "POST /dashboard/sign-in/passkey/ask",
    "POST /dashboard/sign-out",
    "POST /dashboard/sign-up",
    "POST /dashboard/sign-up/confirm",
  ]);
});

test("who is not signed in is sent to the sign-in page, which leads back", async () => {
  const server = await startServer();
  const answer = await server.request({ method: "GET", path: "/dashboard/usage?month=2026-01" });
  expect(answer.status).toBe(303);
  expect(answer.headers["location"]).toBe("/dashboard/sign-in?next=%2Fdashboard%2Fusage%3Fmonth%3D2026-01");
});

test("an address that no page has is answered by a page, with the navigation of who is signed in", async () => {
  const server = await startServer();
  const { status, text } = await (await visit(server)).get(LOST);
  expect(status).toBe(404);
  expect(text).toContain("There is no such page. If it was there before, it was deleted or moved meanwhile");
  expect(text).toContain('aria-label="Main"');
  expect(text).toContain("ada@example.com");
});

test("a form whose page is gone is answered with what was typed, without passwords; to another site's form nothing is repeated", async () => {
  const server = await startServer();
  const ada = await visit(server);
  const form = {
    note: "a long <note>\r\nof two lines",
    subject: "Thank you",
    mode: "short",
    password: "my own secret",
  };
  const { status, text } = await ada.post("/dashboard/endpoints/ep_gone/reply", form);
  expect([status, text.includes("my own secret")]).toEqual([404, false]);
  expect(text).toContain("readonly>a long &lt;note&gt;\r\nof two lines\n\nThank you</textarea>");
  const foreign = await ada.post(LOST, form, { "sec-fetch-site": "cross-site" });
  expect([foreign.status, foreign.text.includes("textarea")]).toEqual([403, false]);
  expect((await ada.post(LOST, { mode: "short" })).text).not.toContain("textarea");
});

test("every page forbids frames, foreign scripts and being kept", async () => {
  const server = await startServer();
  const { headers } = await (await visit(server)).get(LOST);
  expect(headers["content-security-policy"]).toBe(
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
      "form-action 'self'; frame-ancestors 'none'; base-uri 'none'; require-trusted-types-for 'script'; trusted-types formsvc",
  );
  expect(headers).toMatchObject({
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "cache-control": "no-store",
  });
  expect(headers["access-control-allow-origin"]).toBeUndefined();
});

test("the style sheet and the script are kept by browsers for good, under a name that follows their content", async () => {
  const server = await startServer();
  const { text } = await (await visit(server)).get(LOST);
  const paths = [...text.matchAll(/"(\/dashboard\/assets\/formsvc-[0-9a-f]{12}\.(?:css|js))"/g)].map(
    ([, path = ""]) => path,
  );
  expect(paths).toHaveLength(2);
  for (const path of paths) {
    const { status, headers } = await server.request({ method: "GET", path });
    expect([status, headers["cache-control"]]).toEqual([200, "public, max-age=31536000, immutable"]);
  }
});

test("a write that another site's page asks for is refused, whatever the browser tells of it", async () => {
  const server = await startServer();
  const ada = await visit(server);
  const own = `http://127.0.0.1:${server.port}`;
  const refused: Record<string, string>[] = [
    { "sec-fetch-site": "cross-site" },
    { "sec-fetch-site": "same-site" },
    { "sec-fetch-site": "none" },
    { "sec-fetch-site": "cross-site", origin: own },
    { "sec-fetch-site": "" },
  ];
  for (const headers of refused)
    expect((await ada.post(LOST, {}, headers)).status, JSON.stringify(headers)).toBe(403);
  const old = async (origin?: string) =>
    server.request({
      method: "POST",
      path: LOST,
      headers: {
        cookie: ada.cookie,
        "content-type": "application/x-www-form-urlencoded",
        ...(origin !== undefined && { origin }),
      },
      body: "",
    });
  for (const origin of [undefined, "null", "https://evil.example", `${own}0`])
    expect((await old(origin)).status).toBe(403);
  expect((await old(own)).status).toBe(404);
});

test("a browser that tells only the origin writes from server.baseUrl's, whatever host it asked for", async () => {
  const server = await startServer({
    server: { baseUrl: "https://forms.example", trustProxy: ["127.0.0.1"] },
  });
  const writes = oldBrowser(server);
  const proxied = { "x-forwarded-proto": "https", "x-forwarded-for": "192.0.2.1" };
  for (const host of ["forms.example", "evil.example", "127.0.0.1"]) {
    const from = (origin: string) => writes({ ...proxied, host, origin });
    expect(await from("https://forms.example"), host).toBe("taken");
    for (const origin of [
      "http://forms.example",
      `https://${host}:8443`,
      "https://evil.example",
      "http://evil.example",
      "null",
    ])
      expect(await from(origin), `${origin} at ${host}`).toBe("refused");
  }
  expect(await writes({ ...proxied, host: "forms.example" })).toBe("refused");
});

test("without server.baseUrl it writes from the address that it asked for, with its scheme", async () => {
  const server = await startServer({ server: { trustProxy: ["127.0.0.1"] } });
  const writes = oldBrowser(server);
  const proxied = { "x-forwarded-proto": "https", "x-forwarded-for": "192.0.2.1", host: "forms.example" };
  expect(await writes({ ...proxied, origin: "https://forms.example" })).toBe("taken");
  expect(await writes({ ...proxied, origin: "http://forms.example" })).toBe("refused");
  const here = { host: `localhost:${server.port}` };
  expect(await writes({ ...here, origin: `http://localhost:${server.port}` })).toBe("taken");
  expect(await writes({ ...here, origin: `https://localhost:${server.port}` })).toBe("refused");
  expect(await writes({ host: "", origin: "http://" })).toBe("refused");
});

test("a dashboard with an address of its own is written from there, not from server.baseUrl", async () => {
  const server = await startServer({
    server: { baseUrl: "https://forms.example" },
    dashboard: { listen: "127.0.0.1:0" },
  });
  const url = dashboardUrl(server);
  const send = (origin: string) =>
    sendRequest(url, { method: "POST", path: LOST, headers: { ...FORM, origin }, body: "" });
  expect((await send(url)).status).toBe(401);
  expect((await send("https://forms.example")).status).toBe(403);
});

const FORM = { "content-type": "application/x-www-form-urlencoded" };

/** Sends an empty form without a session and without `Sec-Fetch-Site`. A write that is let through is asked to sign in first. */
function oldBrowser(server: TestServer) {
  return async (headers: Record<string, string>): Promise<"taken" | "refused" | number> => {
    const request = { method: "POST", path: LOST, headers: { ...FORM, ...headers }, body: "" };
    const { status } = await server.request(request);
    if (status === 401) return "taken";
    return status === 403 ? "refused" : status;
  };
}

test("a form that is sent after the session ended keeps all that was typed but secrets, to be sent again", async () => {
  const server = await startServer();
  const ada = await visit(server);
  server.clock.advance(8 * 24 * HOUR_MS);
  const { status, text } = await ada.post(LOST, {
    name: 'Contact "A"',
    schema: "{\n}",
    password: "hunter2hunter2",
  });
  expect(status).toBe(401);
  expect(text).toContain('value="Contact &quot;A&quot;"');
  expect(text).toContain(`action="${LOST}"`);
  expect(text).not.toContain("hunter2");
});

test("clients outside of dashboard.allowNetworks get what any unknown address gives", async () => {
  const server = await startServer({ dashboard: { allowNetworks: ["192.0.2.0/24"] } });
  const ada = await visit(server);
  const nothing = await server.request({ method: "GET", path: "/nothing" });
  for (const path of [LOST, "/dashboard", "/dashboard/sign-in"]) {
    const { status, text, headers } = await ada.get(path);
    expect([status, text]).toEqual([404, nothing.text]);
    expect(headers["content-security-policy"]).toBeUndefined();
  }
});

test("with dashboard.enabled off there is no page, and posts are taken as before", async () => {
  const server = await startServer({ dashboard: { enabled: false } });
  const ada = await visit(server);
  expect((await ada.get("/dashboard")).status).toBe(404);
});

test("a session counts only over https, or from a browser on the server's own machine", async () => {
  const server = await startServer({ server: { trustProxy: ["127.0.0.1"] } });
  const ada = await visit(server);
  const cookie = ada.cookie.replace("formsvc-session", "__Host-formsvc");
  const statusOf = async (headers: Record<string, string>) => (await ada.get(LOST, headers)).status;
  expect(
    await statusOf({
      cookie,
      "x-forwarded-proto": "https",
      "x-forwarded-for": "192.0.2.1",
      host: "forms.example",
    }),
  ).toBe(404);
  // Plain http from elsewhere, a name that is not this machine's, and the cookie of the other way.
  expect(await statusOf({ cookie, "x-forwarded-proto": "http", "x-forwarded-for": "192.0.2.1" })).toBe(303);
  expect(await statusOf({ host: "forms.example" })).toBe(303);
  expect(await statusOf({ cookie })).toBe(303);
  expect(await statusOf({ "x-forwarded-proto": "https" })).toBe(303);
});

test("what an untrusted proxy says of https is not believed", async () => {
  const server = await startServer();
  const ada = await visit(server);
  const cookie = ada.cookie.replace("formsvc-session", "__Host-formsvc");
  expect((await ada.get(LOST, { cookie, "x-forwarded-proto": "https" })).status).toBe(303);
});
