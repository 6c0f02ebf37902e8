import type { TokenActor } from "../operations/actor.ts";

/** Whose a token is: an account, or what a service token belongs to. */
export function ownerOf(actor: TokenActor | null): string {
  return actor?.account?.accountId ?? actor?.reach?.endpointId ?? actor?.reach?.workspaceId ?? "";
}
