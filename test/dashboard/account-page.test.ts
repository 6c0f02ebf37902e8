import { describe, expect, test } from "vitest";
import { giveSignInLink } from "../../src/sessions/sign-in-operations.ts";
import { startSession } from "../../src/sessions/session.ts";
import { readTotpSecret, totpCode } from "../../src/sessions/totp.ts";
import { startServer, type TestServer } from "../support/test-server.ts";
import { ADA, cookieOf, PASSWORD, signInForms } from "../support/sign-in-form.ts";
import { visit } from "../support/visitor.ts";
import { performOn } from "../support/terminal.ts";

const ACCOUNT = "/dashboard/account";
const FACTOR = `${ACCOUNT}/second-factor`;
const STEP = 30_000;

/** A server on which Ada has a password, and a browser of hers that is signed in. */
async function signedIn() {
  const server = await startServer();
  const forms = signInForms(server);
  await forms.useLink();
  return { server, forms, ada: await visit(server, ADA) };
}

const isIn = async (server: TestServer, cookie: string) =>
  (await server.request({ method: "GET", path: ACCOUNT, headers: { cookie } })).status === 200;

function codeFor(server: TestServer, secret: string): string {
  return totpCode(readTotpSecret(secret) ?? Buffer.alloc(20), server.clock.now());
}

/** Sets a second factor up as its page asks for it. */
async function setUp({ server, ada }: Awaited<ReturnType<typeof signedIn>>) {
  const shown = await ada.get(FACTOR);
  const secret = /name="secret"\s+value="([A-Z2-7]{32})"/.exec(shown.text)?.[1] ?? "";
  const mark = /name="form_mark"\s+value="([^"]+)"/.exec(shown.text)?.[1] ?? "";
  const form = { secret, code: codeFor(server, secret), password: PASSWORD, form_mark: mark };
  return { shown, secret, form, done: await ada.post(FACTOR, form) };
}

function codesIn(text: string): string[] {
  return text.match(/\b[a-z2-7]{4}(?:-[a-z2-7]{4}){3}\b/g) ?? [];
}

describe("the password", () => {
  test("is changed with the present one, and the other browsers are signed out", async () => {
    const { server, forms, ada } = await signedIn();
    const other = cookieOf(await forms.signIn());
    const change = (password: string, next: string) =>
      ada.post(`${ACCOUNT}/password`, { password, new_password: next });
    const wrong = await change("hunter2hunter2", "another password");
    expect([wrong.status, wrong.text.includes("hunter2")]).toEqual([401, false]);
    expect(wrong.text).toContain("The present password is not right.");
    expect((await change(PASSWORD, "short")).status).toBe(422);
    expect(await isIn(server, other)).toBe(true);
    const done = await change(PASSWORD, "another password");
    expect(done.headers["location"]).toBe(`${ACCOUNT}?notice=password-changed`);
    expect([await isIn(server, other), await isIn(server, ada.cookie)]).toEqual([false, true]);
    expect((await forms.signIn()).status).toBe(401);
    expect((await forms.signIn({ password: "another password" })).status).toBe(303);
  });
});

