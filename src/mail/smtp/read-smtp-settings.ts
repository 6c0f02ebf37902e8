import { createPrivateKey, type KeyObject } from "node:crypto";
import { isIP } from "node:net";
import { FormsvcError } from "../../foundation/errors.ts";
import { isThisMachine } from "../../foundation/ip-address.ts";
import { domainOf, parseMailAddress } from "../../foundation/mail-address.ts";
import { readSecretFile, readSecretLine } from "../../secrets/secret-file.ts";
import type { DkimKey, SmtpLogin, SmtpSettings } from "./smtp-settings.ts";

/** The settings under `mail` that say how e-mail is sent. */
export interface SmtpConfig {
  readonly host: string | null;
  readonly port: number;
  readonly security: "auto" | "tls" | "starttls" | "none";
  readonly user: string | null;
  readonly password: string | null;
  readonly passwordFile: string | null;
  readonly from: string | null;
  readonly envelopeFrom: string | null;
  readonly dkim: {
    readonly domain: string | null;
    readonly selector: string | null;
    readonly keyFile: string | null;
  };
  readonly timeoutMs: number;
  readonly limits: { readonly total: number };
}

/** The port on which TLS begins with the first byte (RFC 8314). */
const TLS_PORT = 465;
/** Receivers ignore signatures by a key with fewer bits (RFC 8301, section 3.2). */
const MIN_RSA_BITS = 1024;

/**
 * Reads the settings of the mail server, with the files that they name; null if no mail server is configured.
 *
 * @param baseUrl the address of this server; null if it is not known.
 * @throws config_invalid that says which setting or file is wrong.
 */
export function readSmtpSettings(mail: SmtpConfig, baseUrl: string | null): SmtpSettings | null {
  const { host, port, timeoutMs, limits } = mail;
  if (host === null) return null;
  const from = readAddress(mail.from);
  if (from === null) throw refuse("from", "e-mail needs a sender: write an address, like forms@example.com");
  return {
    host,
    port,
    security: chooseSecurity(mail, host),
    login: readLogin(mail),
    from,
    envelopeFrom: readAddress(mail.envelopeFrom) ?? from,
    ownName: chooseOwnName(baseUrl, from),
    dkim: readDkim(mail.dkim),
    timeoutMs,
    connections: limits.total,
  };
}

function readAddress(text: string | null): string | null {
  return text === null ? null : parseMailAddress(text);
}

/** Chooses the security for `auto`. Plain text is chosen only for a loopback address, because it does not leave this machine. */
function chooseSecurity(
  { security, port }: Pick<SmtpConfig, "security" | "port">,
  host: string,
): SmtpSettings["security"] {
  if (security !== "auto") return security;
  if (port === TLS_PORT) return "tls";
  return isThisMachine(host) ? "none" : "starttls";
}

/** Whether `auto` chose to send a password in plain text. It goes to this machine, but that may be the near end of a tunnel. */
export function sendsPasswordUnasked({
  host,
  port,
  security,
  user,
}: Pick<SmtpConfig, "host" | "port" | "security" | "user">): boolean {
  return (
    host !== null &&
    user !== null &&
    chooseSecurity({ security, port }, host) === "none" &&
    security === "auto"
  );
}

function readLogin({ user, password, passwordFile }: SmtpConfig): SmtpLogin | null {
  if (password !== null && passwordFile !== null)
    throw refuse("passwordFile", "expected password or passwordFile, not both");
  if (user === null) {
    if (password === null && passwordFile === null) return null;
    throw refuse("user", "there is a password and no name for the login");
  }
  if (password !== null) return { user, password };
  if (passwordFile === null)
    throw refuse("password", "there is mail.user and no password: set it, or mail.passwordFile");
  return { user, password: readSecretLine("mail.passwordFile", passwordFile) };
}

function readDkim({ domain, selector, keyFile }: SmtpConfig["dkim"]): DkimKey | null {
  if (domain === null && selector === null && keyFile === null) return null;
  if (domain === null || selector === null || keyFile === null)
    throw refuse("dkim", "expected domain, selector and keyFile together, or none of them");
  const privateKey = readSecretFile("mail.dkim.keyFile", keyFile);
  const { asymmetricKeyType: type, asymmetricKeyDetails } = parsePrivateKey(privateKey, keyFile);
  if (type !== "rsa") throw refuse("dkim.keyFile", `${keyFile}: expected an RSA key, and it is ${type}`);
  const bits = asymmetricKeyDetails?.modulusLength ?? 0;
  if (bits < MIN_RSA_BITS)
    throw refuse(
      "dkim.keyFile",
      `${keyFile}: a key of ${bits} bits is ignored by receivers; make one of 2048`,
    );
  return { domain, selector, privateKey };
}

function parsePrivateKey(text: string, file: string): KeyObject {
  try {
    return createPrivateKey(text);
  } catch (error) {
    const message = `${file}: expected a private key as PEM without a passphrase, like openssl genrsa 2048 writes`;
    throw refuse("dkim.keyFile", message, error);
  }
}

/** The name with which this machine greets. Mail servers distrust a machine that calls itself localhost, so the public name is used. */
function chooseOwnName(baseUrl: string | null, from: string): string {
  const host = baseUrl === null ? "" : new URL(baseUrl).hostname;
  const isPublicName = host.includes(".") && isIP(host) === 0;
  return isPublicName ? host : domainOf(from);
}

function refuse(setting: string, message: string, cause?: unknown): FormsvcError {
  const path = `mail.${setting}`;
  return new FormsvcError("config_invalid", `${path}: ${message}`, {
    details: { problems: [{ path, message }] },
    cause,
  });
}
