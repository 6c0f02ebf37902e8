import { isThisMachine } from "../foundation/ip-address.ts";
import { readWhole } from "../foundation/read-whole.ts";

/** The issuer gave no answer that can be read. */
export class IssuerSilent extends Error {}

/** The longest time for one answer. */
export const ANSWER_TIMEOUT_MS = 5000;
/** The largest answer; lists of keys have some tens of kilobytes. */
export const MAX_ANSWER_BYTES = 262_144;

/**
 * Fetches one answer of an issuer, whole. Redirects are not followed.
 *
 * @throws IssuerSilent if the issuer does not answer, is too slow, sends too much or a broken answer, or if the connection is not
 * encrypted.
 */
export async function boundedFetch(address: string, options: RequestInit): Promise<Response> {
  const { protocol, hostname } = new URL(address);
  if (protocol !== "https:" && !isThisMachine(hostname.replace(/^\[|\]$/g, "")))
    throw new IssuerSilent("names an address that is not https");
  const limit = AbortSignal.timeout(ANSWER_TIMEOUT_MS);
  const signal = options.signal ? AbortSignal.any([options.signal, limit]) : limit;
  try {
    const answer = await fetch(address, { ...options, redirect: "manual", signal });
    const body = await readWhole(answer.body, MAX_ANSWER_BYTES);
    if (body === null) throw new IssuerSilent(`answers with more than ${MAX_ANSWER_BYTES} bytes`);
    if (answer.status >= 500) throw new IssuerSilent(`answers with the status ${answer.status}`);
    return new Response(body.length === 0 ? null : body, { status: answer.status, headers: answer.headers });
  } catch (error) {
    if (error instanceof IssuerSilent) throw error;
    throw new IssuerSilent(reasonOf(error), { cause: error });
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return "gives no answer";
  if (error.name === "TimeoutError") return `gives no answer within ${ANSWER_TIMEOUT_MS / 1000} seconds`;
  const { code } = (error.cause ?? error) as NodeJS.ErrnoException;
  return typeof code === "string" ? `cannot be reached (${code})` : "gives no answer that can be read";
}
