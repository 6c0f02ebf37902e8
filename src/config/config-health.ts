import { statSync } from "node:fs";
import { type Finding, problem, sound } from "../foundation/finding.ts";
import { isThisMachineOnly, parseListenAddress } from "../foundation/listen-address.ts";
import type { Config } from "./config.ts";
import type { LoadedConfig } from "./load-config.ts";

/**
 * A token in a file that others may read. Closing the file is not the advice: a service that runs as a user of its own
 * could not read it any more.
 */
export function checkTokenInFile({ file, hasTokenInFile }: LoadedConfig): Finding {
  if (file === null || !hasTokenInFile)
    return sound("config.token", "no token stands in the configuration file");
  // Windows shows modes that say nothing.
  if (process.platform === "win32") return sound("config.token", "not checked on Windows");
  if ((statSync(file).mode & 0o077) === 0) {
    return sound("config.token", `only its owner may read the token in ${file}`);
  }
  return problem(
    "config.token",
    `others may read metrics.token in ${file}`,
    "take it out, and write a new one as FORMSVC_METRICS_TOKEN=… into /etc/formsvc/environment, mode 0600",
  );
}

/** Metrics that others may read without a token. */
export function checkMetricsAddress({ enabled, token, listen }: Config["metrics"]): Finding {
  if (!enabled) return sound("metrics.address", "metrics are off");
  if (token !== null || listen === null) return sound("metrics.address", "metrics ask for a token");
  if (isThisMachineOnly(parseListenAddress(listen))) {
    return sound("metrics.address", `only this machine reaches the metrics at ${listen}`);
  }
  return problem(
    "metrics.address",
    `whoever reaches ${listen} reads the metrics without a token`,
    "write FORMSVC_METRICS_TOKEN=… into /etc/formsvc/environment, mode 0600, or let metrics.listen be 127.0.0.1:8788; " +
      "then restart the server",
  );
}
