/** One form post as the filter sees it. */
export interface SpamPost {
  /** The validated data as it would be stored. */
  readonly fields: Readonly<Record<string, unknown>>;
  /** Honeypot members of the raw body that hold anything but an empty string or null. */
  readonly honeypots: readonly FilledHoneypot[];
  /** `_elapsed_ms`; null when absent or not a number. */
  readonly elapsedMs: number | null;
  /** The submitter's own client; null if a backend posted with the secret key and did not pass it on. */
  readonly client: SpamClient | null;
  /** What speaks against a post to an endpoint with a challenge; absent if nothing does. */
  readonly challenge?: "missing" | "wrong" | undefined;
}

interface FilledHoneypot {
  readonly name: string;
  readonly value: unknown;
}

/** A header is null if the client sent none, undefined if a backend did not say. */
interface SpamClient {
  readonly ipAddress: string;
  readonly userAgent: string | null | undefined;
  readonly acceptLanguage: string | null | undefined;
}

/** Milliseconds from when the form was shown to when it was sent, as the browser client measures it. */
export const ELAPSED_MEMBER = "_elapsed_ms";
/** A member of this kind steers how a post is handled; it is stored only when the schema declares it. */
const CONTROL_PREFIX = "_";
/** What services of challenges put into a form; hCaptcha does it under two names. */
export const TOKEN_MEMBERS: ReadonlySet<string> = new Set([
  "cf-turnstile-response",
  "h-captcha-response",
  "g-recaptcha-response",
]);
/** Filled honeypots that the filter is shown; one is enough to block. */
const MAX_FILLED_HONEYPOTS = 20;

/**
 * Takes the control members and honeypots out of a raw body, before any field is stripped. The fields that are left are
 * what a schema checks; `declared` has a member for each field of the schema.
 */
export function readBody(
  body: Readonly<Record<string, unknown>>,
  honeypots: readonly string[],
  declared: Readonly<Record<string, unknown>>,
  client: SpamPost["client"],
): SpamPost & { readonly fields: Record<string, unknown> } {
  const filled: FilledHoneypot[] = [];
  const fields: Record<string, unknown> = {};
  for (const name of Object.keys(body)) {
    const value = body[name];
    if (honeypots.includes(name)) {
      const isFilled = value !== "" && value !== null;
      if (isFilled && filled.length < MAX_FILLED_HONEYPOTS) filled.push({ name, value });
    } else if (!isControl(name) || Object.hasOwn(declared, name)) {
      fields[name] = value;
    }
  }
  return { fields, honeypots: filled, elapsedMs: readElapsed(body), client };
}

function isControl(name: string): boolean {
  return name.startsWith(CONTROL_PREFIX) || TOKEN_MEMBERS.has(name);
}

/** A number, or the text of one as a plain form sends it. */
function readElapsed(body: Readonly<Record<string, unknown>>): number | null {
  const value = Object.hasOwn(body, ELAPSED_MEMBER) ? body[ELAPSED_MEMBER] : null;
  const elapsedMs = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
  return typeof elapsedMs === "number" && Number.isFinite(elapsedMs) && elapsedMs >= 0 ? elapsedMs : null;
}
