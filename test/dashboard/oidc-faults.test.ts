import { describe, expect, test } from "vitest";
import { MAX_ANSWER_BYTES } from "../../src/sessions/bounded-fetch.ts";
import { ANA, problemOf, startOidcSite } from "../support/oidc-site.ts";
import type { Lies } from "../support/scripted-issuer.ts";
import { MINUTE_MS } from "../../src/foundation/time-units.ts";

/** A token for this client and another one. @param party for whom it says that it was made */
function several(other: string, party?: string): NonNullable<Lies["claims"]> {
  return ({ aud, ...right }) => ({ ...right, aud: [aud, other], ...(party !== undefined && { azp: party }) });
}

const LIES: readonly (readonly [string, Partial<Lies>, RegExp])[] = [
  ["another nonce", { claims: (right) => ({ ...right, nonce: "of an earlier sign-in" }) }, /nonce/],
  ["no nonce", { claims: ({ nonce: _none, ...right }) => right }, /nonce/],
  ["another issuer", { claims: (right) => ({ ...right, iss: "https://evil.example" }) }, /iss/],
  ["another audience", { claims: (right) => ({ ...right, aud: "another client" }) }, /aud/],
  ["two audiences, and none of them as the one it is for", { claims: several("another client") }, /aud/],
  ["two audiences, made for the other", { claims: several("another client", "another client") }, /azp/],
  ["no audience", { claims: ({ aud: _none, ...right }) => right }, /aud/],
  ["no end", { claims: ({ exp: _none, ...right }) => right }, /exp/],
  ["no time", { claims: ({ iat: _none, ...right }) => right }, /iat/],
  ["a begin in the future", { claims: (right) => ({ ...right, nbf: Number(right["iat"]) + 3600 }) }, /nbf/],
  ["a number as subject", { claims: (right) => ({ ...right, sub: 1 }) }, /sub/],
  ["a list of addresses", { claims: (right) => ({ ...right, email: [ANA.email] }) }, /no e-mail address/],
  [
    "a page of users about another subject",
    {
      claims: ({ email_verified: _none, ...right }) => right,
      userinfo: { sub: "another", email: ANA.email, email_verified: true },
    },
    /sub/,
  ],
  ["an end in the past", { claims: (right) => ({ ...right, exp: Number(right["iat"]) - 3600 }) }, /exp/],
  ["no subject", { claims: ({ sub: _none, ...right }) => right }, /sub/],
  ["no signature (alg none)", { header: () => ({ alg: "none" }), signature: () => "" }, /alg/],
  ["a signature of a secret (HS256)", { header: (right) => ({ ...right, alg: "HS256" }) }, /alg/],
  [
    "a signature that does not fit",
    { signature: (right) => right.replace(/^.{8}/, "AAAAAAAA") },
    /signature/,
  ],
  ["an unknown key", { header: (right) => ({ ...right, kid: "two" }) }, /not right/],
  [
    "no address",
    { claims: ({ email: _none, ...right }) => right, userinfo: { sub: ANA.sub } },
    /no e-mail address/,
  ],
  ["an unchecked address", { claims: (right) => ({ ...right, email_verified: false }) }, /has not checked/],
  [
    "an unchecked address as a text",
    { claims: (right) => ({ ...right, email_verified: "false" }) },
    /has not checked/,
  ],
  [
    "nothing about the check",
    { claims: ({ email_verified: _none, ...right }) => right, userinfo: { sub: ANA.sub, email: ANA.email } },
    /has not checked/,
  ],
  [
    "an address of two lines",
    { claims: (right) => ({ ...right, email: "a@b\nroot@example.com" }) },
    /not an e-mail address/,
  ],
  ["an endless subject", { claims: (right) => ({ ...right, sub: "s".repeat(300) }) }, /names nobody/],
];

test.each(LIES)("an ID token with %s signs nobody in, and the page says why", async (_what, lies, why) => {
  const { signIn, signedInBy, addAccount, issuer, server } = await startOidcSite();
  addAccount(ANA.email);
  Object.assign(issuer.lies, lies);
  const refused = await signIn();
  expect([refused.status, signedInBy(refused)]).toEqual([401, undefined]);
  expect(problemOf(refused)).toMatch(why);
  expect(server.owner.prepare("SELECT count(*) FROM oidc_binding").pluck().get()).toBe(0);
  const log = server.log.join("");
  expect(log).toMatch(/"event":"oidc.failed".*"step":"finish"/);
  expect(log).not.toMatch(/eyJ|a-secret-access-token|secret of the client/);
});

