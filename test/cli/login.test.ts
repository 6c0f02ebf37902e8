import { readFileSync, statSync } from "node:fs";
import { createInterface } from "node:readline";
import { expect, onTestFinished, test } from "vitest";
import { emptyMachine, modeOf, type OperatorMachine } from "../support/operator-machine.ts";
import { collect, whenEnded } from "../support/program.ts";
import { startServer, type TestServer } from "../support/test-server.ts";
import { until } from "../support/until.ts";
import { visit } from "../support/visitor.ts";

const LOGIN = "/dashboard/login";

/** A login that waits: the code that it shows, and what comes of it. */
async function begin(away: OperatorMachine, server: TestServer, ...args: string[]) {
  const env = { XDG_CONFIG_HOME: away.path("home") };
  // The code's time goes on as it does for the client.
  const timer = setInterval(() => server.clock.advance(1000), 1000);
  onTestFinished(() => clearInterval(timer));
  const child = away.start(["login", server.url, "--name", "ada on laptop", "--json", ...args], { env });
  const lines: string[] = [];
  createInterface({ input: child.stdout! }).on("line", (line) => lines.push(line));
  const ended = Promise.all([collect(child), whenEnded(child)]);
  await until(() => lines.length > 0);
  const { user_code: code, verification_uri_complete: page } = JSON.parse(lines[0] ?? "") as Record<
    string,
    string
  >;
  return { env, lines, code: code ?? "", page, ended: ended.then(([ran]) => ran) };
}

const idsOf = (text: string): string[] => text.match(/tok_\w{26}/g) ?? [];

test("a login is approved in the dashboard, with the scopes that are chosen there; the token stays in a file of its user alone", async () => {
  const server = await startServer();
  const ada = await visit(server);
  const endpoint = await server.addEndpoint();
  const away = emptyMachine();
  const { env, lines, code, page, ended } = await begin(away, server);
  expect(code).toMatch(/^[B-Z]{4}-[B-Z]{4}$/);
  expect(page).toBe(`${server.url}${LOGIN}?code=${code}`);
  const shown = await ada.get(`${LOGIN}?code=${code}`);
  expect([shown.status, shown.text]).toEqual([200, expect.stringContaining("ada on laptop")]);
  // Opening the page has approved nothing.
  expect((await ada.get("/dashboard/account/tokens")).text).toContain("No program has a token yet.");
  const approve = { code, scopes: ["endpoints:write", "workspace:read"] };
  const form = new URLSearchParams([
    ["code", code],
    ...approve.scopes.map((scope) => ["scopes", scope] as [string, string]),
  ]);
  expect((await ada.post(`${LOGIN}/approve`, form)).text).toContain("Go back to the terminal");
  expect(await ended).toMatchObject({ code: 0 });
  expect(JSON.parse(lines[1] ?? "")).toMatchObject({ scopes: ["endpoints:write", "workspace:read"] });
  const file = away.path("home/formsvc/contexts.json");
  expect(modeOf(statSync(file))).toBe("600");
  expect(lines.join("")).not.toContain(/"token": "(fat_\w+)"/.exec(readFileSync(file, "utf8"))?.[1]);

  const set = ["endpoint", "set", endpoint.id, "--keep-days", "5", "--json"];
  expect((await away.mustRun(set, { env })).json()).toMatchObject({ endpoint: { keep_days: 5 } });
  expect((await away.run(["submission", "list"], { env })).code).toBe(1);
  const listed = (await away.mustRun(["context", "list", "--json"], { env })).json() as { data: object[] };
  expect(listed.data).toMatchObject([{ server: server.url, in_use: true }]);
  expect(JSON.stringify(listed)).not.toContain("fat_");
  expect(idsOf((await ada.get("/dashboard/account/tokens")).text).length).toBeGreaterThan(0);
  expect((await ada.post(`${LOGIN}/approve`, form)).status, "the code holds once").toBe(422);

  expect((await away.mustRun(["logout", "--json"], { env })).json()).toMatchObject({
    logged_out: new URL(server.url).host,
  });
  expect((await away.mustRun(["context", "list", "--json"], { env })).json()).toEqual({ data: [] });
  expect((await ada.get("/dashboard/account/tokens")).text).toContain("Revoked");
  expect((await away.run(["logout"], { env })).code).toBe(3);
});

