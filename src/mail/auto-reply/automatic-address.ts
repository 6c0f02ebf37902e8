/** Names whose mail programs read, or that a robot enters to annoy their holders. A number or another word may follow. */
const PROGRAM =
  /^(?:mailer-daemon|postmaster|abuse|daemon|listserv|majordomo|auto-?reply|bounces?)(?:$|[^a-z])/;
/** `do-not-reply` and the like, also with something before and after it. */
const NO_REPLY = /(?:^|-)(?:no|not|do-?not|dont)-?reply(?:$|[^a-z])/;
/** The addresses by which mailing lists are managed (RFC 3834, section 2). */
const LIST = /^owner-|-(?:owner|request|bounces?)$/;

/** Whether programs, and no person, read what is sent to this address. @param address as `parseMailAddress` returned it. */
export function isAutomaticAddress(address: string): boolean {
  const name = nameOf(address).replace(/[._]/g, "-");
  return PROGRAM.test(name) || NO_REPLY.test(name) || LIST.test(name);
}

/**
 * The mailbox that most likely gets what is sent to an address. Many servers ignore capital letters, dots before the at sign, and what
 * follows a plus sign; without this, somebody could send one person many replies.
 */
export function mailboxOf(address: string): string {
  return nameOf(address).replaceAll(".", "") + address.slice(address.lastIndexOf("@")).toLowerCase();
}

function nameOf(address: string): string {
  const [name = ""] = address.slice(0, address.lastIndexOf("@")).toLowerCase().split("+", 1);
  return name;
}
