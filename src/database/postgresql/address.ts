import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { FormsvcError } from "../../foundation/errors.ts";
import { isThisMachine } from "../../foundation/ip-address.ts";

/** A PostgreSQL database, as its address describes it: `postgresql://user:password@host:5432,host2/database?sslmode=verify-full`. */
export interface DatabaseAddress {
  /** The hosts, in the order in which they are tried. */
  readonly hosts: readonly DatabaseHost[];
  readonly user: string;
  /** The password; null if the server asks for none. */
  readonly password: string | null;
  readonly database: string;
  readonly tls: TlsChoice;
  /** The address without the password and the parameters, for messages. */
  readonly shown: string;
}

export interface DatabaseHost {
  /** A host name, an IP address, or the folder of a socket. */
  readonly host: string;
  readonly port: number;
}

interface TlsChoice {
  /** Whether connections within this machine are encrypted too. Connections to other machines always are. */
  readonly always: boolean;
  /** The certificates of the trusted authorities, in PEM; null means those of the system. */
  readonly authorities: string | null;
  /** Whether the proof of the password is bound to the encrypted connection (channel binding). */
  readonly bindsChannel: boolean;
}

const DEFAULT_PORT = 5432;
/** The parts of an address: user with password, hosts, database, parameters. */
const ADDRESS = /^postgres(?:ql)?:\/\/(?:([^@/?#]*)@)?([^@/?#]*)\/([^/?#]*)(?:\?([^#]*))?$/i;
const HOST = /^(\[[\da-f:.]+\]|[\w.-]*)(?::(\d{1,5}))?$/i;
const PARAMETERS = ["channel_binding", "host", "sslmode", "sslrootcert", "target_session_attrs"];

/** Whether a text names a PostgreSQL database and not a file. */
export function isDatabaseAddress(text: string): boolean {
  return /^postgres(?:ql)?:/i.test(text);
}

/** @throws config_invalid with a message that repeats no part of the text, because it may contain a password. */
export function parseDatabaseAddress(text: string): DatabaseAddress {
  const [, owner = "", authority = "", database = "", query = ""] = ADDRESS.exec(text) ?? refuse(SHAPE);
  const [user = "", ...rest] = owner.split(":");
  const parameters = readParameters(query);
  const hosts = readHosts(authority, parameters.get("host"));
  if (user === "") refuse("names no user");
  if (database === "") refuse("names no database");
  const address = {
    hosts,
    user: decode(user),
    password: rest.length === 0 ? null : decode(rest.join(":")),
    database: decode(database),
    tls: readTls(parameters, hosts),
  };
  return { ...address, shown: show(address) };
}

/** Whether a connection to this host leaves the machine. */
export function isRemote({ host }: DatabaseHost): boolean {
  return !(host.startsWith("/") || isThisMachine(host));
}

const SHAPE =
  "is not like postgresql://user:password@host:5432/database; write / @ : % in a password as %2F %40 %3A %25";

function refuse(what: string): never {
  throw new FormsvcError("config_invalid", `the address of the PostgreSQL database ${what}`);
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return refuse("has a % without two hexadecimal digits behind it; write %25 for a percent sign");
  }
}

function readParameters(query: string): ReadonlyMap<string, string> {
  const parameters = new Map<string, string>();
  for (const part of query.split("&").filter((each) => each !== "")) {
    const [name = "", ...value] = part.split("=");
    if (!PARAMETERS.includes(name)) refuse(`has a parameter that is not one of ${PARAMETERS.join(", ")}`);
    parameters.set(name, decode(value.join("=")));
  }
  const attributes = parameters.get("target_session_attrs");
  if (attributes !== undefined && !["any", "primary", "read-write"].includes(attributes))
    refuse("asks for a standby, which cannot be written; target_session_attrs can only be read-write");
  return parameters;
}

/** @param socket the folder of a socket, which replaces the hosts. */
function readHosts(authority: string, socket: string | undefined): DatabaseHost[] {
  if (socket !== undefined) {
    if (!socket.startsWith("/")) refuse("has a parameter host that is not the folder of a socket");
    return [{ host: socket, port: readPort(/^:(\d{1,5})$/.exec(authority)?.[1] ?? authority) }];
  }
  return authority.split(",").map((each) => {
    const [, host = "", port = ""] = HOST.exec(each) ?? refuse(SHAPE);
    if (host === "") refuse("names no host");
    return { host: host.replace(/^\[(.*)\]$/, "$1"), port: readPort(port) };
  });
}

function readPort(text: string): number {
  const port = text === "" ? DEFAULT_PORT : Number(text);
  return Number.isInteger(port) && port >= 1 && port <= 65_535
    ? port
    : refuse("has a port that is not a number from 1 to 65535");
}

/**
 * Reads the TLS settings. `require` and `verify-ca` mean the same as `verify-full` here: if the name of a server on another machine were
 * not checked, anybody in between could pretend to be the database.
 */
function readTls(parameters: ReadonlyMap<string, string>, hosts: readonly DatabaseHost[]): TlsChoice {
  const mode = parameters.get("sslmode");
  const isWanted = mode !== undefined && ["require", "verify-ca", "verify-full"].includes(mode);
  if (mode !== undefined && !isWanted && mode !== "disable") refuse("has an sslmode that is not verify-full");
  if (mode === "disable" && hosts.some(isRemote))
    refuse("has sslmode=disable and a host on another machine; such a connection is always encrypted");
  const file = parameters.get("sslrootcert");
  const binding = parameters.get("channel_binding");
  return {
    always: isWanted,
    authorities: file === undefined || file === "system" ? null : readAuthorities(file),
    bindsChannel: binding !== undefined && binding !== "disable",
  };
}

function readAuthorities(file: string): string {
  let authorities: string;
  try {
    authorities = readFileSync(file, "utf8");
  } catch (error) {
    return refuse(
      `has an sslrootcert that cannot be read (${(error as NodeJS.ErrnoException).code ?? "error"})`,
    );
  }
  try {
    // TLS would ignore a text that is no certificate, and then trust no server.
    void new X509Certificate(authorities);
    return authorities;
  } catch {
    return refuse("has an sslrootcert that is no certificate in PEM");
  }
}

function show({ hosts, user, database }: Pick<DatabaseAddress, "hosts" | "user" | "database">): string {
  const named = hosts.map(({ host, port }) => `${host.includes(":") ? `[${host}]` : host}:${port}`);
  return `postgresql://${encodeURIComponent(user)}@${named.join(",")}/${encodeURIComponent(database)}`;
}
