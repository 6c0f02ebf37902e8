import { describe, expect, test } from "vitest";
import { giveSignInLink } from "../../src/sessions/sign-in-operations.ts";
import { vouchForAccount } from "../../src/sessions/vouch-operation.ts";
import { noteDoubt } from "../../src/workspaces/proved-email.ts";
import { findAccountByEmail, insertAccountRows } from "../../src/workspaces/workspace-store.ts";
import { dashboardUrl } from "../support/dashboard-address.ts";
import { sendRequest } from "../support/http-client.ts";
import { cookieOf, PASSWORD, signInForms } from "../support/sign-in-form.ts";
import { performOn } from "../support/terminal.ts";
import { type ConfigOverrides, startServer } from "../support/test-server.ts";
import { visit } from "../support/visitor.ts";

const SECRET = "a secret of sixteen characters".replaceAll(" ", "-");
const PROXY = {
  server: { port: 0, trustProxy: ["127.0.0.1"] },
  dashboard: { trustedUserHeader: { name: "Remote-Email", secretHeader: "X-Proxy-Secret", secret: SECRET } },
} satisfies ConfigOverrides;
const ANA = "ana@example.org";

async function start(overrides: ConfigOverrides = PROXY) {
  const server = await startServer(overrides);
  server.owner.now(() => insertAccountRows("root@example.com", server.clock.now()));
  server.owner.now(() => insertAccountRows(ANA, server.clock.now()));
  const get = (headers: Record<string, string | string[]>, path = "/dashboard/account") =>
    server.request({ method: "GET", path, headers });
  const from = (email: string | string[]) => ({ "remote-email": email, "x-proxy-secret": SECRET });
  return { server, get, from };
}

