/** Names behind which programs read, or whom a robot names to annoy them; some have a number or a name behind them. */
const PROGRAM =
  /^(?:mailer-daemon|postmaster|abuse|daemon|listserv|majordomo|auto-?reply|bounces?)(?:$|[^a-z])/;
/** `do-not-reply`, also with something before and behind. */
const NO_REPLY = /(?:^|-)(?:no|not|do-?not|dont)-?reply(?:$|[^a-z])/;
/** The addresses by which mailing lists are run (RFC 3834, section 2). */
const LIST = /^owner-|-(?:owner|request|bounces?)$/;

/** Whether programs and no person read what is sent there. @param address as `parseMailAddress` returned it. */
export function isAutomaticAddress(address: string): boolean {
  const name = nameOf(address).replace(/[._]/g, "-");
  return PROGRAM.test(name) || NO_REPLY.test(name) || LIST.test(name);
}

/**
 * The mailbox that a reply to an address arrives in, as far as it can be told: capital letters, dots before the at sign and what stands
 * behind a plus sign mean nothing to many servers, and would let somebody send one person many replies.
 */
export function mailboxOf(address: string): string {
  return nameOf(address).replaceAll(".", "") + address.slice(address.lastIndexOf("@")).toLowerCase();
}

function nameOf(address: string): string {
  const [name = ""] = address.slice(0, address.lastIndexOf("@")).toLowerCase().split("+", 1);
  return name;
}
