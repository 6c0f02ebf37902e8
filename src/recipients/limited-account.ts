import type { Actor } from "../operations/actor.ts";
import type { LimitedAccount } from "../outbox/queue/account-limits.ts";

/**
 * The account whose hourly limit an action counts against; null for a person on the machine. All service tokens of a workspace count as one
 * account.
 */
export function limitedAccountOf(actor: Actor): LimitedAccount | null {
  if (actor.kind === "account") return actor;
  if (actor.kind !== "token") return null;
  if (actor.account !== null) return actor.account;
  return { accountId: actor.reach?.workspaceId ?? actor.tokenId, isOperator: false };
}

/** The account for everybody who works on the machine; it counts as an operator. */
const AT_MACHINE: LimitedAccount = { accountId: "terminal", isOperator: true };

/** The account whose hourly limit a question to the holder of an address counts against. */
export function askerOf(actor: Actor): LimitedAccount {
  return limitedAccountOf(actor) ?? AT_MACHINE;
}
