import { describe, expect, test } from "vitest";
import { insertAccountRows } from "../../src/workspaces/workspace-store.ts";
import { CLIENT, glewlwydRoot, PERSON, startGlewlwyd } from "../support/glewlwyd.ts";
import { BASE_URL } from "../support/mailed-site.ts";
import { cookieNamed, problemOf } from "../support/oidc-site.ts";
import { startServer } from "../support/test-server.ts";

describe.skipIf(glewlwydRoot === null)("signing in by Glewlwyd, a provider of another make", () => {
  async function open(isVerified = true) {
    const provider = await startGlewlwyd(BASE_URL, isVerified);
    const server = await startServer({
      server: { port: 0, baseUrl: BASE_URL },
      oidc: { issuer: provider.issuer, ...CLIENT, label: "Glewlwyd" },
      dashboard: { passwords: "off" },
    });
    // It looks at the real time of tokens.
    server.clock.set(Date.now());
    const add = (email: string) => server.owner.now(() => insertAccountRows(email, server.clock.now()));
    add("root@example.com");
    add(PERSON.email);
    const get = (path: string, cookie: string) =>
      server.request({ method: "GET", path, headers: { cookie } });
    const begin = async () => {
      const led = await get("/dashboard/sign-in/oidc?next=%2Fdashboard%2Fendpoints", "");
      return { address: led.headers["location"] ?? "", cookie: cookieNamed(led, "formsvc-flow") };
    };
    const comeBack = (query: URLSearchParams, cookie: string) =>
      get(`/dashboard/sign-in/oidc/callback?${query.toString()}`, cookie);
    return { provider, server, get, begin, comeBack };
  }

  test("its discovery, code, PKCE, signed ID token and checked address let a person in, with passwords off", async () => {
    const { provider, server, get, begin, comeBack } = await open();
    const { address, cookie } = await begin();
    expect(address).toContain(`${provider.issuer}/auth?`);
    expect(new URL(address).searchParams.get("code_challenge_method")).toBe("S256");
    const query = await provider.signIn(address);
    const entered = await comeBack(query, cookie);
    expect([entered.status, entered.headers["location"]]).toEqual([303, "/dashboard/endpoints"]);
    const session = cookieNamed(entered, "formsvc-session");
    expect((await get("/dashboard/account", session)).text).toContain(PERSON.email);
    expect(server.owner.prepare("SELECT issuer FROM oidc_binding").pluck().all()).toEqual([provider.issuer]);
    // It takes a code once, and another step of ours takes none of this one.
    const replayed = await comeBack(query, cookie);
    expect([replayed.status, cookieNamed(replayed, "formsvc-session")]).toEqual([401, ""]);
    const other = await begin();
    expect((await comeBack(await provider.signIn(address), other.cookie)).status).toBe(401);
  });

  test("an address that it has not checked lets nobody in", async () => {
    const { provider, begin, comeBack } = await open(false);
    const { address, cookie } = await begin();
    const refused = await comeBack(await provider.signIn(address), cookie);
    expect([refused.status, cookieNamed(refused, "formsvc-session")]).toEqual([401, ""]);
    expect(problemOf(refused)).toContain("Glewlwyd has not checked");
  });
});
