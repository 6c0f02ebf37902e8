import { statSync } from "node:fs";
import { type Finding, problem, sound } from "../foundation/finding.ts";
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
