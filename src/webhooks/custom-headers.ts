import { FormsvcError } from "../foundation/errors.ts";

export type CustomHeaders = Readonly<Record<string, string>>;

/** The values as they are stored: they are often credentials, so they are encrypted if there is a key. */
export type StoredHeaders = ReadonlyMap<string, Buffer>;

const HEADERS_MAX = 20;
const NAME = /^[a-z0-9!#$%&'*+.^_`|~-]{1,64}$/;
const VALUE_MAX_LENGTH = 1024;

/** Headers that the sender itself sets, that frame the message, or that are for one connection only. */
const RESERVED = new Set([
  "connection",
  "content-encoding",
  "content-length",
  "content-type",
  "expect",
  "host",
  "http2-settings",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "user-agent",
]);

/** Reads a webhook's own headers from lines of `Name: value`. @throws usage as {@link checkCustomHeaders} does. */
export function parseCustomHeaders(lines: readonly string[]): CustomHeaders {
  return checkEntries(
    lines.map((line) => {
      const colon = line.indexOf(":");
      return [line.slice(0, Math.max(colon, 0)).trim(), line.slice(colon + 1).trim()];
    }),
  );
}

/**
 * Checks headers, and returns them with names in lower case.
 *
 * @throws FormsvcError `usage` for a name that may not be set, a name given twice, a value that could end the header early, or more than
 * {@link HEADERS_MAX} headers.
 */
export function checkCustomHeaders(headers: CustomHeaders): CustomHeaders {
  return checkEntries(Object.entries(headers));
}

function checkEntries(entries: readonly (readonly [name: string, value: string])[]): CustomHeaders {
  if (entries.length > HEADERS_MAX) throw refuse(`a webhook has at most ${HEADERS_MAX} headers of its own`);
  const headers = new Map<string, string>();
  for (const [index, [given, value]] of entries.entries()) {
    const name = given.toLowerCase();
    // The message shows nothing of the line: a line without a name may be a credential.
    if (!NAME.test(name)) throw refuse(`a header is written 'Name: value'; number ${index + 1} is not`);
    if (RESERVED.has(name) || name.startsWith("webhook-"))
      throw refuse(`the header ${name} is formsvc's own`);
    if (headers.has(name)) throw refuse(`the header ${name} is given twice`);
    headers.set(name, checkValue(name, value));
  }
  return Object.fromEntries(headers);
}

function checkValue(name: string, value: string): string {
  if (value.length > VALUE_MAX_LENGTH)
    throw refuse(`the header ${name} is longer than ${VALUE_MAX_LENGTH} characters`);
  if (!/^[\x20-\x7e]*$/.test(value)) throw refuse(`the header ${name} may hold printable ASCII only`);
  return value;
}

function refuse(problem: string): FormsvcError {
  return new FormsvcError("usage", problem);
}
