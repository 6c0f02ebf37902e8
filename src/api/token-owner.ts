import type { TokenActor } from "../operations/actor.ts";

/** A text that names whose requests count together: those with any token of an account, or with any service token of a workspace. */
export function countedAs({ account, reach }: TokenActor): string {
  return account?.accountId ?? reach?.workspaceId ?? "";
}
