type Environment = Readonly<Record<string, string | undefined>>;

/** What systemd, or a program with the same protocol, says to a service that it starts. */
export interface ServiceManager {
  /** A socket that listens already. It was opened before this start and stays open after it. Null if there is none. */
  readonly listenFd: number | null;
  /** Whether the manager wants to hear about the state of the service. */
  readonly wantsNews: boolean;
  /** The time after which the manager restarts a silent service, in milliseconds; null if it does not. */
  readonly watchdogMs: number | null;
}

/** The first of the passed sockets; further ones are ignored. */
const FIRST_FD = 3;

/** Reads `LISTEN_FDS`, `NOTIFY_SOCKET` and `WATCHDOG_USEC` (sd_listen_fds(3), sd_notify(3), sd_watchdog_enabled(3)). */
export function readServiceManager(pid: number, env: Environment = process.env): ServiceManager {
  const isOurs = (name: string): boolean => env[name] === undefined || env[name] === String(pid);
  const sockets = env["LISTEN_PID"] === String(pid) ? Number(env["LISTEN_FDS"]) : 0;
  const watchdogMs = isOurs("WATCHDOG_PID") ? Number(env["WATCHDOG_USEC"]) / 1000 : Number.NaN;
  return {
    listenFd: sockets >= 1 ? FIRST_FD : null,
    wantsNews: Boolean(env["NOTIFY_SOCKET"]),
    watchdogMs: watchdogMs > 0 ? watchdogMs : null,
  };
}
