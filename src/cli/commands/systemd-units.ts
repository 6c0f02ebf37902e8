/** A command line for systemd.service(5). `$` begins a variable in the arguments, but not in the program's path. */
function systemdCommandLine([program = "", ...args]: readonly string[]): string {
  return [program, ...args.map((word) => word.replaceAll("$", "$$$$"))].map(quoteWord).join(" ");
}

/** Quotes a word, because `%` would begin a specifier and a blank would end the word. */
function quoteWord(word: string): string {
  const literal = word.replaceAll("%", "%%");
  return /^[\w./%$:@+,=-]+$/.test(literal) ? literal : JSON.stringify(literal);
}

/** @param words the program and its arguments, including `serve` */
export function serviceUnit(words: readonly string[]): string {
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
ExecStart=${systemdCommandLine(words)}
# A new version may carry over gigabytes before it is ready; cut off after 90 seconds, it would begin again without end.
TimeoutStartSec=infinity
# A file of FORMSVC_… lines, mode 0600, for what others must not read, like FORMSVC_DATABASE_URL (with FORMSVC_DATABASE_PATH= beside it).
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

/** @param address a value of ListenStream= */
export function socketUnit(address: string): string {
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
