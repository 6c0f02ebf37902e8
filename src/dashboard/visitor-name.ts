import { hash } from "node:crypto";
import { BoundedMap } from "../foundation/bounded-map.ts";
import { addressUnit } from "../foundation/ip-address.ts";

/** Sessions whose accounts are remembered; beyond this the one that was first seen is forgotten. */
const MAX_REMEMBERED = 10_000;

/**
 * Tells by whom a request is counted before the database is asked: the account of a cookie that was good when it was last looked at, else
 * the address. It decides about slots alone, and never about what somebody may see.
 */
export interface VisitorNames {
  /** @param cookie of the session; null without one. @param address canonical */
  of(cookie: string | null, address: string): string;
  /** What looking the cookie up has shown. @param accountId null if nobody is signed in with it. */
  learn(cookie: string, accountId: string | null): void;
}

export function createVisitorNames(): VisitorNames {
  /** By the digest of the cookie. */
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
