import { expect, test } from "vitest";
import { resetTotp } from "../../src/sessions/sign-in-operations.ts";
import { problemOf } from "../support/oidc-site.ts";
import { isIn, recoveryCodesIn, startPasskeySite } from "../support/passkey-site.ts";
import { ADA, PASSWORD } from "../support/sign-in-form.ts";
import { makeKeys, softwareAuthenticator, WITH_CERTIFICATE } from "../support/software-authenticator.ts";
import { performOn } from "../support/terminal.ts";
import { visit } from "../support/visitor.ts";

const NOT_TAKEN = "This passkey was not taken. Try again, or sign in another way.";

test("a passkey signs in alone, without a name, a password or a code, and is listed, renamed and removed", async () => {
  const site = await startPasskeySite();
  const ada = await site.ada();
  const device = site.device();
  const added = await site.add(ada, device);
  expect([added.status, recoveryCodesIn(added)]).toEqual([201, expect.objectContaining({ length: 10 })]);
  expect(isIn(await site.signIn(device))).toBe(true);
  expect(site.events("session.started").at(-1)).toMatchObject({ by: "passkey", accountId: ada.accountId });
  const again = await visit(site.server, ADA);
  const account = await again.get("/dashboard/account");
  const [, id = ""] = /\/dashboard\/account\/passkeys\/(pky_\w+)/.exec(account.text) ?? [];
  expect(account.text).toContain("My key");
  const path = `/dashboard/account/passkeys/${id}`;
  expect((await again.post(path, { name: "<b>Laptop</b>" })).status).toBe(303);
  expect((await again.get("/dashboard/account")).text).toContain("&lt;b&gt;Laptop&lt;/b&gt;");
  const wrong = await again.post(`${path}/remove`, { password: "not the password" });
  expect([wrong.status, problemOf(wrong)]).toEqual([401, "The present password is not right."]);
  expect((await again.post(`${path}/remove`, { password: PASSWORD })).status).toBe(303);
  expect((await again.get(path)).status).toBe(404);
  const gone = await site.signIn(device);
  expect([gone.status, problemOf(gone)]).toEqual([401, NOT_TAKEN]);
  // With the last passkey the second factor has gone, and its recovery codes.
  expect(isIn(await site.forms.signIn())).toBe(true);
  expect(site.server.owner.prepare("SELECT count(*) FROM recovery_code").pluck().get()).toBe(0);
});

test("an account with a passkey is not signed in by the password alone; the passkey or a recovery code follows", async () => {
  const site = await startPasskeySite();
  const device = site.device();
  const [code = ""] = recoveryCodesIn(await site.add(await site.ada(), device));
  const asked = await site.forms.signIn();
  expect([asked.status, isIn(asked), asked.text.includes("Use a passkey")]).toEqual([200, false, true]);
  const ticket = await site.ticket();
  const step = await site.ask("second factor");
  // As the second factor, the device need not make sure who holds it.
  const passkey = device.answer(step.asked, { isVerified: false });
  const entered = await site.forms.post("/sign-in/code", { ticket, passkey }, { cookie: step.flow });
  expect(isIn(entered)).toBe(true);
  const withoutScript = await site.ticket();
  expect(isIn(await site.forms.post("/sign-in/code", { ticket: withoutScript, passkey: "", code }))).toBe(
    true,
  );
  const twice = await site.forms.post("/sign-in/code", { ticket: await site.ticket(), code });
  expect([twice.status, isIn(twice)]).toEqual([401, false]);
});

test("a link from the machine does not get past a passkey, and takes it or a recovery code", async () => {
  const site = await startPasskeySite();
  const device = site.device();
  const [code = ""] = recoveryCodesIn(await site.add(await site.ada(), device));
  const token = site.forms.link();
  const refused = await site.forms.useLink({ token, welcome: "1" });
  expect([refused.status, isIn(refused), refused.text.includes("Use a passkey")]).toEqual([401, false, true]);
  const { asked, flow } = await site.ask("second factor");
  const entered = await site.forms.useLink({ token, passkey: device.answer(asked) }, { cookie: flow });
  expect(isIn(entered)).toBe(true);
  expect(isIn(await site.forms.useLink({ link_code: code }))).toBe(true);
});

test("an operator on the machine gets an account back in whose passkeys are lost: reset-totp takes them away", async () => {
  const site = await startPasskeySite();
  await site.add(await site.ada(), site.device());
  expect(isIn(await site.forms.signIn())).toBe(false);
  const { owner, clock } = site.server;
  await performOn(owner, resetTotp, { account: ADA }, { now: clock.now() });
  expect(isIn(await site.forms.signIn())).toBe(true);
  const counts = "SELECT (SELECT count(*) FROM passkey) + (SELECT count(*) FROM recovery_code)";
  expect(owner.prepare(counts).pluck().get()).toBe(0);
});