test("a login that is denied ends with 1, and leaves no context and no token", async () => {
  const server = await startServer();
  const ada = await visit(server);
  const away = emptyMachine();
  const { env, code, ended } = await begin(away, server);
  expect((await ada.post(`${LOGIN}/deny`, { code })).status).toBe(200);
  const ran = await ended;
  expect([ran.code, ran.stderr]).toEqual([1, expect.stringContaining("denied")]);
  expect((await away.mustRun(["context", "list", "--json"], { env })).json()).toEqual({ data: [] });
  expect((await ada.get("/dashboard/account/tokens")).text).toContain("No program has a token yet.");
});

/** A login of a client of the test's own. */
async function beginHere(server: TestServer): Promise<{ device_code: string; user_code: string }> {
  const begun = await server.request({
    method: "POST",
    path: "/api/v1/login",
    headers: { "content-type": "application/x-www-form-urlencoded" },
    body: "client_id=mine&client_name=mine",
  });
  return begun.json as { device_code: string; user_code: string };
}

function poll(server: TestServer, device: string) {
  const grant_type = "urn:ietf:params:oauth:grant-type:device_code";
  server.clock.advance(2000);
  return server.request({
    method: "POST",
    path: "/api/v1/login/token",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ grant_type, device_code: device }),
  });
}

test("a code holds ten minutes, makes one token, and none of what its account may not do", async () => {
  const server = await startServer();
  await visit(server);
  const ben = await visit(server, "ben@example.com");
  const old = await beginHere(server);
  expect((await poll(server, old.device_code)).json).toMatchObject({ error: "authorization_pending" });
  server.clock.advance(600_000);
  expect((await ben.get(`${LOGIN}?code=${old.user_code}`)).status).toBe(422);
  expect((await poll(server, old.device_code)).json).toMatchObject({ error: "expired_token" });
  const { device_code: device, user_code: code } = await beginHere(server);
  expect((await ben.post(`${LOGIN}/approve`, { code, scopes: "operator" })).status).toBe(422);
  expect((await ben.post(`${LOGIN}/approve`, { code })).status).toBe(422);
  expect(
    (
      await ben.post(`${LOGIN}/approve`, {
        code: code.toLowerCase().replace("-", " "),
        scopes: "endpoints:read",
      })
    ).status,
  ).toBe(200);
  const both = await Promise.all([poll(server, device), poll(server, device)]);
  expect(both.filter(({ status }) => status === 200)).toHaveLength(1);
  expect((await poll(server, device)).json).toMatchObject({ error: "expired_token" });
  const made = both.find(({ status }) => status === 200)?.json;
  expect(made).toMatchObject({
    token_type: "Bearer",
    scope: "endpoints:read",
    token: { account: "ben@example.com" },
  });
});

test("after ten wrong codes an account tries no more, and others do", async () => {
  const server = await startServer();
  const [ada, ben] = [await visit(server), await visit(server, "ben@example.com")];
  const { user_code: code } = await beginHere(server);
  for (let wrong = 0; wrong < 10; wrong += 1)
    expect((await ada.get(`${LOGIN}?code=BBBB-BBB${"BCDFGHJKLM"[wrong]}`)).status).toBe(422);
  expect((await ada.get(`${LOGIN}?code=${code}`)).status).toBe(429);
  expect((await ada.post(`${LOGIN}/approve`, { code, scopes: "endpoints:read" })).status).toBe(429);
  expect((await ben.get(`${LOGIN}?code=${code}`)).status).toBe(200);
});

test("contexts are used and forgotten by their names", async () => {
  const away = emptyMachine();
  const env = { XDG_CONFIG_HOME: away.path("home") };
  for (const verb of ["use", "remove"])
    expect((await away.run(["context", verb, "nowhere"], { env })).code).toBe(3);
  expect((await away.run(["context", "use", "here"], { env })).code).toBe(0);
  const refused = await away.run(["login", "http://forms.example.com"], { env });
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining("https")]);
  const nobody = await away.run(["login", "http://127.0.0.1:9"], { env });
  expect([nobody.code, nobody.stderr]).toEqual([5, expect.stringContaining("http://127.0.0.1:9")]);
});
