import type { Steps } from "../database/steps.ts";
import { toIsoTime } from "../foundation/clock.ts";
import { type Finding, problem, sound } from "../foundation/finding.ts";
import { listEnding } from "./token-store.ts";

/** The largest number of tokens that one finding names. */
const MAX_NAMED = 5;

/** Finds tokens that expire within 14 days. */
export function* checkTokenExpiry(now: number): Steps<Finding> {
  const ending = yield* listEnding(now, MAX_NAMED);
  if (ending.length === 0) return sound("tokens.expiry", "no token of the API ends within 14 days");
  const named = ending.map(({ id, name, expiresAt }) => `${name} (${id}) at ${toIsoTime(expiresAt ?? 0)}`);
  return problem("tokens.expiry", `tokens of the API end soon: ${named.join(", ")}`, {
    kind: "replace_ending_tokens",
  });
}
