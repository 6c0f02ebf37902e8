import { hash } from "node:crypto";

/**
 * The server that sends to a recipient: the one whose id, hashed together with the recipient's, gives the highest value. Every server finds
 * the same one without asking. When a server comes or goes, only recipients that are or were its own move.
 *
 * @param servers the ids of all live servers. @returns null if there are none.
 */
export function ownerOf(recipientId: string, servers: readonly string[]): string | null {
  const [only = null, ...others] = servers;
  if (others.length === 0) return only;
  let owner: string | null = null;
  let highest = "";
  for (const server of servers) {
    const weight = hash("sha1", `${server} ${recipientId}`);
    // Equal hashes are not expected; if there were any, the order of the ids would decide in the same way on every server.
    if (weight > highest) [owner, highest] = [server, weight];
  }
  return owner;
}
