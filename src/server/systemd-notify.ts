import { execFile } from "node:child_process";
import type { ServiceManager } from "../config/load-systemd.ts";
import { newsFailed } from "../foundation/events.ts";
import type { Log } from "../foundation/log.ts";

/** Messages to the service manager; they do nothing if there is none. */
export interface ServiceNews {
  ready(): void;
  stopping(): void;
}

/** Longest run of the tool, so that hanging ones do not pile up. */
const TOOL_TIMEOUT_MS = 10_000;

/**
 * Tells systemd by its own tool: the protocol is a datagram on a Unix socket, which Node cannot send. While the server
 * is ready, the tool is run from a timer twice in each watchdog interval, so that an event loop that hangs is noticed.
 */
export function createServiceNews(manager: ServiceManager, log: Log): ServiceNews {
  if (!manager.wantsNews) return { ready: () => {}, stopping: () => {} };
  let watchdog: NodeJS.Timeout | undefined;
  const notify = (...news: readonly string[]): void => {
    execFile("systemd-notify", news, { timeout: TOOL_TIMEOUT_MS }, (error) => {
      if (error !== null) newsFailed(log, error);
    });
  };
  return {
    ready() {
      notify("READY=1");
      if (manager.watchdogMs === null) return;
      watchdog = setInterval(() => notify("WATCHDOG=1"), manager.watchdogMs / 2);
    },
    stopping() {
      clearInterval(watchdog);
      notify("STOPPING=1");
    },
  };
}
