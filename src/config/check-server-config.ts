import { FormsvcError } from "../foundation/errors.ts";
import type { Config } from "./config.ts";

/**
 * Rules between settings that a server needs. Commands do not check them: a token is often only in the service's environment,
 * which commands do not see.
 *
 * @throws config_invalid saying what to write.
 */
export function checkServerConfig({ metrics: { enabled, token, listen } }: Config): void {
  if (!enabled || token !== null || listen !== null) return;
  const message =
    'enabled metrics need an address of their own or a token: write "listen": "127.0.0.1:8788" beside "enabled": true ' +
    "to serve them there, or set FORMSVC_METRICS_TOKEN to serve them on the server's own port";
  throw new FormsvcError("config_invalid", `metrics.listen: ${message}`, {
    details: { problems: [{ path: "metrics.listen", message }] },
  });
}