test("an answer counts once, for ten minutes, with the cookie of its own step alone", async () => {
  const site = await startPasskeySite();
  const device = site.device();
  await site.add(await site.ada(), device);
  const { asked, flow } = await site.ask("alone");
  const answer = device.answer(asked);
  expect(isIn(await site.enter(answer, flow))).toBe(true);
  const replayed = await site.enter(answer, flow);
  expect([replayed.status, problemOf(replayed)]).toEqual([
    401,
    "This answer of the passkey was used before. Try again.",
  ]);
  // Another process of the same database knows it, too.
  await site.server.restart();
  expect(isIn(await site.enter(answer, flow))).toBe(false);

  const lost =
    "This was begun in another tab, was finished already, or took longer than ten minutes. Try again.";
  const late = await site.ask("alone");
  const lateAnswer = device.answer(late.asked);
  site.server.clock.advance(600_000);
  expect(problemOf(await site.enter(lateAnswer, late.flow))).toBe(lost);
  const [one, other] = [await site.ask("alone"), await site.ask("alone")];
  expect(problemOf(await site.enter(device.answer(one.asked), other.flow))).toBe(NOT_TAKEN);
  expect(problemOf(await site.enter(device.answer(one.asked), ""))).toBe(lost);
  const weaker = await site.ask("second factor");
  expect(problemOf(await site.enter(device.answer(weaker.asked), weaker.flow))).toBe(lost);
});

test("two requests that bring the same answer at the same time begin one session", async () => {
  const site = await startPasskeySite();
  const device = site.device();
  await site.add(await site.ada(), device);
  const { asked, flow } = await site.ask("alone");
  const answer = device.answer(asked);
  const entered = await Promise.all([1, 2, 3].map(() => site.enter(answer, flow)));
  expect(entered.filter(isIn)).toHaveLength(1);
});

test("an answer that is wrong in anything begins no session, and the log says that somebody did not get in", async () => {
  const site = await startPasskeySite();
  const ada = await site.ada();
  const device = site.device();
  await site.add(ada, device);
  const lies = {
    "of another site": { origin: "https://evil.example" },
    "of a page over http": { origin: "http://forms.example.com" },
    "for another host": { host: "evil.example" },
    "of a frame of another site": { crossOrigin: true },
    "to a challenge of somebody's own": { challenge: "A".repeat(43) },
    "that makes a passkey": { type: "webauthn.create" },
    "signed by another key": { key: makeKeys().privateKey },
    "that names another account": { userHandle: "YWNjdF8wMQ" },
    "without looking who holds the device": { isVerified: false },
  };
  for (const [what, lie] of Object.entries(lies)) {
    const refused = await site.signIn(device, lie);
    expect([what, refused.status, problemOf(refused), isIn(refused)]).toEqual([what, 401, NOT_TAKEN, false]);
    await site.server.restart();
  }
  expect(site.events("sign-in.failed").at(-1)).toMatchObject({ by: "passkey", code: "unauthorized" });
  for (const text of ["", "null", "[]", "{}", '{"id":"AA","response":{}}', "x".repeat(7000)]) {
    const { flow } = await site.ask("alone");
    expect((await site.enter(text, flow)).status, text.slice(0, 30)).toBe(401);
    await site.server.restart();
  }
  expect(isIn(await site.signIn(device))).toBe(true);
});

test("a stranger who sends wrong answers is refused after ten, and nobody else is", async () => {
  const site = await startPasskeySite();
  const device = site.device();
  await site.add(await site.ada(), device);
  const statuses: number[] = [];
  for (let count = 0; count < 11; count += 1)
    statuses.push((await site.signIn(device, { key: makeKeys().privateKey })).status);
  expect(statuses).toEqual([...Array.from({ length: 10 }, () => 401), 429]);
});

test("a device that counts its uses is refused when it says less than before, as a copy of it would", async () => {
  const site = await startPasskeySite();
  const device = site.device();
  device.count(7);
  await site.add(await site.ada(), device);
  expect(isIn(await site.signIn(device, { counter: 8 }))).toBe(true);
  for (const counter of [8, 7, 0]) {
    const refused = await site.signIn(device, { counter });
    expect([counter, refused.status]).toEqual([counter, 401]);
  }
  expect(isIn(await site.signIn(device, { counter: 9 }))).toBe(true);
});

test("somebody else's passkey is no second factor of this account", async () => {
  const site = await startPasskeySite();
  await site.add(await site.ada(), site.device());
  const bob = await visit(site.server, "bob@example.org");
  const bobs = site.device();
  site.server.owner.execute(
    `INSERT INTO credential SELECT '${bob.accountId}', password_hash, NULL, NULL, changed_at FROM credential`,
  );
  await site.add(bob, bobs);
  const { asked, flow } = await site.ask("second factor");
  const ticket = await site.ticket();
  const refused = await site.forms.post(
    "/sign-in/code",
    { ticket, passkey: bobs.answer(asked) },
    { cookie: flow },
  );
  expect([refused.status, problemOf(refused)]).toEqual([401, "This passkey belongs to another account."]);
  const bobsId = site.server.owner
    .prepare("SELECT id FROM passkey WHERE account_id = ?")
    .pluck()
    .get(bob.accountId);
  const ada = await site.ada();
  const path = `/dashboard/account/passkeys/${String(bobsId)}`;
  expect((await ada.get(path)).status).toBe(404);
  expect((await ada.post(path, { name: "mine" })).status).toBe(404);
  expect((await ada.post(`${path}/remove`, { password: PASSWORD })).status).toBe(404);
});

