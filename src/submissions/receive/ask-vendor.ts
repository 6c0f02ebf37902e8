import type { Vendor } from "../../endpoints/challenge.ts";
import { FormsvcError } from "../../foundation/errors.ts";
import { addressUnit } from "../../foundation/ip-address.ts";

export interface VendorSettings {
  readonly turnstileUrl: string;
  readonly hcaptchaUrl: string;
  readonly timeoutMs: number;
}

export interface VendorQuestion {
  readonly vendor: Vendor;
  /** The owner's. */
  readonly secret: string;
  /** Of the page; null if it was not told. */
  readonly siteKey: string | null;
  /** The visitor's. */
  readonly token: string;
  /** Of the client that posts; it bounds the questions, and is not told to the service. */
  readonly address: string;
}

/** What a service says of a token. `fault` says why it gave no verdict, which never counts against a visitor. */
export type VendorAnswer = { readonly isGood: boolean } | { readonly fault: string };

/** Questions under way at once; further posts are taken without a verdict. */
const MAX_ASKED = 64;
/** Of these, for posts from one address. Whoever sends more is refused: nobody goes round the service by filling the places. */
const MAX_ASKED_OF_ADDRESS = 8;
/** Bytes of an answer; a genuine one has some hundred. */
const MAX_ANSWER_BYTES = 65_536;
const MAX_TOKEN_LENGTH = 8192;
/** Faults of the owner's secret and of the service. No token brings them about: else whoever sends such a token would need no other. */
const NOT_THE_VISITOR = /^(?:(?:missing|invalid)-input-secret|internal-error)$/;

/**
 * Asks a service about tokens by an owner's secret, as https://developers.cloudflare.com/turnstile/get-started/server-side-validation/
 * and https://docs.hcaptcha.com/#verify-the-user-response-server-side describe it. The visitor's address is not told.
 * A secret of hCaptcha is for all site keys of an account, so the key that is expected is told: else a token of another site of the
 * same owner would be good. One of Turnstile is for one site key. The host in a verdict is not compared: the services bind a site key
 * to its hosts themselves, hCaptcha takes it from the browser, and a form may be on a page whose address its owner never told us.
 * The question throws rate_limited if the address has too many under way.
 */
export function createVendors({ turnstileUrl, hcaptchaUrl, timeoutMs }: VendorSettings) {
  /** Questions under way, by the address of the post. */
  const asked = new Map<string, number>();
  let askedInAll = 0;
  return async ({ vendor, secret, siteKey, token, address }: VendorQuestion): Promise<VendorAnswer> => {
    if (token.length > MAX_TOKEN_LENGTH) return { isGood: false };
    const unit = addressUnit(address);
    const mine = asked.get(unit) ?? 0;
    if (mine >= MAX_ASKED_OF_ADDRESS) throw tooManyOf();
    if (askedInAll >= MAX_ASKED) return { fault: `${MAX_ASKED} posts wait for the service` };
    asked.set(unit, mine + 1);
    askedInAll += 1;
    const expected = vendor === "hcaptcha" && siteKey !== null && { sitekey: siteKey };
    try {
      const answer = await fetch(vendor === "turnstile" ? turnstileUrl : hcaptchaUrl, {
        method: "POST",
        body: new URLSearchParams({ secret, response: token, ...expected }),
        redirect: "error",
        signal: AbortSignal.timeout(timeoutMs),
      });
      return verdictOf(await readText(answer), answer.status);
    } catch (error) {
      const isLate = error instanceof Error && error.name === "TimeoutError";
      return { fault: isLate ? `no answer within ${timeoutMs} ms` : "the service cannot be reached" };
    } finally {
      askedInAll -= 1;
      const left = (asked.get(unit) ?? 1) - 1;
      if (left === 0) asked.delete(unit);
      else asked.set(unit, left);
    }
  };
}

function tooManyOf(): FormsvcError {
  return new FormsvcError(
    "rate_limited",
    "Too many posts of this address wait for the challenge's service.",
    {
      retryAfterSeconds: 1,
    },
  );
}

/** @throws if it is too long */
async function readText({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body ?? []) {
    bytes += chunk.length;
    if (bytes > MAX_ANSWER_BYTES) throw new Error("the answer is too long");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

function verdictOf(text: string, status: number): VendorAnswer {
  const verdict = parse(text);
  if (typeof verdict?.success !== "boolean")
    return { fault: `an answer that is no verdict (status ${status})` };
  const codes = Array.isArray(verdict["error-codes"]) ? verdict["error-codes"] : [];
  const fault = codes.find((code) => typeof code === "string" && NOT_THE_VISITOR.test(code)) as
    | string
    | undefined;
  return verdict.success || fault === undefined
    ? { isGood: verdict.success }
    : { fault: `the service says ${fault}` };
}

function parse(text: string): { readonly success?: unknown; readonly "error-codes"?: unknown } | null {
  try {
    return JSON.parse(text) as { readonly success?: unknown } | null;
  } catch {
    return null;
  }
}