describe("what comes back", () => {
  test("counts for the browser that began, once, for ten minutes, and with the state of that time", async () => {
    const { begin, comeBack, addAccount, issuer, server, signedInBy } = await startOidcSite();
    addAccount(ANA.email);
    const { address, cookie } = await begin();
    const query = issuer.signIn(address, ANA);
    const asked = issuer.asked.length;
    const other = (await begin()).cookie;
    const wrongState = new URLSearchParams(
      [...query].map(([name, value]) => [name, name === "state" ? "x" : value]),
    );
    for (const [given, from] of [
      [query, ""],
      [query, `${cookie}x`],
      [query, cookie.replace("=", "=A")],
      [query, other],
      [wrongState, cookie],
      [new URLSearchParams({ error: "access_denied", error_description: "come to evil.example" }), ""],
    ] as const) {
      const refused = await comeBack(given, from);
      expect([refused.status, signedInBy(refused)]).toEqual([401, undefined]);
      expect(refused.text).not.toContain("evil.example");
    }
    // Nobody was asked about a code that this browser did not ask for.
    expect(issuer.asked).toHaveLength(asked);
    const came = await comeBack(query, cookie);
    expect(signedInBy(came)).toBe(ANA.email);
    expect(came.headers["set-cookie"]).toContain("formsvc-flow=; Path=/; Max-Age=0");
    const late = await begin();
    server.clock.advance(10 * MINUTE_MS);
    expect((await comeBack(issuer.signIn(late.address, ANA), late.cookie)).status).toBe(401);
  });

  test("from the first of two tabs is told so, and counts as no failure of the issuer", async () => {
    const { begin, comeBack, issuer, server } = await startOidcSite();
    const first = await begin();
    const second = await begin();
    const refused = await comeBack(issuer.signIn(first.address, ANA), second.cookie);
    expect(problemOf(refused)).toContain("was begun in another browser or tab");
    expect(server.log.join("")).not.toMatch(/oidc\.failed|sign-in\.failed/);
  });

  test.each([
    ["in the body", {}],
    ["by a header alone", { "www-authenticate": 'Basic realm="clients"' }],
  ])(
    "is no person if the issuer refuses the server’s secret %s, and the log says where to look",
    async (_how, headers) => {
      const { signIn, issuer, server } = await startOidcSite();
      const answer = JSON.stringify({ error: "invalid_client" });
      issuer.lies.answers = {
        "/token": (_request, response) =>
          void response.writeHead(401, { "content-type": "application/json", ...headers }).end(answer),
      };
      expect(problemOf(await signIn())).toMatch(/^Example ID does not take this server's name or secret/);
      expect(server.log.join("")).toMatch(/"oidc.failed".*look at oidc.clientId and oidc.clientSecretFile/);
    },
  );

  test("is told of the clocks if a token is of another time", async () => {
    const { signIn, issuer } = await startOidcSite();
    issuer.lies.claims = (right) => ({ ...right, exp: Number(right["exp"]) - 7200 });
    expect(problemOf(await signIn())).toContain("exp; one of the two clocks may be wrong");
  });

  test("from an issuer that was mixed up with another one is refused before a code is shown to anybody", async () => {
    const { begin, comeBack, issuer } = await startOidcSite();
    const { address, cookie } = await begin();
    const query = issuer.signIn(address, ANA);
    const asked = issuer.asked.length;
    for (const iss of ["https://evil.example", ""]) {
      const mixed = new URLSearchParams(query);
      if (iss === "") mixed.delete("iss");
      else mixed.set("iss", iss);
      expect(problemOf(await comeBack(mixed, cookie))).toContain("is not right");
    }
    expect(issuer.asked).toHaveLength(asked);
  });

  test("with a code that another sign-in was given is refused by PKCE", async () => {
    const { begin, comeBack, issuer, signedInBy } = await startOidcSite({ createAccounts: true });
    const attacker = await begin();
    const stolen = issuer.signIn(attacker.address, { ...ANA, sub: "attacker" });
    const victim = await begin();
    stolen.set("state", new URL(victim.address).searchParams.get("state") ?? "");
    const refused = await comeBack(stolen, victim.cookie);
    expect(signedInBy(refused)).toBeUndefined();
    expect(problemOf(refused)).toBe("Example ID refused: invalid_grant (no such &lt;b&gt;code&lt;/b&gt;).");
  });

  test("is told in the issuer’s own words when it refuses", async () => {
    const { begin, comeBack, server } = await startOidcSite();
    const { address, cookie } = await begin();
    const query = new URLSearchParams({ error: "access_denied", error_description: "You <i>cancelled</i>." });
    query.set("state", new URL(address).searchParams.get("state") ?? "");
    query.set("iss", server.config.oidc.issuer ?? "");
    const refused = await comeBack(query, cookie);
    expect(problemOf(refused)).toContain(
      "Example ID refused: access_denied (You &lt;i&gt;cancelled&lt;/i&gt;.)",
    );
  });

  test("is counted by address: after ten failures the issuer is asked no more", async () => {
    const { begin, comeBack, issuer } = await startOidcSite();
    const way = await begin();
    const query = issuer.signIn(way.address, ANA);
    for (let count = 0; count < 10; count += 1) expect((await comeBack(query, way.cookie)).status).toBe(401);
    const asked = issuer.asked.length;
    expect((await comeBack(query, way.cookie)).status).toBe(429);
    expect(issuer.asked).toHaveLength(asked);
  });
});

describe("an issuer that", () => {
  const PAGE = "/.well-known/openid-configuration";

  test("is down leaves the sign-in page as it is, says so, and costs nobody an attempt", async () => {
    const { get, issuer, server } = await startOidcSite();
    await issuer.stop();
    for (let count = 0; count < 12; count += 1) {
      const answer = await get("/dashboard/sign-in/oidc");
      expect(answer.status).toBe(503);
      expect(answer.headers["retry-after"]).toBe("10");
      expect(problemOf(answer)).toMatch(
        /^Example ID cannot be reached \(ECONN\w+\)\. Try again in a moment\.$/,
      );
      expect(answer.text).toContain('name="password"');
    }
    expect((await get("/dashboard/sign-in")).status).toBe(200);
    expect(server.log.join("")).toMatch(/"event":"oidc.failed".*"step":"begin","reason":"cannot be reached/);
  });

  test("goes down between the two steps signs nobody in, and costs no attempt", async () => {
    const { begin, comeBack, issuer } = await startOidcSite();
    const { address, cookie } = await begin();
    const query = issuer.signIn(address, ANA);
    await issuer.stop();
    for (let count = 0; count < 12; count += 1) expect((await comeBack(query, cookie)).status).toBe(503);
  });

  test.each([
    ["never answers", () => {}],
    ["answers without an end", (response: Writing) => void response.write("{".padEnd(1024, " "))],
  ])("%s is given up, and the sign-in page answers meanwhile", async (_how, answer) => {
    const { get, issuer } = await startOidcSite();
    issuer.lies.answers = { [PAGE]: (_request, response) => answer(response) };
    const waiting = get("/dashboard/sign-in/oidc");
    expect((await get("/dashboard/sign-in")).status).toBe(200);
    const given = await waiting;
    expect([given.status, problemOf(given)]).toEqual([503, expect.stringContaining("within 5 seconds")]);
  });

  test("answers with too many bytes is not read to the end", async () => {
    const { get, issuer } = await startOidcSite();
    issuer.lies.answers = { [PAGE]: (_request, response) => response.end(" ".repeat(MAX_ANSWER_BYTES + 1)) };
    expect(problemOf(await get("/dashboard/sign-in/oidc"))).toContain("answers with more than 262144 bytes");
  });

  test("says that it is another one, leads elsewhere, or names addresses without https is refused", async () => {
    const { get, issuer, begin, comeBack } = await startOidcSite();
    const metadata = async (lie: Lies["metadata"]) => {
      const site = await startOidcSite();
      if (lie !== undefined) site.issuer.lies.metadata = lie;
      return site;
    };
    const other = await metadata((right) => ({ ...right, issuer: "https://evil.example" }));
    expect(problemOf(await other.get("/dashboard/sign-in/oidc"))).toContain("issuer");
    const plain = await metadata((right) => ({ ...right, token_endpoint: "http://192.0.2.1/token" }));
    const way = await plain.begin();
    expect(problemOf(await plain.comeBack(plain.issuer.signIn(way.address, ANA), way.cookie))).toContain(
      "names an address that is not https",
    );
    const { address, cookie } = await begin();
    issuer.lies.answers = {
      "/token": (_request, response) => response.writeHead(302, { location: "http://127.0.0.1:9/" }).end(),
    };
    expect((await comeBack(issuer.signIn(address, ANA), cookie)).status).toBe(401);
    issuer.lies.answers = { "/token": (_request, response) => response.writeHead(502).end("<html>") };
    expect(problemOf(await comeBack(issuer.signIn(address, ANA), cookie))).toContain(
      "answers with the status 502",
    );
    expect((await get("/dashboard/sign-in")).status).toBe(200);
  });

  test.each([
    ["is 404", undefined, 404, /has no configuration .*\(.*404\).*look at oidc\.issuer/],
    ["is kept from strangers", undefined, 401, /has no configuration .*look at oidc\.issuer/],
    [
      "is another issuer’s",
      { issuer: "https://evil.example" },
      200,
      /has no configuration .*\(.*: issuer\).*look at oidc\.issuer/,
    ],
  ])("has a configuration that %s is told with the setting to look at", async (_what, lie, status, words) => {
    const { get, issuer, server } = await startOidcSite();
    if (lie !== undefined) issuer.lies.metadata = (right) => ({ ...right, ...lie });
    if (status !== 200)
      issuer.lies.answers = {
        [PAGE]: (_request, response) =>
          response.writeHead(status, { "www-authenticate": 'Basic realm="all"' }).end("<h1>No</h1>"),
      };
    expect(problemOf(await get("/dashboard/sign-in/oidc"))).toMatch(words);
    expect(server.log.join("")).toMatch(
      /"oidc.failed".*"reason":"has no configuration .*look at oidc\.issuer"/,
    );
  });

  test("was silent is asked again", async () => {
    const { get, issuer, begin } = await startOidcSite();
    issuer.lies.answers = { [PAGE]: (_request, response) => response.writeHead(503).end() };
    expect((await get("/dashboard/sign-in/oidc")).status).toBe(503);
    issuer.lies.answers = {};
    await expect.poll(async () => (await get("/dashboard/sign-in/oidc")).status).toBe(303);
    expect((await begin()).address).toContain("/authorize");
  });
});

type Writing = { write(text: string): unknown };
