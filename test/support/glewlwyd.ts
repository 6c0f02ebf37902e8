import { spawn } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import Driver from "better-sqlite3";
import { onTestFinished } from "vitest";
import { freePort } from "./postgresql-cluster.ts";
import { makeFolder } from "./temporary-folder.ts";
import { until } from "./until.ts";

/** Debian's script that makes Glewlwyd's tables. */
const TABLES = "usr/share/dbconfig-common/data/glewlwyd/install/sqlite3";

/** The folder with the packages that `scripts/unpack-debian.sh` fetched; null skips the tests that need Glewlwyd. */
export const glewlwydRoot: string | null =
  [
    join(process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "formsvc-tests/glewlwyd/unpacked"),
    "/",
  ].find((root) => existsSync(join(root, "usr/bin/glewlwyd")) && existsSync(join(root, TABLES))) ?? null;

if (glewlwydRoot === null) {
  process.stderr.write(
    "SKIPPED: signing in by an OpenID provider of another make, because Glewlwyd is not here. Run scripts/test.sh, or see there how it is fetched\n",
  );
}

/**
 * The client that Glewlwyd knows. Glewlwyd does not decode a secret, although RFC 6749, section 2.3.1 says that it is form-encoded; this
 * secret is the same in both forms.
 */
export const CLIENT = { clientId: "forms", clientSecret: "the-secret-of-the-client" };
export const PERSON = { username: "ana", password: "a password at the provider", email: "ana@example.org" };

/** Starts Glewlwyd with one person and one client. It is stopped after the test. @param site the origin of our server */
export async function startGlewlwyd(site: string, isVerified = true) {
  const root = glewlwydRoot ?? "/";
  const folder = makeFolder().path;
  const port = await freePort();
  const base = `http://localhost:${port}/api`;
  const issuer = `${base}/oidc`;
  fillDatabase(join(folder, "provider.db"), root, issuer);
  mkdirSync(join(folder, "none"));
  writeFileSync(join(folder, "provider.conf"), configurationOf(root, folder, port));
  const child = spawn(join(root, "usr/bin/glewlwyd"), [`--config-file=${join(folder, "provider.conf")}`], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, LD_LIBRARY_PATH: librariesOf(root) },
  });
  const said: string[] = [];
  for (const output of [child.stdout, child.stderr]) output.on("data", (text) => said.push(String(text)));
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  onTestFinished(async () => {
    child.kill();
    await ended;
  });
  const discovered = (): Promise<boolean> =>
    fetch(`${issuer}/.well-known/openid-configuration`).then(
      ({ ok }) => ok,
      () => false,
    );
  await until(async () => {
    if (child.exitCode !== null) throw new Error(`Glewlwyd ended: ${said.join("")}`);
    return (await discovered()) || undefined;
  });

  const call = async (method: string, path: string, body: object, cookie = ""): Promise<string> => {
    const headers = { "content-type": "application/json", cookie };
    const answer = await fetch(`${base}${path}`, { method, headers, body: JSON.stringify(body) });
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
    return (answer.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
  };
  const admin = await call("POST", "/auth/", { username: "admin", password: "password" });
  await call("POST", "/client/", clientOf(site), admin);
  const scope = ["openid", "email"];
  const person = { ...PERSON, name: "Ana", email_verified: isVerified ? "1" : "0", scope, enabled: true };
  await call("POST", "/user/", person, admin);
  return {
    issuer,
    /** Signs in the person at Glewlwyd, and lets them agree to our server. Returns the query of the return address. */
    async signIn(address: string): Promise<URLSearchParams> {
      const { username, password } = PERSON;
      const cookie = await call("POST", "/auth/", { username, password });
      await call("PUT", `/auth/grant/${CLIENT.clientId}`, { scope: "openid email" }, cookie);
      const answer = await fetch(`${address}&g_continue`, { redirect: "manual", headers: { cookie } });
      return new URL(answer.headers.get("location") ?? "").searchParams;
    },
  };
}

function clientOf(site: string): object {
  return {
    client_id: CLIENT.clientId,
    client_secret: CLIENT.clientSecret,
    password: CLIENT.clientSecret,
    name: "forms",
    confidential: true,
    enabled: true,
    redirect_uri: [`${site}/dashboard/sign-in/oidc/callback`],
    authorization_type: ["code"],
    token_endpoint_auth_method: ["client_secret_basic"],
    scope: [],
  };
}

