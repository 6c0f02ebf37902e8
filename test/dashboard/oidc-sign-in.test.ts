import { describe, expect, test } from "vitest";
import { listChanges } from "../../src/audit/audit-store.ts";
import { findCredential } from "../../src/sessions/credential-store.ts";
import { digestOf } from "../../src/sessions/second-factor.ts";
import { BASE_URL } from "../support/mailed-site.ts";
import { ANA, cookieNamed, problemOf, startOidcSite } from "../support/oidc-site.ts";

describe("the way to the issuer", () => {
  test("asks for a code with PKCE, state and nonce, and leads back to the address of server.baseUrl", async () => {
    const { begin, issuer, get } = await startOidcSite();
    expect((await get("/dashboard/sign-in?next=/dashboard/usage")).text).toMatch(
      /href="\/dashboard\/sign-in\/oidc\?next=%2Fdashboard%2Fusage">Sign in with Example ID</,
    );
    const { address } = await begin();
    const { origin, pathname, searchParams } = new URL(address);
    expect(`${origin}${pathname}`).toBe(`${issuer.issuer}/authorize`);
    expect(Object.fromEntries(searchParams)).toEqual({
      client_id: "forms",
      response_type: "code",
      redirect_uri: `${BASE_URL}/dashboard/sign-in/oidc/callback`,
      scope: "openid email",
      state: expect.stringMatching(/^[\w-]{43}$/),
      nonce: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge_method: "S256",
    });
    const again = new URL((await begin()).address).searchParams;
    for (const name of ["state", "nonce", "code_challenge"])
      expect(again.get(name)).not.toBe(searchParams.get(name));
  });

  test("ends at the page that was asked for, and never at another site", async () => {
    const { begin, comeBack, addAccount, issuer } = await startOidcSite();
    addAccount(ANA.email);
    const endOf = async (next: string) => {
      const { address, cookie } = await begin(next);
      return (await comeBack(issuer.signIn(address, ANA), cookie)).headers["location"];
    };
    expect(await endOf("/dashboard/usage?month=2026-01")).toBe("/dashboard/usage?month=2026-01");
    for (const next of [
      "https://evil.example/",
      "//evil.example/dashboard",
      "/dashboard/../evil",
      "/\\evil.example",
    ])
      expect(await endOf(next), next).toBe("/dashboard");
    expect(await endOf(`/dashboard?q=${"x".repeat(2000)}`)).toBe("/dashboard");
  });

  test("is not there without an issuer", async () => {
    const { get } = await startOidcSite({ issuer: null });
    for (const path of ["/dashboard/sign-in/oidc", "/dashboard/sign-in/oidc/callback?code=1"])
      expect((await get(path)).status).toBe(404);
    expect((await get("/dashboard/sign-in")).text).not.toContain("oidc");
  });
});

