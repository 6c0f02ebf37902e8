import { describe, expect, test } from "vitest";
import { listChanges } from "../../src/audit/audit-store.ts";
import { insertTokenRow } from "../../src/tokens/token-store.ts";
import { makeTokenText } from "../../src/tokens/token.ts";
import { noteDoubt } from "../../src/workspaces/proved-email.ts";
import { insertAccountRows, listAccounts, listWorkspaces } from "../../src/workspaces/workspace-store.ts";
import type { Answer } from "../support/http-client.ts";
import { pathIn, startMailedSite, textOf } from "../support/mailed-site.ts";
import { ADA, cookieOf, PASSWORD } from "../support/sign-in-form.ts";
import { startServer } from "../support/test-server.ts";
import { DAY_MS, HOUR_MS } from "../../src/foundation/time-units.ts";

const NEW = "new@example.org";
const LINK = "/dashboard/sign-up/confirm?token=";
/** As a trusted proxy with https adds them. */
const HTTPS = { "x-forwarded-proto": "https", "x-forwarded-for": "192.0.2.1", host: "forms.example.com" };
const BEHIND_PROXY = { server: { port: 0, baseUrl: "https://forms.example.com", trustProxy: ["127.0.0.1"] } };

/** All of an answer that a client sees, but for its number and time. */
function seen({ status, headers, text }: Answer) {
  const { "x-request-id": _id, date: _date, ...rest } = headers;
  return { status, headers: rest, text };
}

describe("signing up", () => {
  test("leads from the sign-in page over a letter to an own Hobby workspace, and makes nothing before the link is used", async () => {
    const site = await startMailedSite();
    const { server, get, fill, letterTo } = site;
    expect((await get("/dashboard/sign-in")).text).toContain('href="/dashboard/sign-up"');
    const asked = await fill("/dashboard/sign-up", { email: NEW });
    expect([asked.status, asked.headers["location"]]).toEqual([303, "/dashboard/sign-up/sent"]);
    expect((await get("/dashboard/sign-up/sent")).text).toContain("An e-mail is on its way");
    const link = pathIn(await letterTo(NEW));
    expect(server.owner.now(() => listAccounts()).map(({ email }) => email)).toEqual([ADA]);
    expect((await get(link)).text).toContain(`value="${NEW}"`);

    const entered = await fill(link, { new_password: PASSWORD });
    expect([entered.status, entered.headers["location"]]).toEqual([303, "/dashboard"]);
    const cookie = cookieOf(entered);
    expect((await get("/dashboard", { cookie })).text).toContain(NEW);
    expect((await get("/dashboard/system", { cookie })).status).toBe(404);
    const account = server.owner.now(() => listAccounts()).find(({ email }) => email === NEW);
    expect(account).toMatchObject({ isOperator: false });
    const own = server.owner.now(() => listWorkspaces()).filter(({ accountId }) => accountId === account?.id);
    expect(own).toMatchObject([{ name: "new", plan: "hobby" }]);
    expect((await site.signIn({ email: NEW })).status).toBe(303);

    const [change] = server.owner.now(() => listChanges(1));
    expect(change).toMatchObject({
      action: "account.create",
      subject: NEW,
      detail: "signed up",
      workspaceId: own[0]?.id,
      actor: { accountId: account?.id, email: NEW },
    });
    const told = server.log.map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(told).toContainEqual(expect.objectContaining({ event: "session.started", by: "sign-up" }));
    expect(told).toContainEqual(expect.objectContaining({ event: "change.made", action: "account.create" }));
  });

  test("gives the account the plan that the configuration names", async () => {
    const { server, fill, letterTo } = await startMailedSite({ newWorkspacePlan: "pro" });
    await fill("/dashboard/sign-up", { email: NEW });
    await fill(pathIn(await letterTo(NEW)), { new_password: PASSWORD });
    expect(server.owner.now(() => listWorkspaces()).map(({ plan }) => plan)).toEqual(["hobby", "pro"]);
  });

  test("with an address that has an account sends a letter that says so, and leads to the sign-in page", async () => {
    const { server, fill, get, letterTo } = await startMailedSite();
    await fill("/dashboard/sign-up", { email: ADA });
    const letter = await letterTo(ADA);
    expect(textOf(letter)).toContain("You have one already.");
    expect(textOf(letter)).not.toContain("token");
    expect((await get(pathIn(letter))).text).toContain('href="/dashboard/lost-password"');
    expect(server.owner.now(() => listAccounts())).toHaveLength(1);
  });

  test("is refused while there is no account, because the first one sees everything", async () => {
    const { server, mail, post } = await startMailedSite();
    server.owner.execute("DELETE FROM workspace; DELETE FROM account");
    const refused = await post("/sign-up", { email: NEW });
    expect(refused.status).toBe(503);
    expect(refused.text).toContain("whoever runs this server makes their own account first");
    expect(mail.received).toEqual([]);
  });

  test("ends with the sign-in page if the account was made meanwhile", async () => {
    const { server, fill, get, post, letterTo } = await startMailedSite();
    await fill("/dashboard/sign-up", { email: NEW });
    const link = pathIn(await letterTo(NEW));
    server.owner.now(() => insertAccountRows(NEW, server.clock.now()));
    expect((await get(link)).status).toBe(404);
    const token = link.slice(LINK.length);
    const refused = await post("/sign-up/confirm", { token, new_password: PASSWORD });
    expect([refused.status, refused.headers["set-cookie"]]).toEqual([404, undefined]);
    expect(refused.text).toContain('href="/dashboard/sign-in"');
    expect(server.owner.now(() => listAccounts())).toHaveLength(2);
  });
});

