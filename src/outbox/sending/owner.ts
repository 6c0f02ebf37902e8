import { hash } from "node:crypto";

/**
 * The server that sends to a recipient: the one whose id gives the highest hash together with the recipient's. Every server finds the
 * same one without asking; when a server comes or goes, only what is or was its own moves.
 *
 * @param servers the ids of all that live. @returns null if there is none.
 */
export function ownerOf(recipientId: string, servers: readonly string[]): string | null {
  const [only = null, ...others] = servers;
  if (others.length === 0) return only;
  let owner: string | null = null;
  let highest = "";
  for (const server of servers) {
    const weight = hash("sha1", `${server} ${recipientId}`);
    // Equal hashes do not occur; if they did, the order of the ids would decide everywhere alike.
    if (weight > highest) [owner, highest] = [server, weight];
  }
  return owner;
}