describe("somebody whom the issuer names", () => {
  test("is bound once to the account of their checked address, and keeps it when the address changes", async () => {
    const { signIn, signedInBy, addAccount, server } = await startOidcSite();
    addAccount("Ana@Example.org");
    addAccount("bo@example.org");
    expect(signedInBy(await signIn())).toBe("Ana@Example.org");
    expect(signedInBy(await signIn({ ...ANA, email: "bo@example.org" }))).toBe("Ana@Example.org");
    const made = server.owner.now(() => listChanges(50)).filter(({ action }) => action === "account.bind");
    expect(made.map(({ subject }) => subject)).toEqual(["Ana@Example.org"]);
  });

  test("with the address of an account that is another subject is refused", async () => {
    const { signIn, signedInBy, addAccount } = await startOidcSite({ createAccounts: true });
    addAccount(ANA.email);
    await signIn();
    const other = await signIn({ ...ANA, sub: "another-subject" });
    expect([other.status, signedInBy(other)]).toEqual([401, undefined]);
    expect(problemOf(other)).toContain("belongs to another person of Example ID");
  });

  test("gets an account with a workspace only with createAccounts", async () => {
    const closed = await startOidcSite();
    const refused = await closed.signIn();
    expect([refused.status, problemOf(refused)]).toEqual([
      401,
      "There is no account with your address here. Ask whoever runs this server for one.",
    ]);
    expect(closed.accountOf(ANA.email)).toBeUndefined();
    const open = await startOidcSite({ createAccounts: true });
    expect(open.signedInBy(await open.signIn())).toBe(ANA.email);
    expect(open.accountOf(ANA.email)).toMatchObject({ isOperator: false });
    expect(open.signedInBy(await open.signIn())).toBe(ANA.email);
    const workspaces = open.server.owner.prepare("SELECT count(*) FROM workspace").pluck().get();
    expect(workspaces).toBe(2);
  });

  test("is let in with an address of allowedDomains alone, compared as domains are", async () => {
    const { signIn, signedInBy } = await startOidcSite({
      createAccounts: true,
      allowedDomains: ["Example.ORG"],
    });
    expect(signedInBy(await signIn({ ...ANA, email: "Ana@EXAMPLE.org" }))).toBe("Ana@EXAMPLE.org");
    for (const email of ["bo@example.com", "bo@sub.example.org", "bo@evil-example.org"]) {
      const refused = await signIn({ sub: email, email, email_verified: true });
      expect(problemOf(refused), email).toContain("Addresses of your domain do not sign in here.");
    }
  });

  test("is asked for the account’s second factor, which decides whether they are bound at all", async () => {
    const { signIn, signedInBy, addAccount, server } = await startOidcSite();
    const { id } = addAccount(ANA.email);
    addFactor(server.owner, id);
    const asked = await signIn({ ...ANA, amr: ["pwd", "mfa"] });
    expect([asked.status, signedInBy(asked)]).toEqual([200, undefined]);
    expect(asked.text).toContain("<h1>Second factor</h1>");
    const ticket = /name="ticket" value="([^"]+)"/.exec(asked.text)?.[1] ?? "";
    const give = (code: string) => postForm(server, "/dashboard/sign-in/code", { ticket, code });
    expect((await give("000000")).status).toBe(401);
    expect(server.owner.prepare("SELECT count(*) FROM oidc_binding").pluck().get()).toBe(0);
    expect(signedInBy(await give("aaaa-aaaa-aaaa-aaaa"))).toBe(ANA.email);
    expect(server.owner.prepare("SELECT count(*) FROM oidc_binding").pluck().get()).toBe(1);
  });

  test("is not asked for it with trustSecondFactor if the issuer says that it asked for one", async () => {
    const { signIn, signedInBy, addAccount, server } = await startOidcSite({ trustSecondFactor: true });
    addFactor(server.owner, addAccount(ANA.email).id);
    for (const amr of [undefined, ["pwd"], "mfa"])
      expect(signedInBy(await signIn({ ...ANA, amr }))).toBeUndefined();
    expect(signedInBy(await signIn({ ...ANA, amr: ["pwd", "mfa"] }))).toBe(ANA.email);
  });

  test("is read from the issuer’s page of users if the ID token says less", async () => {
    const { signIn, signedInBy, issuer } = await startOidcSite({ createAccounts: true });
    issuer.lies.userinfo = ANA;
    expect(signedInBy(await signIn({ sub: ANA.sub }))).toBe(ANA.email);
    // A checked address of one source says nothing of another address.
    issuer.lies.userinfo = { sub: "b", email: "bo@example.org", email_verified: true };
    expect(signedInBy(await signIn({ sub: "b", email: "root@example.com" }))).toBe("bo@example.org");
    issuer.lies.userinfo = { ...ANA, sub: "somebody else" };
    expect((await signIn({ sub: "c" })).status).toBe(401);
  });
});

