import type { Command } from "commander";
import { resolve } from "node:path";
import { isIP } from "node:net";
import { isSea } from "node:sea";
import { isDatabaseAddress } from "../database/postgresql/address.ts";
import { isListenAddress, type ListenAddress, parseListenAddress } from "../foundation/listen-address.ts";
import { addCommand, command, refuse } from "./command.ts";

export function register(program: Command): void {
  addCommand(program, systemd);
}

const systemd = command({
  usage: "systemd",
  summary: "Print a hardened systemd unit for this program, or the unit of its socket",
  options: [
    {
      flags: "--socket <address>",
      summary: "print the socket unit instead, listening there, like 127.0.0.1:8787",
      parse: parseListenStream,
    },
  ],
  examples: [
    "formsvc systemd > /etc/systemd/system/formsvc.service",
    "formsvc systemd --socket 127.0.0.1:8787 > /etc/systemd/system/formsvc.socket",
    "systemctl daemon-reload && systemctl enable --now formsvc.socket formsvc.service",
  ],
  action: ({ output, configFile, databasePath }, options) => {
    const { socket } = options;
    if (databasePath !== null && isDatabaseAddress(databasePath))
      return refuse(
        "the unit would show the password; write the address as FORMSVC_DATABASE_URL into /etc/formsvc/environment, and leave --db out",
      );
    if (databasePath !== null)
      return refuse(
        "the service keeps its database in /var/lib/formsvc, the only folder it may write in; leave --db out",
      );
    const config = configFile === null ? [] : ["--config", resolve(configFile)];
    const unit = socket === null ? serviceUnit(config) : socketUnit(socket);
    if (socket === null && ownCommand().some((path) => HIDDEN.test(path)))
      output.note(
        `the service does not see ${ownCommand().join(" ")}; install the executable first, like in /usr/local/bin`,
      );
    if (output.isJson) output.json({ unit });
    else output.text(unit);
    return undefined;
  },
});

/** A value of ListenStream=: a port, an address with one (an IPv6 address in brackets), or a path. */
function parseListenStream(value: string): string {
  const isPath = /^\/[\w./-]{1,100}$/.test(value);
  const address = /^\d+$/.test(value) ? `127.0.0.1:${value}` : value;
  if (isPath || (isListenAddress(address) && isFixed(parseListenAddress(address)))) return value;
  return refuse("expected an address like 127.0.0.1:8787, [::1]:8787, 8787 or /run/formsvc.sock");
}

/** Whether it is an address and no name, with a port of its own. */
function isFixed({ host, port }: ListenAddress): boolean {
  return isIP(host) !== 0 && port > 0;
}

/** Folders that ProtectHome= and PrivateTmp= hide. */
const HIDDEN = /^\/(?:home|root|run\/user|tmp|var\/tmp)\//;

/** A checkout runs with its Node, the executable by itself. */
function ownCommand(): string[] {
  return isSea() ? [process.execPath] : [process.execPath, resolve(process.argv[1] ?? "")];
}

/** A command line as systemd.service(5) reads it: in the arguments, not in the program's path, `$` begins a variable. */
function systemdCommandLine([program = "", ...args]: readonly string[]): string {
  return [program, ...args.map((word) => word.replaceAll("$", "$$$$"))].map(quoteWord).join(" ");
}

/** `%` would begin a specifier, and a blank would end the word. */
function quoteWord(word: string): string {
  const literal = word.replaceAll("%", "%%");
  return /^[\w./%$:@+,=-]+$/.test(literal) ? literal : JSON.stringify(literal);
}

/** @param options of `serve`. */
function serviceUnit(options: readonly string[]): string {
  return `[Unit]
Description=formsvc, a form backend
Wants=network-online.target
After=network-online.target
# systemd keeps listening while the service restarts: no connection is lost.
Requires=formsvc.socket
After=formsvc.socket
# A database on another machine may come back later than this one: it is tried each second, however long that takes.
StartLimitIntervalSec=0

[Service]
# Ready once it takes posts. NotifyAccess=all, because a tool of systemd's says so for it.
Type=notify
NotifyAccess=all
WatchdogSec=60
ExecStart=${systemdCommandLine([...ownCommand(), "serve", ...options])}
# A new version may carry over gigabytes before it is ready; cut off after 90 seconds, it would begin again without end.
TimeoutStartSec=infinity
# A file of FORMSVC_… lines, mode 0600, for what others must not read, like FORMSVC_DATABASE_URL.
EnvironmentFile=-/etc/formsvc/environment
Environment=FORMSVC_DATABASE_PATH=%S/formsvc/formsvc.db
WorkingDirectory=%S/formsvc
Restart=always
RestartSec=1
# Longer than server.shutdownGraceMs.
TimeoutStopSec=30

# A user that exists only while the service runs, and nothing writable but its own folder, /var/lib/formsvc.
DynamicUser=yes
StateDirectory=formsvc
StateDirectoryMode=0700
UMask=0077
ProtectSystem=strict
ProtectHome=yes
PrivateTmp=yes
PrivateDevices=yes
PrivateUsers=yes
ProtectProc=invisible
ProcSubset=pid
ProtectHostname=yes
ProtectClock=yes
ProtectKernelTunables=yes
ProtectKernelModules=yes
ProtectKernelLogs=yes
ProtectControlGroups=yes
NoNewPrivileges=yes
CapabilityBoundingSet=
AmbientCapabilities=
RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
RemoveIPC=yes
LockPersonality=yes
KeyringMode=private
SystemCallArchitectures=native
SystemCallFilter=@system-service
SystemCallFilter=~@privileged @resources
SystemCallErrorNumber=EPERM
# MemoryDenyWriteExecute= is left out: the JavaScript engine compiles while it runs.
LimitNOFILE=16384
# Twice the 260 MB that the server takes at most under attack, with bodies of up to 64 KiB: the rest is the kernel's, for
# sockets and the database's pages. Beyond it the service is ended and started again, and the machine goes on.
MemoryMax=512M

[Install]
WantedBy=multi-user.target
`;
}

function socketUnit(address: string): string {
  return `[Unit]
Description=Socket of formsvc

[Socket]
ListenStream=${address}
Backlog=4096
NoDelay=yes

[Install]
WantedBy=sockets.target
`;
}