describe("a proxy that names who is signed in", () => {
  test("is believed for each request by itself, and no session is made", async () => {
    const { get, from, server } = await start();
    const shown = await get(from("Ana@Example.org"));
    expect([shown.status, shown.text.includes(ANA)]).toEqual([200, true]);
    expect(shown.headers["set-cookie"]).toBeUndefined();
    expect(server.owner.prepare("SELECT count(*) FROM session").pluck().get()).toBe(0);
    expect((await get({})).status).toBe(303);
    expect((await get(from("root@example.com"), "/dashboard/system")).status).toBe(200);
    expect((await get(from(ANA), "/dashboard/system")).status).toBe(404);
    server.owner.execute("UPDATE account SET is_operator = 0");
    expect((await get(from("root@example.com"), "/dashboard/system")).status).toBe(404);
  });

  test("without the secret, with a wrong one or with two is not, nor is anybody else", async () => {
    const { get, from } = await start();
    for (const secret of [undefined, "", SECRET.slice(1), `${SECRET}x`, [SECRET, SECRET]]) {
      const headers = { ...from(ANA), ...(secret !== undefined && { "x-proxy-secret": secret }) };
      const { "x-proxy-secret": _none, ...without } = headers;
      expect((await get(secret === undefined ? without : headers)).status, String(secret)).toBe(303);
    }
    const elsewhere = await start({ ...PROXY, server: { port: 0, trustProxy: ["192.0.2.1"] } });
    expect((await elsewhere.get(elsewhere.from(ANA))).status).toBe(303);
  });

  test("with two values, none, several in one, or nobody’s address signs nobody in, whatever session there is", async () => {
    const { get, from, server } = await start();
    const { cookie } = await visit(server, ANA);
    expect((await get({ cookie })).status).toBe(200);
    for (const value of [
      [ANA, ANA],
      [ANA, "root@example.com"],
      "",
      " ",
      `${ANA}, root@example.com`,
      "eve@example.org",
    ])
      expect((await get({ ...from(value), cookie })).status, String(value)).toBe(303);
    const told = await get(from("eve@<b>example.org"), "/dashboard/sign-in");
    expect(told.text).toContain("names eve@&lt;b&gt;example.org, and no account has this address");
    expect((await get(from([ANA, ANA]), "/dashboard/sign-in")).text).toContain("does not name one person");
  });

  test("counts over a session, and a page of another site writes nothing for it", async () => {
    const { get, from, server } = await start();
    const { cookie } = await visit(server, "root@example.com");
    expect((await get({ ...from(ANA), cookie })).text).toContain(ANA);
    const post = (site: string) =>
      server.request({
        method: "POST",
        path: "/dashboard/endpoints/new",
        headers: {
          ...from(ANA),
          "content-type": "application/x-www-form-urlencoded",
          "sec-fetch-site": site,
        },
        body: "name=Shop",
      });
    expect((await post("cross-site")).status).toBe(403);
    expect(server.owner.prepare("SELECT count(*) FROM endpoint").pluck().get()).toBe(0);
    expect((await post("same-origin")).status).toBeLessThan(400);
    expect(server.owner.prepare("SELECT count(*) FROM endpoint").pluck().get()).toBe(1);
  });

  test("needs no secret where the dashboard has an address of its own, and is not heard where posts are taken", async () => {
    const { server, get } = await start({
      ...PROXY,
      dashboard: { listen: "127.0.0.1:0", trustedUserHeader: { name: "Remote-Email" } },
    });
    const headers = { "remote-email": ANA };
    const own = dashboardUrl(server);
    const shown = await sendRequest(own, { method: "GET", path: "/dashboard/account", headers });
    expect([shown.status, shown.text.includes(ANA)]).toEqual([200, true]);
    expect((await sendRequest(own, { method: "GET", path: "/dashboard/account", headers: {} })).status).toBe(
      303,
    );
    expect((await get(headers)).status).toBe(404);
  });

  test("is where one signs out", async () => {
    const { from, server } = await start();
    const left = await server.request({
      method: "POST",
      path: "/dashboard/sign-out",
      headers: {
        ...from(ANA),
        "content-type": "application/x-www-form-urlencoded",
        "sec-fetch-site": "same-origin",
      },
      body: "",
    });
    expect([left.status, left.text.includes("Sign out there")]).toEqual([200, true]);
  });

  test("is heard by open pages as long as the account is there", async () => {
    const { server } = await start();
    const answer = await fetch(`${server.url}/dashboard/events`, {
      headers: { "remote-email": ANA, "x-proxy-secret": SECRET },
    });
    expect([answer.status, answer.headers.get("content-type")]).toEqual([
      200,
      "text/event-stream; charset=utf-8",
    ]);
    await answer.body?.cancel();
  });

  test("is not believed about an account in doubt: the sign-in page says what to do, and whoever made it loses it when an operator vouches", async () => {
    const { get, from, server } = await start();
    const { id } = server.owner.now(() => findAccountByEmail(ANA)) ?? { id: "" };
    server.owner.now(() => noteDoubt(id));
    const maker = await visit(server, ANA);
    expect((await get({ cookie: maker.cookie })).status).toBe(200);
    expect((await get(from(ANA))).status).toBe(303);
    const told = await get(from(ANA), "/dashboard/sign-in");
    expect(told.text).toContain(
      `names ${ANA}. Nobody has shown yet that the account with this address is yours`,
    );
    expect(told.text).toContain("Ask whoever runs this server to vouch for the address.");
    const stream = await fetch(`${server.url}/dashboard/events`, {
      headers: { "remote-email": ANA, "x-proxy-secret": SECRET },
      redirect: "manual",
    });
    expect(stream.status).toBe(303);
    const operator = await visit(server, "root@example.com");
    const path = `/dashboard/system/accounts/${id}`;
    expect((await operator.get("/dashboard/system/accounts")).text).toContain("address in doubt");
    expect((await operator.get(path)).text).toContain("Vouch for the address");
    expect((await maker.post(`${path}/vouch`)).status).toBe(404);
    expect((await operator.post(`${path}/vouch`)).headers["location"]).toMatch(/notice=vouched$/);
    expect((await operator.get(path)).text).not.toContain("Vouch for the address");
    expect((await operator.post(`${path}/vouch`)).status).toBe(409);
    expect((await get(from(ANA))).text).toContain(ANA);
    expect((await get({ cookie: maker.cookie })).status).toBe(303);
  });

  test("an operator in doubt gets back in from the machine: by a link past the proxy, and by vouching", async () => {
    const { get, from, server } = await start();
    const ROOT = "root@example.com";
    server.owner.now(function* () {
      yield* noteDoubt((yield* findAccountByEmail(ROOT))?.id ?? "");
    });
    expect((await get(from(ROOT), "/dashboard/system")).status).toBe(303);
    const { token } = await performOn(
      server.owner,
      giveSignInLink,
      { account: ROOT },
      { now: server.clock.now() },
    );
    const entered = await signInForms(server).post("/sign-in/link", { token, new_password: PASSWORD });
    expect((await get({ cookie: cookieOf(entered) }, "/dashboard/system")).status).toBe(200);
    await performOn(server.owner, vouchForAccount, { account: ROOT }, { now: server.clock.now() });
    expect((await get(from(ROOT), "/dashboard/system")).status).toBe(200);
  });
});