/** Makes Glewlwyd's tables as Debian does, with the plugin for OpenID Connect, which allows only code and PKCE. */
function fillDatabase(path: string, root: string, issuer: string): void {
  const { privateKey, publicKey } = generateKeyPairSync("rsa", {
    modulusLength: 2048,
    privateKeyEncoding: { type: "pkcs8", format: "pem" },
    publicKeyEncoding: { type: "spki", format: "pem" },
  });
  const off = ["token", "id-token", "none", "password", "client", "device", "refresh"];
  const plugin = {
    ...Object.fromEntries(off.map((type) => [`auth-type-${type}-enabled`, false])),
    "auth-type-code-enabled": true,
    iss: issuer,
    "jwt-type": "rsa",
    "jwt-key-size": "256",
    key: privateKey,
    cert: publicKey,
    "access-token-duration": 3600,
    "refresh-token-duration": 3600,
    "code-duration": 600,
    "refresh-token-rolling": true,
    "allow-non-oidc": false,
    "subject-type": "public",
    "pkce-allowed": true,
    "pkce-required": true,
    "pkce-method-plain-allowed": false,
    "jwks-show": true,
    "jwks-x5c": [],
    scope: [],
    "email-claim": "mandatory",
    "name-claim": "no",
    "scope-claim": "no",
    "address-claim": { type: "no" },
    "additional-parameters": [],
    claims: [
      {
        name: "email_verified",
        "user-property": "email_verified",
        type: "boolean",
        "boolean-value-true": "1",
        "boolean-value-false": "0",
        mandatory: true,
        "on-demand": false,
        scope: [],
      },
    ],
  };
  const property = { multiple: false, read: true, write: true, "profile-read": true, "profile-write": false };
  const database = new Driver(path);
  database.exec(readFileSync(join(root, TABLES), "utf8"));
  database
    .prepare(
      "INSERT INTO g_plugin_module_instance (gpmi_module, gpmi_name, gpmi_parameters) VALUES ('oidc', 'oidc', ?)",
    )
    .run(JSON.stringify(plugin));
  database
    .prepare(
      `UPDATE g_user_module_instance SET gumi_parameters = json_set(gumi_parameters, '$."data-format".email_verified', json(?))`,
    )
    .run(JSON.stringify(property));
  database.exec(
    "INSERT INTO g_scope (gs_name, gs_display_name, gs_password_required) VALUES ('email', 'E-mail', 1)",
  );
  database.close();
}

function configurationOf(root: string, folder: string, port: number): string {
  const modules = join(root, "usr/lib/glewlwyd");
  const settings = {
    bind_address: "127.0.0.1",
    external_url: `http://localhost:${port}`,
    login_url: "login.html",
    api_prefix: "api",
    log_mode: "console",
    log_level: "INFO",
    cookie_domain: "localhost",
    session_key: "GLEWLWYD2_SESSION_ID",
    admin_scope: "g_admin",
    profile_scope: "g_profile",
    user_module_path: join(modules, "user"),
    user_middleware_module_path: join(folder, "none"),
    client_module_path: join(modules, "client"),
    user_auth_scheme_module_path: join(modules, "scheme"),
    plugin_module_path: join(modules, "plugin"),
    hash_algorithm: "SHA512",
  };
  const lines = Object.entries(settings).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
  const database = `database = { type = "sqlite3"; path = ${JSON.stringify(join(folder, "provider.db"))}; };`;
  return [`port=${port}`, "cookie_secure=false", "session_expiration=86400", ...lines, database, ""].join(
    "\n",
  );
}

/** Lists the folders of libraries from the unpacked packages, as a value of `LD_LIBRARY_PATH`. */
function librariesOf(root: string): string {
  if (root === "/") return process.env["LD_LIBRARY_PATH"] ?? "";
  const triplets = readdirSync(join(root, "usr/lib")).filter((name) => name.includes("-linux-"));
  return ["usr/lib", ...triplets.map((name) => `usr/lib/${name}`)].map((path) => join(root, path)).join(":");
}
