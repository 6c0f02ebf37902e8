import { describe, expect, test } from "vitest";
import { listSessions } from "../../src/sessions/session.ts";
import { safeNext } from "../../src/dashboard/sign-in/entrance.ts";
import { startServer, type TestServer } from "../support/test-server.ts";
import { ADA, cookieOf, PASSWORD, signInForms } from "../support/sign-in-form.ts";
import { visit } from "../support/visitor.ts";

const LOST = "/dashboard/no-such-page";
/** As a trusted proxy with https adds them. */
const HTTPS = { "x-forwarded-proto": "https", "x-forwarded-for": "192.0.2.1", host: "forms.example" };
const BEHIND_PROXY = { server: { trustProxy: ["127.0.0.1"] } };

/** 404 for who is signed in, 303 for who is not. */
async function statusWith(server: TestServer, cookie: string, headers: Record<string, string> = {}) {
  return (await server.request({ method: "GET", path: LOST, headers: { cookie, ...headers } })).status;
}

describe("signing in", () => {
  test("with a link sets the password, which signs in from then on", async () => {
    const server = await startServer();
    const forms = signInForms(server);
    const first = await forms.useLink({ next: "/dashboard/usage?month=2026-01" });
    expect([first.status, first.headers["location"]]).toEqual([303, "/dashboard/usage?month=2026-01"]);
    expect(await statusWith(server, cookieOf(first))).toBe(404);
    const second = await forms.signIn();
    expect([second.status, second.headers["location"]]).toEqual([303, "/dashboard"]);
    expect(await statusWith(server, cookieOf(second))).toBe(404);
  });

  test("asks who came by a link for the code of a second factor only if the account has one", async () => {
    const server = await startServer();
    const forms = signInForms(server);
    const refused = async () => (await forms.useLink({ welcome: "1", new_password: "short" })).text;
    const without = await refused();
    expect(without).toContain("Welcome, choose a password");
    expect(without).not.toMatch(/name="link_code"|type="text"/);
    await forms.useLink();
    server.owner.execute("UPDATE credential SET totp_secret = x'00', totp_step = 1");
    const asked = await refused();
    expect(asked).toContain('name="link_code"');
    expect(asked).toContain("one of your recovery codes. Without either, ask whoever runs this server.");
    const lost = await forms.useLink({ welcome: "1", token: "A".repeat(32) });
    expect(lost.text).toContain("Ask whoever sent it for a new one");
    expect(lost.text).not.toContain("<h1>Welcome");
  });

  test("takes a link that is pasted whole", async () => {
    const server = await startServer();
    const forms = signInForms(server);
    const token = ` https://forms.example.com/dashboard/sign-in#${forms.link()}\n`;
    expect((await forms.useLink({ token })).status).toBe(303);
  });

  test("shows the form again with the address and the reason, and never with a password, when it is refused", async () => {
    const server = await startServer();
    const forms = signInForms(server);
    await forms.useLink();
    const wrong = await forms.signIn({ password: "hunter2hunter2", next: "/dashboard/held" });
    expect(wrong.status).toBe(401);
    expect(wrong.headers["set-cookie"]).toBeUndefined();
    expect(wrong.text).toContain("The e-mail address or the password is not right.");
    expect(wrong.text).toContain(`value="${ADA}"`);
    expect(wrong.text).toContain('name="next" value="/dashboard/held"');
    expect(wrong.text).not.toContain("hunter2");
    const short = await forms.useLink({ new_password: "hunter2" });
    expect([short.status, short.text.includes("hunter2")]).toEqual([422, false]);
    expect(short.text).toContain("The password is too short");
    const used = await forms.useLink({ token: "A".repeat(32) });
    expect(used.status).toBe(404);
    expect(used.text).toContain("The link was used or replaced by a newer one, or is too old.");
    const foreign = await forms.post("/sign-in/link", { token: "A".repeat(32) }, { "accept-language": "fr" });
    expect(foreign.text).toMatch(/role="alert"><span lang="fr" dir="ltr">Le lien a été utilisé ou remplacé/);
  });

  test("says when to try again after too many attempts from one address", async () => {
    const server = await startServer();
    const forms = signInForms(server);
    for (let count = 0; count < 10; count += 1) await forms.useLink({ token: "A".repeat(32) });
    const refused = await forms.useLink();
    expect(refused.status).toBe(429);
    expect(Number(refused.headers["retry-after"])).toBeGreaterThan(590);
    expect(refused.text).toContain(
      "Too many attempts to sign in from this address. Try again in 10 minutes.",
    );
  });

  test("counts no attempt with a right link and a password that is refused", async () => {
    const server = await startServer();
    const forms = signInForms(server);
    for (let count = 0; count < 12; count += 1)
      expect((await forms.useLink({ new_password: "short" })).status).toBe(422);
    expect((await forms.useLink()).status).toBe(303);
  });

  test("counts the address that a trusted proxy names, not the proxy's", async () => {
    const server = await startServer(BEHIND_PROXY);
    const forms = signInForms(server);
    const from = (address: string) =>
      forms.useLink({ token: "A".repeat(32) }, { ...HTTPS, "x-forwarded-for": address });
    for (let count = 0; count < 10; count += 1) await from("192.0.2.1");
    expect((await from("192.0.2.1")).status).toBe(429);
    expect((await from("192.0.2.2")).status).toBe(404);
  });

  test("ends the session that the browser had before, whosever it was", async () => {
    const server = await startServer();
    const forms = signInForms(server);
    const first = cookieOf(await forms.useLink());
    const second = cookieOf(await forms.signIn({}, { cookie: first }));
    expect(second).not.toBe(first);
    expect([await statusWith(server, first), await statusWith(server, second)]).toEqual([303, 404]);
  });

  test("over plain http from another machine is refused with the reason, and over https from a trusted proxy is not", async () => {
    const server = await startServer(BEHIND_PROXY);
    const forms = signInForms(server);
    const plain = { ...HTTPS, "x-forwarded-proto": "http" };
    const shown = await server.request({ method: "GET", path: "/dashboard/sign-in", headers: plain });
    expect(shown.status).toBe(403);
    expect(shown.text).toContain("The dashboard needs https");
    expect(shown.text).not.toContain("<input");
    for (const refused of [await forms.useLink({}, plain), await forms.signIn({}, plain)]) {
      expect([refused.status, refused.headers["set-cookie"]]).toEqual([403, undefined]);
    }
    expect((await forms.useLink({}, HTTPS)).status).toBe(303);
  });

  test("from another site's page is refused", async () => {
    const server = await startServer();
    const forms = signInForms(server);
    const elsewhere = { "sec-fetch-site": "cross-site" };
    for (const refused of [
      await forms.useLink({}, elsewhere),
      await forms.signIn({}, elsewhere),
      await forms.post("/sign-out", {}, elsewhere),
    ])
      expect([refused.status, refused.headers["set-cookie"]]).toEqual([403, undefined]);
  });

  test("takes forms of a few fields only", async () => {
    const server = await startServer();
    const forms = signInForms(server);
    expect((await forms.signIn({ password: "x".repeat(10_000) })).status).toBe(413);
  });
});

