import { expect, test } from "vitest";
import { checkServerConfig } from "../../src/config/check-server-config.ts";
import { type Config, defaultConfig } from "../../src/config/config.ts";

const baseUrl = "https://forms.example.com";
const server = { ...defaultConfig.server, baseUrl };
const mail = { ...defaultConfig.mail, host: "127.0.0.1", from: "forms@example.com" };
const dashboard = { ...defaultConfig.dashboard, signUp: "open" as const };

/** What is wrong with the defaults after a change, by the path of the setting. */
function problemsWith(change: Partial<Config>): Record<string, string> {
  try {
    checkServerConfig({ ...defaultConfig, ...change });
    return {};
  } catch (error) {
    const { problems } = (error as { facts: { details: { problems: { path: string; message: string }[] } } })
      .facts.details;
    return Object.fromEntries(problems.map(({ path, message }) => [path, message]));
  }
}

test("people may sign up only if their letters can be sent, with links to the address that is configured", () => {
  expect(problemsWith({ dashboard, server, mail })).toEqual({});
  expect(problemsWith({ dashboard, server })["dashboard.signUp"]).toContain("set mail.host");
  expect(problemsWith({ dashboard, mail })["dashboard.signUp"]).toContain("set server.baseUrl");
  const own = { ...dashboard, listen: "127.0.0.1:8789" };
  expect(problemsWith({ dashboard: own, server, mail })["dashboard.signUp"]).toContain(
    "dashboard.listen as null",
  );
  expect(problemsWith({ dashboard: defaultConfig.dashboard })).toEqual({});
});

test("the operator is told what doctor finds only if there is a mail server", () => {
  const operator = "ada@example.org";
  const problems = problemsWith({ mail: { ...defaultConfig.mail, operator } });
  expect(problems).toEqual({ "mail.operator": expect.stringContaining("set mail.host") as string });
  expect(problemsWith({ mail: { ...mail, operator } })).toEqual({});
});

test("a server makes backups of a file, and leaves those of PostgreSQL to PostgreSQL", () => {
  const backup = { ...defaultConfig.backup, everyHours: 24 };
  const database = { ...defaultConfig.database, url: "postgresql://formsvc@db.example/formsvc" };
  const problems = problemsWith({ backup, database });
  expect(problems).toEqual({ "backup.everyHours": expect.stringContaining("pg_dump") as string });
  expect([problemsWith({ backup }), problemsWith({ database })]).toEqual([{}, {}]);
});

test("every rule that is broken is named at once", () => {
  const metrics = { ...defaultConfig.metrics, enabled: true };
  expect(Object.keys(problemsWith({ dashboard, metrics }))).toEqual(["metrics.listen", "dashboard.signUp"]);
});

test("an issuer needs a client of its own, one secret, and an https address of the dashboard to lead back to", () => {
  const client = { issuer: "https://login.example.com", clientId: "forms", clientSecret: "secret" };
  const oidc = { ...defaultConfig.oidc, ...client };
  expect(problemsWith({ oidc, server })).toEqual({});
  expect(
    problemsWith({ oidc: { ...oidc, clientSecret: null, clientSecretFile: "/secret" }, server }),
  ).toEqual({});
  const here = { ...server, baseUrl: "http://127.0.0.1:8787" };
  expect(problemsWith({ oidc, server: here })).toEqual({});
  const pathsOf = (change: Partial<Config>) => Object.keys(problemsWith(change));
  expect(pathsOf({ oidc: { ...oidc, clientId: null }, server })).toEqual(["oidc.clientId"]);
  for (const clientSecretFile of [null, "/secret"]) {
    const secrets = { clientSecret: clientSecretFile && "secret", clientSecretFile };
    expect(pathsOf({ oidc: { ...oidc, ...secrets }, server })).toEqual(["oidc.clientSecret"]);
  }
  expect(pathsOf({ oidc })).toEqual(["server.baseUrl"]);
  const plain = { ...server, baseUrl: "http://forms.example.com" };
  expect(pathsOf({ oidc, server: plain })).toEqual(["server.baseUrl"]);
  const own = { ...defaultConfig.dashboard, listen: "127.0.0.1:8789" };
  expect(pathsOf({ oidc, server, dashboard: own })).toEqual(["dashboard.listen"]);
  expect(pathsOf({ oidc: { ...oidc, issuer: null }, server })).toEqual(["oidc.issuer"]);
});

