import type { TokenActor } from "../operations/actor.ts";

/** A text that names who a token belongs to: an account, or the endpoint or workspace of a service token. */
export function ownerOf(actor: TokenActor | null): string {
  return actor?.account?.accountId ?? actor?.reach?.endpointId ?? actor?.reach?.workspaceId ?? "";
}