describe("the cookie", () => {
  test("over https is bound to the host, closed to scripts, and lasts no longer than the session", async () => {
    const server = await startServer({ ...BEHIND_PROXY, dashboard: { sessionMaxDays: 2 } });
    const answer = await signInForms(server).useLink({}, HTTPS);
    expect(answer.headers["set-cookie"]).toMatch(
      /^__Host-formsvc=ses_[0-9a-z]{26}\.[\w-]{43}; Path=\/; Max-Age=172800; HttpOnly; SameSite=Lax; Secure,/,
    );
    expect(await statusWith(server, cookieOf(answer), HTTPS)).toBe(404);
  });

  test("on the server's own machine is another one, which counts only there", async () => {
    const server = await startServer(BEHIND_PROXY);
    const answer = await signInForms(server).useLink();
    expect(answer.headers["set-cookie"]).toMatch(
      /^formsvc-session=ses_[0-9a-z]{26}\.[\w-]{43}; Path=\/; Max-Age=2592000; HttpOnly; SameSite=Lax,/,
    );
    expect(await statusWith(server, cookieOf(answer))).toBe(404);
    expect(await statusWith(server, cookieOf(answer), HTTPS)).toBe(303);
  });

  test("is worth nothing after signing out, and is taken back", async () => {
    const server = await startServer();
    const forms = signInForms(server);
    const cookie = cookieOf(await forms.useLink());
    const out = await forms.post("/sign-out", {}, { cookie });
    expect([out.status, out.headers["location"]]).toEqual([303, "/dashboard/sign-in?notice=signed-out"]);
    expect(out.headers["set-cookie"]).toMatch(/^formsvc-session=; Path=\/; Max-Age=0;/);
    expect(await statusWith(server, cookie)).toBe(303);
    expect((await forms.post("/sign-out", {}, { cookie })).status).toBe(303);
    expect(server.log.filter((line) => line.includes('"session.ended"'))).toHaveLength(1);
  });

  test("is worth nothing once another process has ended the session", async () => {
    const server = await startServer();
    const cookie = cookieOf(await signInForms(server).useLink());
    server.owner.execute("DELETE FROM session");
    expect(await statusWith(server, cookie)).toBe(303);
  });
});

test("addresses are kept only with dashboard.logAddresses", async () => {
  for (const logAddresses of [false, true]) {
    const server = await startServer({ dashboard: { logAddresses } });
    const forms = signInForms(server);
    await forms.useLink();
    await forms.signIn({ password: "hunter2hunter2" });
    const { accountId } = await visit(server, ADA);
    const sessions = server.owner.now(() =>
      listSessions(accountId, server.clock.now(), server.config.dashboard),
    );
    const expected = logAddresses ? "127.0.0.1" : undefined;
    expect(sessions.some(({ ipAddress }) => ipAddress === "127.0.0.1")).toBe(logAddresses);
    const failed = server.log.find((line) => line.includes('"sign-in.failed"')) ?? "{}";
    expect((JSON.parse(failed) as { address?: string }).address).toBe(expected);
    expect(server.log.join("")).not.toContain("hunter2");
    expect(server.log.join("")).not.toContain(PASSWORD);
  }
});

test("a sign-in leads on to a page of ours, and to no other address", () => {
  for (const good of ["/dashboard", "/dashboard/usage?month=2026-01", "/dashboard/endpoints/ep_1"])
    expect(safeNext(good)).toBe(good);
  for (const bad of [
    null,
    "",
    "https://evil.example/dashboard",
    "//evil.example/dashboard",
    "/\\evil.example/dashboard",
    "\\\\evil.example",
    "/dashboard/..//evil.example",
    "/dashboard/../submit",
    "/dashboardx",
    "javascript:alert(1)",
    "http:evil.example",
    "/dashboard/sign-in",
    "/dashboard/sign-out",
    "http://[",
    "\t//evil.example",
  ])
    expect(safeNext(bad), String(bad)).toBe("/dashboard");
  expect(safeNext("/dashboard/a\r\nSet-Cookie: x=y")).toBe("/dashboard/aSet-Cookie:%20x=y");
});