describe("a forgotten password", () => {
  test("leads from the sign-in page over a letter to a new one, which ends every session", async () => {
    const site = await startMailedSite();
    const { server, get, fill, letterTo } = site;
    const earlier = cookieOf(await site.useLink({ new_password: "the earlier password" }));
    server.clock.advance(1);
    expect((await get("/dashboard/sign-in")).text).toContain('href="/dashboard/lost-password"');
    const asked = await fill("/dashboard/lost-password", { email: ADA });
    expect([asked.status, asked.headers["location"]]).toEqual([303, "/dashboard/lost-password/sent"]);
    const entered = await fill(pathIn(await letterTo(ADA)), { new_password: PASSWORD });
    expect([entered.status, entered.headers["location"]]).toEqual([303, "/dashboard"]);
    const statusWith = async (cookie: string) => (await get("/dashboard", { cookie })).status;
    expect([await statusWith(earlier), await statusWith(cookieOf(entered))]).toEqual([303, 200]);
    const told = textOf(await letterTo(ADA, 2));
    expect(told).toContain("Subject: Your password was changed at forms.example.com");
    expect(told).toContain("https://forms.example.com/dashboard/lost-password");
    expect(told).not.toContain("token");
    expect((await site.signIn({ password: "the earlier password" })).status).toBe(401);
    expect((await site.signIn()).status).toBe(303);
    const [change] = server.owner.now(() => listChanges(1));
    expect(change).toMatchObject({ action: "account.set-password", detail: "by a link in an e-mail" });
  });

  test("ends the doubt whose address an account has, and the tokens that whoever made it may have", async () => {
    const { server, fill, letterTo } = await startMailedSite();
    const made = server.owner.now(function* () {
      const { id } = (yield* insertAccountRows(NEW, server.clock.now())).account;
      yield* noteDoubt(id);
      const token = { name: "CI", accountId: id, workspaceId: null, endpointId: null, expiresAt: null };
      return yield* insertTokenRow({ ...token, scopes: ["operator"] }, makeTokenText(), server.clock.now());
    });
    const working = () =>
      server.owner.prepare("SELECT id FROM api_token WHERE revoked_at IS NULL").pluck().all();
    const reset = async (count: number) => {
      await fill("/dashboard/lost-password", { email: NEW });
      expect((await fill(pathIn(await letterTo(NEW, count)), { new_password: PASSWORD })).status).toBe(303);
    };
    expect(working()).toEqual([made.id]);
    await reset(1);
    expect(working()).toEqual([]);
    expect(server.owner.now(() => listAccounts()).map(({ isDoubtful }) => isDoubtful)).toEqual([
      false,
      false,
    ]);
    // Who is not in doubt keeps theirs.
    server.owner.execute("UPDATE api_token SET revoked_at = NULL");
    server.clock.advance(HOUR_MS);
    await reset(2);
    expect(working()).toEqual([made.id]);
  });

  test("works for an account that never had one, whether people may sign up or not", async () => {
    const { fill, letterTo, get } = await startMailedSite({ dashboard: { signUp: "closed" } });
    expect((await get("/dashboard/sign-in")).text).not.toContain("sign-up");
    await fill("/dashboard/lost-password", { email: ADA });
    expect((await fill(pathIn(await letterTo(ADA)), { new_password: PASSWORD })).status).toBe(303);
  });
});

