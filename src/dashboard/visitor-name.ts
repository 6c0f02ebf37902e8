import { hash } from "node:crypto";
import { BoundedMap } from "../foundation/bounded-map.ts";
import { addressUnit } from "../foundation/ip-address.ts";

/** The largest number of sessions whose accounts are remembered. A further one drops the session that was first seen. */
const MAX_REMEMBERED = 10_000;

/**
 * Names the visitor that a request is counted for, before the database is read: the account of a cookie that was valid when it was last
 * checked, else the address. It decides only about slots, and never about what somebody may see.
 */
export interface VisitorNames {
  /** @param cookie the session's cookie; null without one @param address the canonical address */
  of(cookie: string | null, address: string): string;
  /** Notes the result of checking a cookie. @param accountId null if nobody is signed in with it */
  learn(cookie: string, accountId: string | null): void;
}

export function createVisitorNames(): VisitorNames {
  /** Accounts by the digest of the cookie. */
  const accounts = new BoundedMap<string, string>(MAX_REMEMBERED);
  return {
    of(cookie, address) {
      const accountId = cookie === null ? undefined : accounts.get(digestOf(cookie));
      return accountId === undefined ? `address ${addressUnit(address)}` : `account ${accountId}`;
    },
    learn(cookie, accountId) {
      if (accountId === null) accounts.delete(digestOf(cookie));
      else accounts.set(digestOf(cookie), accountId);
    },
  };
}

function digestOf(cookie: string): string {
  return hash("sha256", cookie, "base64");
}