test("a passkey is added after the password alone, by the same session, once, and from our own pages", async () => {
  const site = await startPasskeySite();
  const ada = await site.ada();
  const device = site.device();
  const refused = await site.begin(ada, "not the password");
  expect([refused.answer.status, refused.flow]).toEqual([401, ""]);
  const { asked, flow } = await site.begin(ada);
  const other = await site.ada();
  expect((await site.finish(other, flow, device.make(asked))).status).toBe(401);
  for (const lie of [{ origin: "https://evil.example" }, { host: "evil.example" }, { isVerified: false }])
    expect((await site.finish(ada, flow, device.make(asked, lie))).status).toBe(401);
  expect((await site.finish(ada, flow, device.make(asked, {}, WITH_CERTIFICATE))).status).toBe(401);
  const stolen = softwareAuthenticator("https://forms.example.com");
  const foreign = await site.ask("alone");
  expect((await site.finish(ada, foreign.flow, stolen.make({ ...foreign.asked }))).status).toBe(401);
  expect((await site.finish(ada, flow, device.make(asked), " ")).status).toBe(422);
  expect((await site.finish(ada, flow, device.make(asked))).status).toBe(201);
  expect((await site.finish(ada, flow, device.make(asked))).status).toBe(401);
  // The same key again, in a step of its own.
  const next = await site.begin(ada);
  expect(next.asked).toMatchObject({ excludeCredentials: [{ type: "public-key", id: device.id }] });
  expect(problemOf(await site.finish(ada, next.flow, device.make(next.asked)))).toBe(
    "This passkey is there already.",
  );
  expect(site.server.owner.prepare("SELECT count(*) FROM passkey").pluck().get()).toBe(1);
});

test("what was proved before a passkey was added counts no more, and other browsers are signed out", async () => {
  const site = await startPasskeySite();
  const [ada, elsewhere] = [await site.ada(), await site.ada()];
  const begun = await site.begin(ada);
  site.server.clock.advance(1000);
  expect((await site.add(ada, site.device())).status).toBe(201);
  expect((await elsewhere.get("/dashboard/account")).status).toBe(303);
  expect((await site.finish(ada, begun.flow, site.device().make(begun.asked))).status).toBe(401);
});

test("an account has twenty passkeys at most", async () => {
  const site = await startPasskeySite();
  const ada = await site.ada();
  const insert = site.server.owner.prepare(
    "INSERT INTO passkey VALUES (?, ?, ?, 'forms.example.com', x'00', 0, 'one', 1, NULL)",
  );
  for (let count = 0; count < 20; count += 1) insert.run(`pky_${count}`, ada.accountId, Buffer.from([count]));
  const full = await site.begin(ada);
  expect([full.answer.status, problemOf(full.answer)]).toEqual([
    422,
    "An account has 20 passkeys at most. Remove one first.",
  ]);
});

test("the page says why there are no passkeys, and no address of them answers", async () => {
  const why = {
    "Passkeys belong to a host name, and server.baseUrl has the address 192.0.2.7 in its place.": {
      server: { port: 0, baseUrl: "https://192.0.2.7" },
    },
    "Passkeys need https, and server.baseUrl begins with http.": {
      server: { port: 0, baseUrl: "http://forms.example.com" },
    },
    "Passkeys belong to a host name, and nobody has told the server its own: server.baseUrl is not set.": {
      server: { port: 0, baseUrl: null },
    },
  };
  for (const [sentence, overrides] of Object.entries(why)) {
    const site = await startPasskeySite(overrides);
    const ada = await site.ada();
    expect((await ada.get("/dashboard/account")).text).toContain(sentence);
    expect((await ada.get("/dashboard/account/passkeys/new")).text).toContain(sentence);
    expect((await site.forms.post("/sign-in/passkey/ask", { use: "alone" })).status).toBe(404);
    expect((await site.forms.post("/sign-in/passkey", { passkey: "{}" })).status).toBe(404);
    expect(site.events("sign-in.failed")).toMatchObject([{ by: "passkey", code: "not_found" }]);
    const page = await site.server.request({ method: "GET", path: "/dashboard/sign-in" });
    expect(page.text).not.toContain("passkey");
  }
});

test("a passkey of an earlier host signs nobody in, still asks for more than the password, and is shown as such", async () => {
  const site = await startPasskeySite();
  const device = site.device();
  await site.add(await site.ada(), device);
  site.server.owner.execute("UPDATE passkey SET host = 'old.example.com'");
  expect((await site.signIn(device)).status).toBe(401);
  expect(isIn(await site.forms.signIn())).toBe(false);
  expect((await (await site.ada()).get("/dashboard/account")).text).toContain("for old.example.com only");
});