describe("the second factor", () => {
  test("is set up with the key as text and as a QR code, and shows ten recovery codes once", async () => {
    const at = await signedIn();
    const other = cookieOf(await at.forms.signIn());
    const { shown, secret, form, done } = await setUp(at);
    expect(shown.text).toContain(secret.match(/.{4}/g)?.join(" "));
    expect(shown.text).toMatch(/<svg[^>]+role="img"/);
    expect(done.status).toBe(201);
    expect(new Set(codesIn(done.text)).size).toBe(10);
    expect([await isIn(at.server, other), await isIn(at.server, at.ada.cookie)]).toEqual([false, true]);
    const reloaded = await at.ada.post(FACTOR, form);
    expect(reloaded.headers["location"]).toBe(`${ACCOUNT}?notice=codes-shown-already`);
    expect((await at.ada.get(ACCOUNT)).text).toContain("Of your recovery codes, 10 are left.");
  });

  test("asks again with the same key after a wrong code", async () => {
    const { server, ada } = await signedIn();
    const shown = await ada.get(FACTOR);
    const secret = /name="secret"\s+value="([A-Z2-7]{32})"/.exec(shown.text)?.[1] ?? "";
    const wrong = await ada.post(FACTOR, { secret, code: "000000", password: PASSWORD });
    expect(wrong.status).toBe(422);
    expect(wrong.text).toContain("The code is not right. Enter the one that the app shows now.");
    expect(wrong.text).toContain(`value="${secret}"`);
    const right = await ada.post(FACTOR, { secret, code: codeFor(server, secret), password: PASSWORD });
    expect(right.status).toBe(201);
  });

  test("is asked for on a page of its own, after the password", async () => {
    const at = await signedIn();
    const { secret } = await setUp(at);
    at.server.clock.advance(STEP);
    const asked = await at.forms.signIn({ next: "/dashboard/held" });
    expect([asked.status, asked.headers["set-cookie"]]).toEqual([200, undefined]);
    const ticket = /name="ticket"\s+value="([\w-]+)"/.exec(asked.text)?.[1] ?? "";
    const give = (code: string) => at.forms.post("/sign-in/code", { ticket, code, next: "/dashboard/held" });
    const wrong = await give("000000");
    expect(wrong.status).toBe(401);
    expect(wrong.text).toContain("The code is not right, or it was used before.");
    expect(wrong.text).toContain(`value="${ticket}"`);
    const right = await give(codeFor(at.server, secret));
    expect([right.status, right.headers["location"]]).toEqual([303, "/dashboard/held"]);
    expect(await isIn(at.server, cookieOf(right))).toBe(true);
    expect((await give(codeFor(at.server, secret))).status).toBe(401);
  });

  test("guards a link too", async () => {
    const at = await signedIn();
    const { secret } = await setUp(at);
    at.server.clock.advance(STEP);
    const token = at.forms.link();
    expect((await at.forms.useLink({ token })).status).toBe(401);
    expect((await at.forms.useLink({ token, link_code: codeFor(at.server, secret) })).status).toBe(303);
  });

  test("gets new recovery codes, and is switched off, with the password alone", async () => {
    const at = await signedIn();
    const { done } = await setUp(at);
    const post = (verb: string, password: string) => at.ada.post(`${FACTOR}/${verb}`, { password });
    for (const verb of ["codes", "remove"]) expect((await post(verb, "hunter2hunter2")).status).toBe(401);
    const renewed = codesIn((await post("codes", PASSWORD)).text);
    expect(renewed).toHaveLength(10);
    expect(renewed.some((code) => done.text.includes(code))).toBe(false);
    const off = await post("remove", PASSWORD);
    expect(off.headers["location"]).toBe(`${ACCOUNT}?notice=factor-removed`);
    expect((await at.forms.signIn()).status).toBe(303);
  });
});

describe("sessions", () => {
  test("are listed and ended one by one or all others at once, and nobody ends somebody else's", async () => {
    const { server, forms, ada } = await signedIn();
    const [one, two] = [cookieOf(await forms.signIn()), cookieOf(await forms.signIn())];
    const ben = await visit(server, "ben@example.com");
    const idOf = (cookie: string) => /ses_[0-9a-z]{26}/.exec(cookie)?.[0] ?? "";
    const end = (session: string) => ada.post(`${ACCOUNT}/sessions/end`, { session });
    expect((await end(idOf(ben.cookie))).headers["location"]).toBe(`${ACCOUNT}?notice=sessions-ended&n=0`);
    expect(await isIn(server, ben.cookie)).toBe(true);
    await end(idOf(one));
    expect([await isIn(server, one), await isIn(server, two)]).toEqual([false, true]);
    await end("others");
    expect([await isIn(server, two), await isIn(server, ada.cookie)]).toEqual([false, true]);
    const { text } = await ada.get(ACCOUNT);
    expect(text.match(/this one/g)).toHaveLength(1);
    expect(text).not.toContain("Sign out all others");
  });

  test("show a browser's name as text, whatever it calls itself", async () => {
    const { server, ada } = await signedIn();
    const userAgent = `<script>alert(1)</script>"><img src=x onerror=alert(2)>`;
    const browser = { userAgent, ipAddress: "192.0.2.7" };
    server.owner.now(() => startSession(ada.accountId, browser, server.clock.now()));
    const { text } = await ada.get(ACCOUNT);
    expect(text).toContain("&lt;script&gt;alert(1)");
    expect(text).not.toContain("<script>alert");
    expect(text).not.toContain("<img");
    expect(text).toContain("192.0.2.7");
  });
});

test("the log tells each change once, by whoever it was made", async () => {
  const { server, forms, ada } = await signedIn();
  await performOn(server.owner, giveSignInLink, { account: ADA }, { now: server.clock.now() });
  await forms.signIn();
  await ada.post(`${ACCOUNT}/sessions/end`, { session: "others" });
  const told = () =>
    server.log
      .map((line) => JSON.parse(line) as Record<string, unknown>)
      .filter(({ event }) => event === "change.made")
      .map(({ accountId, action, subject }) => [accountId, action, subject]);
  await expect.poll(told).toEqual([
    [ada.accountId, "account.set-password", ADA],
    [null, "account.sign-in-link", ADA],
    [ada.accountId, "account.end-sessions", ADA],
  ]);
});

test("no write of these pages works without a session", async () => {
  const { server, forms } = await signedIn();
  for (const path of ["/account/password", "/account/sessions/end", "/account/second-factor"])
    expect((await forms.post(path, { password: PASSWORD })).status, path).toBe(401);
  for (const verb of ["codes", "remove"])
    expect((await forms.post(`/account/second-factor/${verb}`, { password: PASSWORD })).status).toBe(401);
  expect(server.owner.prepare("SELECT count(*) FROM recovery_code").pluck().get()).toBe(0);
});
