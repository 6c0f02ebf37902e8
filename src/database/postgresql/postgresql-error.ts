import { DatabaseError } from "pg";
import { FormsvcError } from "../../foundation/errors.ts";

/** Reasons by SQLSTATE, or by its first two characters. */
const REASONS: Readonly<Record<string, string>> = {
  "28": "the server does not let this user in; check the user, the password and pg_hba.conf",
  "3D000": "there is no such database; make it with: CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0",
  "42501": "this user may not do that; make it the owner of the database and of its tables",
  "42P01": "a table is missing; doctor names it",
  "53100": "the server's disk is full; free some space there",
  "53200": "the server has no memory left",
  "53300": "the server takes no more connections; raise max_connections or use a pooler",
  "57014": "the server ended a statement that took too long; look what else it does",
  "57P01": "the server is being stopped or restarted",
  "57P02": "the server crashed and is coming back",
  "57P03": "the server is starting or stopping",
  "58": "the server reports an error of its disk; check it before anything else",
  XX: "the server reports damage or a defect of its own; look at its log",
  "25006": "the server only reads: it is a standby by now",
};

/** Reasons by the error codes of Node's network functions. */
const NETWORK_REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: "nothing listens there; check the host, the port and that PostgreSQL runs",
  ECONNRESET: "the connection broke",
  EPIPE: "the connection broke",
  ENOTFOUND: "there is no host with this name",
  EAI_AGAIN: "the name of the host cannot be looked up now",
  ETIMEDOUT: "the host does not answer",
  EHOSTUNREACH: "there is no way to the host",
  ENETUNREACH: "there is no way to the host",
  ENOENT: "there is no socket in this folder; check the folder, the port and that PostgreSQL runs",
  EACCES: "this user may not use the socket",
};

/** Reasons by the error codes of TLS. */
const CERTIFICATE_REASONS: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED:
    "the server's certificate or its authority's has expired; renew it, or correct this machine's clock",
  CERT_NOT_YET_VALID: "the server's certificate is not valid yet; correct the clocks of both machines",
  ERR_TLS_CERT_ALTNAME_INVALID:
    "the server's certificate is for another host; write a name of the certificate into the address",
};
const UNTRUSTED_CODES =
  /^(?:DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_|CERT_UNTRUSTED|CERT_SIGNATURE_FAILURE|INVALID_CA)/;

/** The server is a standby or cannot be reached: another host may be the primary. */
export class PassedOver extends FormsvcError {}

/** The answer to a commit was lost: the change may have been made, or not. */
export class UnheardCommit extends FormsvcError {}

/** The SQLSTATE of a transaction that cannot be serialized, of a deadlock, and of a lock that did not come within `lock_timeout`. */
const CONFLICTS: ReadonlySet<string> = new Set(["40001", "40P01", "55P03"]);

/** Whether another transaction was in the way, so that the same steps may succeed if they run again. */
export function isConflict(error: unknown): boolean {
  return error instanceof DatabaseError && CONFLICTS.has(error.code ?? "");
}

/** Whether the server has become a standby, so that another host may be the primary. */
export function isReadOnly(error: unknown): boolean {
  return error instanceof DatabaseError && error.code === "25006";
}

/** Whether the connection cannot be used any more. */
export function isConnectionLost(error: unknown): boolean {
  if (error instanceof FormsvcError) return false;
  // 25P03 and 25P04 mean that the server waited too long for the next statement of a transaction.
  if (error instanceof DatabaseError) return /^(?:57P|08|25P0[34])/.test(error.code ?? "");
  return error instanceof Error && reasonOfConnection(error) !== undefined;
}

/** Whether the same work may succeed soon: if the server comes back, another one becomes the primary, or other transactions end. */
export function isPassing(error: unknown): boolean {
  if (error instanceof PassedOver || error instanceof UnheardCommit) return true;
  const cause = error instanceof FormsvcError ? error.cause : error;
  return isConflict(cause) || isReadOnly(cause) || isConnectionLost(cause) || isFull(cause);
}

/** Whether no encrypted connection can be made until somebody corrects a certificate, a setting or a clock. */
export function isOfEncryption(error: unknown): boolean {
  return reasonOfEncryption(error instanceof FormsvcError ? error.cause : error) !== undefined;
}

/** Whether the server takes no more connections. */
function isFull(error: unknown): boolean {
  return error instanceof DatabaseError && error.code === "53300";
}

/**
 * Turns an error of the driver into `database_busy` or `database_unusable`, with what to do. Our own errors are returned unchanged, and so
 * are errors that are a defect of a statement. No message repeats what the server or the address said, except a code.
 *
 * @param shown the name of the database in the message.
 */
export function translatePostgresqlError(error: unknown, shown: string): unknown {
  if (error instanceof FormsvcError) return error;
  if (isConflict(error)) {
    return new FormsvcError(
      "database_busy",
      `${shown}: other transactions are in the way; try again shortly`,
      {
        retryAfterSeconds: 1,
        cause: error,
      },
    );
  }
  const reason = error instanceof DatabaseError ? reasonOfServer(error) : reasonOfConnection(error);
  if (reason === undefined) return error;
  return new FormsvcError("database_unusable", `${shown}: ${reason}`, { retryAfterSeconds: 5, cause: error });
}

/** Undefined if the error is a defect of ours. */
function reasonOfServer({ code = "" }: DatabaseError): string | undefined {
  const reason = REASONS[code] ?? REASONS[code.slice(0, 2)];
  return reason && `${reason} (${code})`;
}

function reasonOfConnection(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const { code = "" } = error as NodeJS.ErrnoException;
  const reason = NETWORK_REASONS[code];
  if (reason !== undefined) return `${reason} (${code})`;
  const encryption = reasonOfEncryption(error);
  if (encryption !== undefined) return encryption;
  return LOST.test(error.message) ? "the connection broke or was not made in time" : undefined;
}

function reasonOfEncryption(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  if (/does not support SSL/.test(error.message))
    return "the server takes no encrypted connections, and one to another machine must be encrypted; set ssl = on in postgresql.conf";
  const { code = "" } = error as NodeJS.ErrnoException;
  const reason = CERTIFICATE_REASONS[code] ?? reasonByKind(code);
  return reason && `${reason} (${code})`;
}

function reasonByKind(code: string): string | undefined {
  if (UNTRUSTED_CODES.test(code))
    return "the server's certificate is of an authority that is not trusted here; name the authority's file with sslrootcert=…";
  if (code.startsWith("CERT_")) return "the server's certificate is not valid; issue a new one";
  if (/^(?:ERR_SSL_|ERR_TLS_|EPROTO$)/.test(code))
    return "no encryption was agreed on; look at the server's log and its ssl_min_protocol_version";
  return undefined;
}

/** Messages of the driver that have no code. */
const LOST =
  /^Connection terminated|^timeout e|^timeout expired|connection timeout|not queryable|^Query read timeout/i;