test("without passwords something else lets people in, and nobody signs up", () => {
  const off = { ...defaultConfig.dashboard, passwords: "off" as const };
  expect(Object.keys(problemsWith({ dashboard: off }))).toEqual(["dashboard.passwords"]);
  const client = { issuer: "https://login.example.com", clientId: "forms", clientSecret: "secret" };
  const oidc = { ...defaultConfig.oidc, ...client };
  expect(problemsWith({ dashboard: off, oidc, server })).toEqual({});
  const open = { ...off, signUp: "open" as const };
  expect(Object.keys(problemsWith({ dashboard: open, oidc, server, mail }))).toEqual(["dashboard.signUp"]);
  expect(problemsWith({ dashboard: { ...off, enabled: false } })).toEqual({});
});

test("a header that names who is signed in needs a trusted proxy, and a secret or an address of the dashboard alone", () => {
  const proxied = { ...defaultConfig.server, trustProxy: ["127.0.0.1"] };
  const secret = { secretHeader: "X-Secret", secret: "sixteen-characters" };
  const pathsOf = (
    header: Partial<Config["dashboard"]["trustedUserHeader"]>,
    change: Partial<Config["dashboard"]> = {},
  ) => {
    const trustedUserHeader = { name: "Remote-Email", secretHeader: null, secret: null, ...header };
    const changed = { ...defaultConfig.dashboard, ...change, trustedUserHeader };
    return Object.keys(problemsWith({ dashboard: changed, server: proxied }));
  };
  expect(pathsOf(secret)).toEqual([]);
  expect(pathsOf(secret, { passwords: "off" })).toEqual([]);
  expect(pathsOf({}, { listen: "127.0.0.1:8789" })).toEqual([]);
  expect(pathsOf({})).toEqual(["dashboard.trustedUserHeader"]);
  expect(pathsOf({ ...secret, secret: null })).toEqual(["dashboard.trustedUserHeader.secret"]);
  expect(pathsOf({ ...secret, secretHeader: "remote-email" })).toEqual([
    "dashboard.trustedUserHeader.secretHeader",
  ]);
  expect(pathsOf({ ...secret, name: null })).toEqual(["dashboard.trustedUserHeader.name"]);
  const trustedUserHeader = { name: "Remote-Email", ...secret };
  const nobody = problemsWith({ dashboard: { ...defaultConfig.dashboard, trustedUserHeader } });
  expect(Object.keys(nobody)).toEqual(["server.trustProxy"]);
});

test("a store of files is named whole, with one secret, whether new files go there or not", () => {
  const s3 = { ...defaultConfig.files.s3, endpoint: "https://s3.example.com" };
  const named = { bucket: "formsvc-files", accessKeyId: "key" };
  const problems = (changed: Partial<Config["files"]>) =>
    Object.keys(problemsWith({ files: { ...defaultConfig.files, ...changed } }));
  expect(problems({ storage: "s3" })).toEqual(["files.s3.endpoint"]);
  expect(problems({ s3 })).toEqual(["files.s3.bucket", "files.s3.accessKeyId", "files.s3.secretAccessKey"]);
  const both = { secretAccessKey: "secret", secretAccessKeyFile: "./secret" };
  expect(problems({ s3: { ...s3, ...named, ...both } })).toEqual(["files.s3.secretAccessKey"]);
  expect(problems({ s3: { ...s3, ...named, secretAccessKey: "secret" } })).toEqual([]);
  expect(problems({ storage: "s3", s3: { ...s3, ...named, secretAccessKeyFile: "./secret" } })).toEqual([]);
});
