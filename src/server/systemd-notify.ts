import { execFile } from "node:child_process";
import type { ServiceManager } from "../config/load-systemd.ts";
import { newsFailed } from "../foundation/events.ts";
import type { Log } from "../foundation/log.ts";

/** Sends messages to the service manager; does nothing if there is none. */
export interface ServiceNews {
  ready(): void;
  stopping(): void;
}

/** The longest run of the tool, so that runs that hang do not pile up. */
const TOOL_TIMEOUT_MS = 10_000;

/**
 * Sends messages to systemd by its own tool, because the protocol uses a datagram on a Unix socket, which Node cannot send. While the
 * server is ready, a timer runs the tool twice in each watchdog interval, so that systemd notices if the event loop hangs.
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
