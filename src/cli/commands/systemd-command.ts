import type { Command } from "commander";
import { resolve } from "node:path";
import { isIP } from "node:net";
import { isSea } from "node:sea";
import { isDatabaseAddress } from "../../database/postgresql/address.ts";
import { isListenAddress, type ListenAddress, parseListenAddress } from "../../foundation/listen-address.ts";
import { addCommand, command, refuse } from "../command.ts";
import { serviceUnit, socketUnit } from "./systemd-units.ts";

export function register(program: Command): void {
  addCommand(program, systemd);
}

const systemd = command({
  usage: "systemd",
  isLocal: true,
  summary: "Print a hardened systemd unit for this program, or the unit of its socket",
  options: [
    {
      flags: "--socket <address>",
      summary: "print the socket unit instead, which listens at this address, like 127.0.0.1:8787",
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
        "the unit would show the password; write the address as FORMSVC_DATABASE_URL into /etc/formsvc/environment, with a line FORMSVC_DATABASE_PATH= beside it, and leave --db out",
      );
    if (databasePath !== null)
      return refuse(
        "the service keeps its database in /var/lib/formsvc, the only folder it may write in; leave --db out",
      );
    const config = configFile === null ? [] : ["--config", resolve(configFile)];
    const unit = socket === null ? serviceUnit([...ownCommand(), "serve", ...config]) : socketUnit(socket);
    if (socket === null && ownCommand().some((path) => HIDDEN.test(path)))
      output.note(
        `the service does not see ${ownCommand().join(" ")}; install the executable first, like in /usr/local/bin`,
      );
    if (output.isJson) output.json({ unit });
    else output.text(unit);
    return undefined;
  },
});

/** Checks a value of ListenStream=: a port, an address with a port (an IPv6 address in brackets), or a path. */
function parseListenStream(value: string): string {
  const isPath = /^\/[\w./-]{1,100}$/.test(value);
  const address = /^\d+$/.test(value) ? `127.0.0.1:${value}` : value;
  if (isPath || (isListenAddress(address) && isFixed(parseListenAddress(address)))) return value;
  return refuse("expected an address like 127.0.0.1:8787, [::1]:8787, 8787 or /run/formsvc.sock");
}

/** Whether the host is an IP address and the port is not 0. */
function isFixed({ host, port }: ListenAddress): boolean {
  return isIP(host) !== 0 && port > 0;
}

/** Folders that ProtectHome= and PrivateTmp= hide from the service. */
const HIDDEN = /^\/(?:home|root|run\/user|tmp|var\/tmp)\//;

/** The program and its first arguments: Node and the script if it runs from a checkout, else the executable. */
function ownCommand(): string[] {
  return isSea() ? [process.execPath] : [process.execPath, resolve(process.argv[1] ?? "")];
}
