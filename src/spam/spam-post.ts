/** One form post as the filter sees it. */
export interface SpamPost {
  /** The validated data as it would be stored. */
  readonly fields: Readonly<Record<string, unknown>>;
  /** The honeypot members of the raw body with a value other than an empty string or null. */
  readonly honeypots: readonly FilledHoneypot[];
  /** `_elapsed_ms`; null if absent or not a number. */
  readonly elapsedMs: number | null;
  /** The client of the person; null if a backend posted with the secret key and did not pass it on. */
  readonly client: SpamClient | null;
  /** Why the endpoint's challenge failed; absent if it did not fail. */
  readonly challenge?: "missing" | "wrong" | undefined;
}

interface FilledHoneypot {
  readonly name: string;
  readonly value: unknown;
}

/** A header is null if the client sent none, and undefined if a backend did not pass it on. */
interface SpamClient {
  readonly ipAddress: string;
  readonly userAgent: string | null | undefined;
  readonly acceptLanguage: string | null | undefined;
}

/** The time from when the form was shown to when it was sent, in milliseconds, measured by the browser client. */
export const ELAPSED_MEMBER = "_elapsed_ms";
/** The first character of control members, which say how to handle a post. They are stored only if the schema declares them. */
const CONTROL_PREFIX = "_";
/** The members that the services of challenges add to a form; hCaptcha adds its token under two names. */
export const TOKEN_MEMBERS: ReadonlySet<string> = new Set([
  "cf-turnstile-response",
  "h-captcha-response",
  "g-recaptcha-response",
]);
/** The largest number of filled honeypots that the filter reads; one is enough to block a post. */
const MAX_FILLED_HONEYPOTS = 20;

/**
 * Separates the control members and honeypots of a raw body from its fields, before undeclared fields are dropped. A schema checks the
 * fields that are left. `declared` has a member for each field of the schema.
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

/** Reads a number, or a number as text, as a plain form sends it. */
function readElapsed(body: Readonly<Record<string, unknown>>): number | null {
  const value = Object.hasOwn(body, ELAPSED_MEMBER) ? body[ELAPSED_MEMBER] : null;
  const elapsedMs = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
  return typeof elapsedMs === "number" && Number.isFinite(elapsedMs) && elapsedMs >= 0 ? elapsedMs : null;
}
