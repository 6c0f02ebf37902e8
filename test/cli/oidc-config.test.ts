import { chmodSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { expect, test } from "vitest";
import { defaultConfig } from "../../src/config/config.ts";
import { checkIssuer } from "../../src/sessions/oidc-health.ts";
import { operatorMachine } from "../support/operator-machine.ts";
import { CLIENT, startScriptedIssuer } from "../support/scripted-issuer.ts";

const server = { baseUrl: "https://forms.example.com" };
const { clientId } = CLIENT;

test("config check prints the addresses that the issuer must know, and config show no secret", async () => {
  const machine = operatorMachine({ server, oidc: { issuer: "https://login.example.com", ...CLIENT } });
  const { stderr } = await machine.mustRun(["config", "check"]);
  expect(stderr).toContain(
    "redirect URI) for https://login.example.com is https://forms.example.com/dashboard/sign-in/oidc/callback",
  );
  expect(stderr).toContain("post-logout redirect URI) is https://forms.example.com/dashboard/sign-in\n");
  expect(await machine.json(["config", "check"])).toMatchObject({
    oidc: {
      return_address: "https://forms.example.com/dashboard/sign-in/oidc/callback",
      signed_out_address: "https://forms.example.com/dashboard/sign-in",
    },
  });
  const shown = await machine.mustRun(["config", "show"]);
  expect(shown.stdout).not.toContain(CLIENT.clientSecret);
});

test.each([
  ["http://login.example.com", "https address"],
  ["https://login.example.com/?tenant=1", "https address"],
  ["https://me:secret@login.example.com", "https address"],
  ["login.example.com", "https address"],
])("the issuer %s is refused", async (issuer, reason) => {
  const machine = operatorMachine({ server, oidc: { issuer, ...CLIENT } });
  const { code, stderr } = await machine.run(["config", "check"]);
  expect(code).toBe(2);
  expect(stderr).toContain("oidc.issuer");
  expect(stderr).toContain(reason);
});

test("the secret is read from a file that others may not read", async () => {
  const machine = operatorMachine();
  const issuer = "https://login.example.com";
  const file = machine.path("secret");
  const check = async () => {
    machine.configure({ server, oidc: { issuer, clientId, clientSecretFile: file } });
    return machine.run(["config", "check"]);
  };
  // The issuer asks for the addresses before it gives the secret.
  const early = await check();
  expect([early.code, early.stderr]).toEqual([2, expect.stringContaining("oidc.clientSecretFile")]);
  expect(early.stderr).toContain("https://forms.example.com/dashboard/sign-in/oidc/callback");
  machine.write("secret", "\nsecond line");
  chmodSync(file, 0o600);
  expect((await check()).stderr).toContain("its first line is empty");
  machine.write("secret", "the secret\n");
  expect((await check()).code).toBe(0);
  chmodSync(file, 0o644);
  const open = await check();
  expect([open.code, open.stderr.includes("chmod 600")]).toEqual([2, true]);
  const serve = await machine.run(["serve", "--port", "0"], { isRefused: true });
  expect([serve.code, serve.stderr.includes("oidc.clientSecretFile")]).toEqual([2, true]);
});

test("doctor asks the issuer, and says what to do when it is silent or another one", async () => {
  const { issuer, stop } = await startScriptedIssuer();
  const machine = operatorMachine({ server, oidc: { issuer, ...CLIENT } });
  await machine.createEndpoint();
  const examine = async () => {
    const { stdout } = await machine.run(["doctor", "--json"]);
    const { checks } = JSON.parse(stdout) as { checks: { name: string; ok: boolean; message: string }[] };
    const found = checks.find(({ name }) => name === "oidc.issuer");
    return `${found?.ok} ${found?.message}`;
  };
  expect(await examine()).toMatch(/^true .*says how people sign in there/);
  machine.configure({ server, oidc: { issuer: issuer.replace("127.0.0.1", "localhost"), ...CLIENT } });
  expect(await examine()).toMatch(/^false .*does not match the expected issuer/);
  await stop();
  expect(await examine()).toMatch(/^false .*cannot be reached/);
});

type Answer = (request: unknown, response: ServerResponse) => void;

const answering =
  (status: number, headers: Record<string, string>): Answer =>
  (_request, response) =>
    void response.writeHead(status, headers).end("x");

test("doctor says what is wrong with what the issuer says about itself, before anybody tries to sign in", async () => {
  const { issuer, lies } = await startScriptedIssuer();
  const oidc = { issuer, ...CLIENT, label: "Example ID" };
  const examine = async (): Promise<string> => {
    const [finding] = await checkIssuer({ ...defaultConfig.oidc, ...oidc });
    return `${finding?.ok} ${finding?.message}`;
  };
  for (const name of ["authorization_endpoint", "token_endpoint", "jwks_uri"]) {
    lies.metadata = ({ [name]: _none, ...right }) => right;
    expect(await examine()).toMatch(`false Example ID names no ${name}`);
    lies.metadata = (right) => ({ ...right, [name]: "javascript:alert(1)" });
    expect(await examine()).toMatch(`false Example ID names a ${name} that is no https address`);
  }
  const place = "/.well-known/openid-configuration";
  lies.answers = { [place]: answering(404, {}) };
  expect(await examine()).toMatch(/^false .*status code: 404/);
  lies.answers = { [place]: answering(301, { location: "/" }) };
  expect(await examine()).toMatch(/^false .*status code: 301, and redirects are not followed/);
  lies.answers = { [place]: answering(200, { "content-type": "text/html" }) };
  expect(await examine()).toMatch(/^false .*content-type: text\/html/);
});

test("account unbind lets the next person with the address in, and signs the account out", async () => {
  const machine = operatorMachine();
  await machine.mustRun(["account", "create", "ana@example.org"]);
  const none = await machine.run(["account", "unbind", "ana@example.org"]);
  expect([none.code, none.stderr]).toEqual([
    1,
    expect.stringContaining("never signed in by an OpenID issuer"),
  ]);
  const connection = machine.open();
  connection.exec("INSERT INTO oidc_binding SELECT 'https://login.example.com', 'ana', id, 1 FROM account");
  const unbound = await machine.json(["account", "unbind", "ana@example.org"]);
  expect(unbound).toMatchObject({ account: { email: "ana@example.org" } });
  expect(connection.prepare("SELECT count(*) FROM oidc_binding").pluck().get()).toBe(0);
  expect(
    connection.prepare("SELECT detail FROM audit_event WHERE action = 'account.unbind'").pluck().get(),
  ).toBe("https://login.example.com");
  expect((await machine.run(["account", "unbind", "eve@example.org"])).code).toBe(3);
});
