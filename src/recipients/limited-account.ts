import type { Actor } from "../operations/actor.ts";
import type { LimitedAccount } from "../outbox/queue/account-limits.ts";

/** Whose hour an action counts towards; null for who works on the machine. All tokens of a workspace count as one account. */
export function limitedAccountOf(actor: Actor): LimitedAccount | null {
  if (actor.kind === "account") return actor;
  if (actor.kind !== "token") return null;
  if (actor.account !== null) return actor.account;
  return { accountId: actor.reach?.workspaceId ?? actor.tokenId, isOperator: false };
}

/** Who works on the machine counts as one operator. */
const AT_MACHINE: LimitedAccount = { accountId: "terminal", isOperator: true };

/** Whose hour a question to somebody else counts towards. */
export function askerOf(actor: Actor): LimitedAccount {
  return limitedAccountOf(actor) ?? AT_MACHINE;
}
