import type { StoreAddress } from "../../endpoints/endpoint.ts";
import { FormsvcError } from "../../foundation/errors.ts";
import { canonicalAddress, shortenAddress } from "../../foundation/ip-address.ts";
import type { SpamPost } from "../../spam/spam-post.ts";
import type { Caller } from "./authenticate.ts";
import { MAX_USER_AGENT_LENGTH } from "../stored/submission.ts";

/** What a post's headers say about the person's client. A value is undefined if the header is missing. */
interface ClientHeaders {
  readonly userAgent: string | undefined;
  readonly acceptLanguage: string | undefined;
  readonly submitterIp: string | undefined;
  readonly submitterUserAgent: string | undefined;
}

/** The address and user agent of the person: those of the sender, or those that a backend passes on with a secret key. */
export function readSubmitter(caller: Caller, post: ClientHeaders): { address: string; userAgent: string } {
  const trusted = caller.key.kind === "secret";
  const passedIp = trusted ? (post.submitterIp?.trim() ?? "") : "";
  const address = passedIp === "" ? caller.address : canonicalAddress(passedIp);
  if (address === null) {
    throw new FormsvcError("invalid_request", "The X-Submitter-IP header is not an IP address.", {
      details: { "X-Submitter-IP": "expected an IPv4 or IPv6 address" },
    });
  }
  const userAgent = (trusted ? post.submitterUserAgent : undefined) ?? post.userAgent ?? "";
  return { address, userAgent: userAgent.slice(0, MAX_USER_AGENT_LENGTH) };
}

/** The part of an IP address that is stored. */
export function storedAddress(address: string, how: StoreAddress): string {
  if (how === "full") return address;
  return how === "short" ? shortenAddress(address) : "";
}

/**
 * The client of the person, for the filter; null if it is unknown. It is never the backend that posts, which says nothing about the person
 * who filled in the form.
 */
export function readClientForFilter(caller: Caller, post: ClientHeaders): SpamPost["client"] {
  const { userAgent = null, acceptLanguage = null } = post;
  if (caller.key.kind === "publishable") return { ipAddress: caller.address, userAgent, acceptLanguage };
  const ipAddress = canonicalAddress(post.submitterIp?.trim() ?? "");
  if (ipAddress === null) return null;
  return { ipAddress, userAgent: post.submitterUserAgent, acceptLanguage: undefined };
}
