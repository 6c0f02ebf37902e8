import { statSync } from "node:fs";
import { toIsoTime } from "../foundation/clock.ts";
import { type Finding, problem, sound } from "../foundation/finding.ts";
import { compileNetworks, isLoopback, isThisMachine } from "../foundation/ip-address.ts";
import { parseListenAddress } from "../foundation/listen-address.ts";
import type { Config } from "./config.ts";
import { isSafeAddress } from "./dashboard-address.ts";
import { environmentName, type LoadedConfig } from "./load-config.ts";
import { WEEK_MS } from "../foundation/time-units.ts";

/**
 * Finds secrets in a file that other users may read. The advice is not to change the file's mode, because a service that runs as another
 * user could not read it any more.
 */
export function checkSecretsInFile({ file, secretsInFile }: LoadedConfig): Finding {
  if (file === null || secretsInFile.length === 0)
    return sound("config.token", "no token or key stands in the configuration file");
  // File modes say nothing on Windows.
  if (process.platform === "win32") return sound("config.token", "not checked on Windows");
  const paths = secretsInFile.join(" and ");
  if ((statSync(file).mode & 0o077) === 0) {
    return sound("config.token", `only its owner may read ${paths} in ${file}`);
  }
  const variables = secretsInFile.map((path) => `${environmentName(path.split("."))}=…`).join(" and ");
  return problem(
    "config.token",
    `others may read ${paths} in ${file}`,
    `move it as ${variables} into /etc/formsvc/environment, mode 0600, and change it: others may know it`,
  );
}

/** Finds metrics that others may read without a token. */
export function checkMetricsAddress({ enabled, token, listen }: Config["metrics"]): Finding {
  if (!enabled) return sound("metrics.address", "metrics are off");
  if (token !== null || listen === null) return sound("metrics.address", "metrics ask for a token");
  if (isThisMachine(parseListenAddress(listen).host)) {
    return sound("metrics.address", `only this machine reaches the metrics at ${listen}`);
  }
  return problem(
    "metrics.address",
    `everybody who reaches ${listen} can read the metrics without a token`,
    "write FORMSVC_METRICS_TOKEN=… into /etc/formsvc/environment, mode 0600, or let metrics.listen be 127.0.0.1:8788; " +
      "then restart the server (if it has a token in its environment already, run doctor with the same environment)",
  );
}

/** Finds a dashboard that nobody can sign in to, because its address is plain http and other machines use it. */
export function checkDashboardAddress({ server, dashboard }: Config): Finding {
  const name = "dashboard.address";
  if (!dashboard.enabled) return sound(name, "the dashboard is off");
  if (dashboard.listen !== null) return sound(name, `the dashboard is at ${dashboard.listen}`);
  const { baseUrl } = server;
  if (baseUrl === null || isSafeAddress(baseUrl))
    return sound(name, "the dashboard is where forms are posted to");
  return problem(
    name,
    `nobody can sign in to the dashboard at ${baseUrl}, because a password over plain http can be read on the way`,
    "put a reverse proxy with https in front of it and change server.baseUrl, or set dashboard.enabled to false",
  );
}

/** If no such request came for this time, the proxy is gone or is trusted now. */
const FORGET_PROXY_MS = WEEK_MS;
const TRUST_PROXY = ["server", "trustProxy"];

/**
 * Finds a proxy that the configuration does not name, so that everybody behind it counts as one client.
 *
 * @param seen the address of the last request with an `X-Forwarded-For` that was not trusted; null if there was none
 */
export function checkTrustedProxies(
  { config, file, variables }: LoadedConfig,
  seen: { readonly address: string; readonly seenAt: number } | null,
  now: number,
): Finding {
  const { trustProxy } = config.server;
  if (seen === null || seen.seenAt < now - FORGET_PROXY_MS)
    return sound("proxies.trusted", "no proxy was seen that is not trusted");
  if (compileNetworks(trustProxy).contains(seen.address))
    return sound("proxies.trusted", `the proxy ${seen.address} is trusted`);
  const list = JSON.stringify([...trustProxy, ...spellings(seen.address)]);
  const variable = environmentName(TRUST_PROXY);
  const line = `"server": { "trustProxy": ${list} }`;
  const inFile =
    file === null
      ? `write { ${line} } into a new formsvc.config.json in the folder that the server is started in`
      : `write into ${file}: ${line}`;
  const setting = variables.includes(variable) ? `set ${variable}='${list}'` : inFile;
  return problem(
    "proxies.trusted",
    `requests from ${seen.address} carry X-Forwarded-For, which is not believed (last at ${toIsoTime(seen.seenAt)}): ` +
      "everybody behind it counts as one client",
    `if that is your proxy, and it writes this header itself (see docs/reverse-proxies.md), ${setting}; then restart the server`,
  );
}

/** The addresses that a proxy on this machine may use, depending on how its name is resolved. */
function spellings(address: string): readonly string[] {
  return isLoopback(address) ? ["127.0.0.1", "::1"] : [address];
}
