import type { Vendor } from "../../endpoints/challenge.ts";
import { FormsvcError } from "../../foundation/errors.ts";
import { readWhole } from "../../foundation/read-whole.ts";
import { addressUnit } from "../../foundation/ip-address.ts";

export interface VendorSettings {
  readonly turnstileUrl: string;
  readonly hcaptchaUrl: string;
  readonly timeoutMs: number;
}

export interface VendorQuestion {
  readonly vendor: Vendor;
  /** The owner's secret at the service. */
  readonly secret: string;
  /** The site key of the page; null if it is unknown. */
  readonly siteKey: string | null;
  /** The token that the visitor's browser got from the service. */
  readonly token: string;
  /** The IP address of the client that posts. It limits the number of questions, and is not sent to the service. */
  readonly address: string;
}

/** The verdict of a service on a token. `fault` says why there is none; a fault never counts against a visitor. */
export type VendorAnswer = { readonly isGood: boolean } | { readonly fault: string };

/** The largest number of questions at a time. Further posts are accepted without a verdict. */
const MAX_ASKED = 64;
/**
 * The largest number of them for posts from one address. Further posts of this address are refused, so that nobody avoids the check by
 * using up {@link MAX_ASKED}.
 */
const MAX_ASKED_OF_ADDRESS = 8;
/** The largest answer that is read, in bytes; a genuine one has a few hundred. */
const MAX_ANSWER_BYTES = 65_536;
const MAX_TOKEN_LENGTH = 8192;
/**
 * Error codes about the owner's secret or the service itself. No token can cause them; otherwise a robot could pass the check with such a
 * token.
 */
const NOT_THE_VISITOR = /^(?:(?:missing|invalid)-input-secret|internal-error)$/;

/**
 * Returns a function that asks a service about a token with the owner's secret, as described at
 * https://developers.cloudflare.com/turnstile/get-started/server-side-validation/ and
 * https://docs.hcaptcha.com/#verify-the-user-response-server-side. The visitor's address is not sent. A secret of hCaptcha is valid for all
 * site keys of an account, so the expected site key is sent; otherwise a token of another site of the same owner would be accepted. A
 * secret of Turnstile belongs to one site key. The host in a verdict is not compared: the services bind a site key to its hosts themselves,
 * hCaptcha takes the host from the browser, and the form may be on a page whose address we do not know.
 * The function throws rate_limited if too many questions for the address are open.
 */
export function createVendors({ turnstileUrl, hcaptchaUrl, timeoutMs }: VendorSettings) {
  /** The number of open questions, by the network address of the post. */
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

/** @throws if the answer is too long */
async function readText({ body }: Response): Promise<string> {
  const bytes = await readWhole(body, MAX_ANSWER_BYTES);
  if (bytes === null) throw new Error("the answer is too long");
  return bytes.toString();
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