describe("an address", () => {
  test("that is known and one that is not get the same answer, byte for byte, and nobody unknown gets a letter", async () => {
    const { mail, post, get, letterTo } = await startMailedSite();
    for (const path of ["/sign-up", "/lost-password"]) {
      const answers = [await post(path, { email: ADA }), await post(path, { email: NEW })].map(seen);
      expect(answers[0]).toEqual(answers[1]);
      expect(answers[0]?.status).toBe(303);
      expect((await get(answers[0]?.headers["location"] ?? "")).text).not.toMatch(/@example/);
    }
    await letterTo(ADA, 2);
    await letterTo(NEW);
    expect(mail.received).toHaveLength(3);
  });

  test("that asks a fourth time within the hour gets the same answer and no letter, and its last link goes on working", async () => {
    const { server, post, letterTo, mail, get } = await startMailedSite();
    const answers = [];
    for (let number = 0; number < 4; number += 1)
      answers.push(seen(await post("/lost-password", { email: ADA })));
    expect(new Set(answers.map((each) => JSON.stringify(each))).size).toBe(1);
    const third = pathIn(await letterTo(ADA, 3));
    expect((await get(third)).status).toBe(200);
    expect(mail.received).toHaveLength(3);
    expect(server.log.some((line) => line.includes('"letter.refused"'))).toBe(true);
  });

  test("that is none is named at the form, which keeps what was typed", async () => {
    const { post, mail } = await startMailedSite();
    const refused = await post("/sign-up", { email: 'a"b <script>' });
    expect(refused.status).toBe(422);
    expect(refused.text).toContain("This is not an e-mail address that a mail server takes.");
    expect(refused.text).toContain('value="a&quot;b &lt;script&gt;"');
    expect(mail.received).toEqual([]);
  });
});

describe("a link", () => {
  test("that a program opens, however often, changes nothing", async () => {
    const { server, get, fill, letterTo } = await startMailedSite();
    await fill("/dashboard/sign-up", { email: NEW });
    const link = pathIn(await letterTo(NEW));
    const rows = () =>
      ["account", "workspace", "credential", "session", "mailed_link", "audit_event"].map((table) =>
        server.owner.prepare(`SELECT * FROM ${table}`).all(),
      );
    const before = rows();
    for (const method of ["GET", "HEAD", "GET"]) {
      const answer = await server.request({ method, path: link });
      expect([answer.status, answer.headers["set-cookie"]]).toEqual([200, undefined]);
    }
    expect(rows()).toEqual(before);
    expect((await get(link)).headers["referrer-policy"]).toBe("same-origin");
    expect((await fill(link, { new_password: PASSWORD })).status).toBe(303);
  });

  test.each([
    ["sign-up", NEW, DAY_MS],
    ["lost-password", ADA, HOUR_MS],
  ] as const)(
    "of %s works once, for its time, until a newer one replaces it",
    async (path, email, lifetime) => {
      const { server, get, post, fill, letterTo } = await startMailedSite();
      const ask = async (count: number) => {
        await fill(`/dashboard/${path}`, { email });
        return pathIn(await letterTo(email, count));
      };
      const token = (link: string) => link.split("token=")[1] ?? "";
      const use = (link: string) =>
        post((link.split("?")[0] ?? "").slice("/dashboard".length), {
          token: token(link),
          new_password: PASSWORD,
        });
      const refused = async (link: string) => {
        // In the language of the reader's browser, with what to do next.
        const shown = await get(link, { "accept-language": "pl" });
        expect([shown.status, shown.text]).toEqual([404, expect.stringContaining("Ten odnośnik nie działa")]);
        expect(shown.text).toContain(`lang="pl" dir="ltr"`);
        expect(shown.text).toMatch(new RegExp(`href="/dashboard/${path}">Poproś`));
        const answer = await use(link);
        expect([answer.status, answer.headers["set-cookie"]]).toEqual([404, undefined]);
        expect(answer.text).toContain("This link does not work");
        expect(answer.text).not.toContain(PASSWORD);
      };
      const old = await ask(1);
      server.clock.advance(lifetime);
      await refused(old);
      const replaced = await ask(2);
      const newest = await ask(3);
      await refused(replaced);
      expect((await use(newest)).status).toBe(303);
      await refused(newest);
    },
  );

  test("is not used up by a password that is refused, which no page repeats", async () => {
    const { fill, letterTo } = await startMailedSite();
    await fill("/dashboard/sign-up", { email: NEW });
    const link = pathIn(await letterTo(NEW));
    const refused = await fill(link, { new_password: "hunter2" });
    expect(refused.status).toBe(422);
    expect(refused.text).toContain("The password is too short");
    expect(refused.text).toContain(`value="${NEW}"`);
    expect(refused.text).not.toContain("hunter2");
    expect((await fill(link, { new_password: PASSWORD })).status).toBe(303);
  });

  test("has the configured address, whatever a request says of it", async () => {
    const { post, letterTo } = await startMailedSite(BEHIND_PROXY);
    const elsewhere = { ...HTTPS, host: "evil.example", "x-forwarded-host": "evil.example" };
    expect((await post("/lost-password", { email: ADA }, elsewhere)).status).toBe(303);
    const letter = await letterTo(ADA);
    expect(textOf(letter)).not.toContain("evil.example");
    expect(pathIn(letter)).toMatch(/^\/dashboard\/lost-password\/new\?token=/);
  });

  test("stands in no log line and no table, and neither does the address in the log", async () => {
    const { server, fill, letterTo } = await startMailedSite();
    await fill("/dashboard/sign-up", { email: NEW });
    const link = pathIn(await letterTo(NEW));
    await fill(link, { new_password: "short" });
    const token = link.slice(LINK.length);
    expect(server.log.join("")).not.toContain(token);
    expect(server.log.join("")).not.toContain(NEW);
    expect(server.log.some((line) => line.includes('"letter.sent"'))).toBe(true);
    expect(JSON.stringify(server.owner.prepare("SELECT * FROM mailed_link").all())).not.toContain(token);
  });
});

