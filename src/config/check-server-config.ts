import { FormsvcError } from "../foundation/errors.ts";
import type { Config } from "./config.ts";
import { isSafeAddress } from "./dashboard-address.ts";

interface Problem {
  readonly path: string;
  readonly message: string;
}

/**
 * Checks rules between settings that a server needs. Commands do not check them, because a token is often only in the service's
 * environment, which commands do not see.
 *
 * @throws config_invalid saying what to write
 */
export function checkServerConfig(config: Config): void {
  const problems = [
    ...problemsOfMetrics(config),
    ...problemsOfSignUp(config),
    ...problemsOfOperator(config),
    ...problemsOfOidc(config),
    ...problemsOfPasswords(config),
    ...problemsOfTrustedUser(config),
    ...problemsOfBackup(config),
    ...problemsOfFiles(config),
  ];
  if (problems.length === 0) return;
  const lines = problems.map(({ path, message }) => `${path}: ${message}`);
  throw new FormsvcError("config_invalid", lines.join("\n"), { details: { problems } });
}

function problemsOfMetrics({ metrics: { enabled, token, listen } }: Config): Problem[] {
  if (!enabled || token !== null || listen !== null) return [];
  const message =
    'enabled metrics need an address of their own or a token: write "listen": "127.0.0.1:8788" beside "enabled": true ' +
    "to serve them there, or set FORMSVC_METRICS_TOKEN to serve them on the server's own port";
  return [{ path: "metrics.listen", message }];
}

/** Signing up needs a mail server for its letters, and an address of the dashboard for the links in them. */
function problemsOfSignUp({ dashboard, mail, server }: Config): Problem[] {
  if (dashboard.signUp === "closed") return [];
  const missing = [
    ...(mail.host === null ? ["mail.host, the mail server that sends the links"] : []),
    ...(server.baseUrl === null ? ["server.baseUrl, the address that the links have"] : []),
    ...(dashboard.listen === null
      ? []
      : ["dashboard.listen as null, because the links lead to server.baseUrl"]),
  ];
  if (missing.length === 0) return [];
  const message = `people who sign up confirm their address by a link in an e-mail: set ${missing.join(", and ")}; or set this to closed`;
  return [{ path: "dashboard.signUp", message }];
}

/** An issuer needs the id and the secret that it gave this server, and a return address that no request can choose. */
function problemsOfOidc({ oidc, server, dashboard }: Config): Problem[] {
  const { issuer, clientId, clientSecret, clientSecretFile } = oidc;
  const secrets = [clientSecret, clientSecretFile].filter((each) => each !== null);
  if (issuer === null) {
    if (clientId === null && secrets.length === 0) return [];
    return [{ path: "oidc.issuer", message: "name the issuer that gave the client, or set that to null" }];
  }
  const problems: Problem[] = [];
  if (clientId === null)
    problems.push({ path: "oidc.clientId", message: "set the id that the issuer gave this server" });
  if (secrets.length !== 1)
    problems.push({
      path: "oidc.clientSecret",
      message:
        "set the secret that the issuer gave this server, here or as oidc.clientSecretFile, and not both",
    });
  if (server.baseUrl === null || !isSafeAddress(server.baseUrl)) {
    const message =
      "the issuer leads people back to this address: set the https address of the dashboard’s server";
    problems.push({ path: "server.baseUrl", message });
  }
  if (dashboard.listen !== null)
    problems.push({
      path: "dashboard.listen",
      message: "set this to null, because the issuer leads people to server.baseUrl",
    });
  return problems;
}