describe("the operator group", () => {
  const GROUP = { operatorGroup: "admins", groupsClaim: "roles" };

  test("makes operators and takes that back at the next sign-in", async () => {
    const { signIn, addAccount, accountOf, server, begin } = await startOidcSite(GROUP);
    expect(new URL((await begin()).address).searchParams.get("scope")).toBe("openid email groups");
    addAccount(ANA.email);
    const isOperator = async (roles: unknown) => {
      await signIn({ ...ANA, roles });
      return accountOf(ANA.email)?.isOperator;
    };
    expect(await isOperator(["staff", "admins"])).toBe(true);
    expect(await isOperator(["staff"])).toBe(false);
    expect(await isOperator("admins")).toBe(true);
    expect(await isOperator({ admins: true })).toBe(false);
    const said = server.owner.now(() => listChanges(50)).filter(({ action }) => action.includes("operator"));
    expect(said.map(({ action }) => action)).toEqual([
      "account.unmake-operator",
      "account.make-operator",
      "account.unmake-operator",
      "account.make-operator",
    ]);
    expect(said[0]?.detail).toContain("by the group admins of http://127.0.0.1:");
  });

  test("takes nothing from an operator whom somebody made", async () => {
    const { signIn, accountOf } = await startOidcSite(GROUP);
    await signIn({ sub: "root", email: "root@example.com", email_verified: true, roles: [] });
    expect(accountOf("root@example.com")?.isOperator).toBe(true);
  });

  test("leaves the last operator what it gave", async () => {
    const { signIn, addAccount, accountOf, server } = await startOidcSite(GROUP);
    addAccount(ANA.email);
    await signIn({ ...ANA, roles: ["admins"] });
    server.owner.execute("UPDATE account SET is_operator = 0 WHERE email = 'root@example.com'");
    await signIn({ ...ANA, roles: [] });
    expect(accountOf(ANA.email)?.isOperator).toBe(true);
    server.owner.execute("UPDATE account SET is_operator = 1 WHERE email = 'root@example.com'");
    await signIn({ ...ANA, roles: [] });
    expect(accountOf(ANA.email)?.isOperator).toBe(false);
  });
});

describe("signing out", () => {
  test("ends the session here and goes on to the issuer by which it began", async () => {
    const { signIn, addAccount, server, issuer, get } = await startOidcSite();
    addAccount(ANA.email);
    const cookie = cookieNamed(await signIn(), "formsvc-session");
    const left = await postForm(server, "/dashboard/sign-out", {}, { cookie });
    expect(left.headers["refresh"]).toBe(
      `0; url=${issuer.issuer}/end?post_logout_redirect_uri=${encodeURIComponent(`${BASE_URL}/dashboard/sign-in`)}&client_id=forms`,
    );
    expect(left.text).toContain("You are signed out");
    expect((await get("/dashboard", cookie)).status).toBe(303);
  });

  test("ends the session here if the issuer is silent or names no address for it", async () => {
    for (const isDown of [true, false]) {
      const { signIn, addAccount, server, issuer, get } = await startOidcSite();
      addAccount(ANA.email);
      if (!isDown) issuer.lies.metadata = ({ end_session_endpoint: _none, ...right }) => right;
      const cookie = cookieNamed(await signIn(), "formsvc-session");
      if (isDown) {
        await issuer.stop();
        await server.restart();
      }
      const left = await postForm(server, "/dashboard/sign-out", {}, { cookie });
      expect([left.status, left.headers["location"]]).toEqual([303, "/dashboard/sign-in?notice=signed-out"]);
      expect((await get("/dashboard", cookie)).status).toBe(303);
    }
  });
});

type Site = Awaited<ReturnType<typeof startOidcSite>>;

function postForm(
  server: Site["server"],
  path: string,
  form: Record<string, string>,
  headers: Record<string, string> = {},
) {
  return server.request({
    method: "POST",
    path,
    headers: {
      "content-type": "application/x-www-form-urlencoded",
      "sec-fetch-site": "same-origin",
      ...headers,
    },
    body: new URLSearchParams(form).toString(),
  });
}

/** A second factor with one recovery code, `aaaa-aaaa-aaaa-aaaa`. */
function addFactor(db: Site["server"]["owner"], accountId: string): void {
  db.prepare("INSERT INTO credential VALUES (?, '$argon2id$', x'00', 1, 1)").run(accountId);
  db.prepare("INSERT INTO recovery_code VALUES (?, ?)").run(accountId, digestOf("aaaa-aaaa-aaaa-aaaa"));
  expect(db.now(() => findCredential(accountId))).toBeDefined();
}