test("asking too often from one address is refused with the time to wait, and counts no other address", async () => {
  const { post } = await startMailedSite(BEHIND_PROXY);
  const from = (address: string, number: number) =>
    post("/lost-password", { email: `a${number}@example.org` }, { ...HTTPS, "x-forwarded-for": address });
  for (let number = 0; number < 10; number += 1) expect((await from("192.0.2.1", number)).status).toBe(303);
  const refused = await from("192.0.2.1", 10);
  expect(refused.status).toBe(429);
  expect(Number(refused.headers["retry-after"])).toBeGreaterThan(3500);
  expect(refused.text).toContain("Too many e-mails were asked for. Try again in 60 minutes.");
  expect((await from("192.0.2.2", 10)).status).toBe(303);
});

test("over plain http from another machine is refused before anything is asked", async () => {
  const { post, get, mail } = await startMailedSite(BEHIND_PROXY);
  const plain = { ...HTTPS, "x-forwarded-proto": "http" };
  for (const refused of [
    await get("/dashboard/sign-up", plain),
    await get("/dashboard/lost-password/new?token=x", plain),
    await post("/sign-up", { email: NEW }, plain),
    await post("/lost-password", { email: ADA }, plain),
  ]) {
    expect(refused.status).toBe(403);
    expect(refused.text).toContain("The dashboard needs https");
  }
  expect(mail.received).toEqual([]);
});

const PATHS = ["", "/sent"];

test("while signing up is closed its pages do not exist, and no page leads there", async () => {
  const { get, post, server, mail } = await startMailedSite({ dashboard: { signUp: "closed" } });
  for (const path of [...PATHS.map((each) => `/sign-up${each}`), "/sign-up/confirm?token=x"])
    expect((await get(`/dashboard${path}`)).status, path).toBe(404);
  const former = await get("/dashboard/sign-up/confirm?token=x", { "accept-language": "de" });
  expect(former.text).toContain("Dieser Link gilt nicht");
  expect((await post("/sign-up", { email: NEW })).status).toBe(404);
  expect((await post("/sign-up/confirm", { token: "x", new_password: PASSWORD })).status).toBe(404);
  expect((await get("/dashboard/sign-in")).text).not.toContain("sign-up");
  expect(server.owner.now(() => listAccounts())).toHaveLength(1);
  expect(mail.received).toEqual([]);
});

test("without a mail server, or without an address for links, there is no lost password either", async () => {
  const mailed = { mail: { host: "127.0.0.1", from: "forms@example.com" } };
  for (const overrides of [{ server: { port: 0, baseUrl: "https://forms.example.com" } }, mailed]) {
    const server = await startServer(overrides);
    const ask = (method: string, path: string) =>
      server.request({
        method,
        path: `/dashboard${path}`,
        headers: { "sec-fetch-site": "same-origin", "content-type": "application/x-www-form-urlencoded" },
        ...(method === "POST" && { body: "email=ada%40example.com" }),
      });
    for (const path of [...PATHS.map((each) => `/lost-password${each}`), "/lost-password/new?token=x"])
      expect((await ask("GET", path)).status, path).toBe(404);
    expect((await ask("POST", "/lost-password")).status).toBe(404);
    const { text } = await ask("GET", "/sign-in");
    expect(text).not.toContain("lost-password");
    expect(text).toContain("First time here, or password forgotten");
  }
});