/** Without passwords there must be another way to sign in. Otherwise only people with a link from the machine could. */
function problemsOfPasswords({ dashboard, oidc }: Config): Problem[] {
  if (dashboard.passwords === "on" || !dashboard.enabled) return [];
  const problems: Problem[] = [];
  if (oidc.issuer === null && dashboard.trustedUserHeader.name === null) {
    const message =
      "nobody could sign in but by a link from the machine: set oidc or dashboard.trustedUserHeader too, or set this to on";
    problems.push({ path: "dashboard.passwords", message });
  }
  if (dashboard.signUp === "open") {
    const message =
      "people who sign up choose a password, and dashboard.passwords is off: set this to closed";
    problems.push({ path: "dashboard.signUp", message });
  }
  return problems;
}

/** The header of a proxy must come from the proxy alone. Somebody who could set it would be anybody. */
function problemsOfTrustedUser({ dashboard, server }: Config): Problem[] {
  const { name, secretHeader, secret } = dashboard.trustedUserHeader;
  const path = "dashboard.trustedUserHeader";
  if (name === null) {
    if (secretHeader === null && secret === null) return [];
    return [
      {
        path: `${path}.name`,
        message: "name the header that has the account’s address, or take the others away",
      },
    ];
  }
  const problems: Problem[] = [];
  if (server.trustProxy.length === 0)
    problems.push({ path: "server.trustProxy", message: `name the proxy that sets ${name}` });
  if ((secretHeader === null) !== (secret === null))
    problems.push({ path: `${path}.secret`, message: "set secretHeader and secret, or neither" });
  if (secretHeader?.toLowerCase() === name.toLowerCase())
    problems.push({
      path: `${path}.secretHeader`,
      message: "expected another header than that of the address",
    });
  if (secretHeader === null && dashboard.listen === null) {
    const message =
      "a request that reaches the server past the proxy’s rules could name anybody: set secretHeader and secret, or dashboard.listen";
    problems.push({ path, message });
  }
  return problems;
}

function problemsOfBackup({ backup, database }: Config): Problem[] {
  if (backup.everyHours === null || database.url === null) return [];
  const message =
    "a PostgreSQL database is backed up by its own means, such as pg_dump or an archive of its log: set this to null";
  return [{ path: "backup.everyHours", message }];
}

/** The host of files must not be the dashboard's, because nobody would find the dashboard there. */
function problemsOfFiles(config: Config): Problem[] {
  return [...problemsOfFileHost(config), ...problemsOfStore(config)];
}

function problemsOfFileHost({ files, server, dashboard }: Config): Problem[] {
  if (files.baseUrl === null || server.baseUrl === null || !dashboard.enabled) return [];
  if (new URL(files.baseUrl).host !== new URL(server.baseUrl).host) return [];
  const message = `the dashboard is at ${new URL(server.baseUrl).host}, and not on the host of files: name another host, or set this to null`;
  return [{ path: "files.baseUrl", message }];
}

/** A store that is configured must be complete, whether new files go there or not. */
function problemsOfStore({ files: { storage, s3 } }: Config): Problem[] {
  const { endpoint, bucket, accessKeyId, secretAccessKey, secretAccessKeyFile } = s3;
  if (endpoint === null) {
    if (storage === "database") return [];
    return [
      {
        path: "files.s3.endpoint",
        message: "name the store that files go to, or set files.storage to database",
      },
    ];
  }
  const problems: Problem[] = [];
  if (bucket === null)
    problems.push({ path: "files.s3.bucket", message: "name the bucket of files.s3.endpoint" });
  if (accessKeyId === null)
    problems.push({ path: "files.s3.accessKeyId", message: "name the access key for the bucket" });
  if ([secretAccessKey, secretAccessKeyFile].filter((each) => each !== null).length !== 1) {
    const message = "set the secret of the access key, here or as files.s3.secretAccessKeyFile, and not both";
    problems.push({ path: "files.s3.secretAccessKey", message });
  }
  return problems;
}

function problemsOfOperator({ mail: { operator, host } }: Config): Problem[] {
  if (operator === null || host !== null) return [];
  const message = "nothing can be sent to this address: set mail.host, or set this to null";
  return [{ path: "mail.operator", message }];
}
