import { query } from "../database/database.ts";
import { all, type Steps } from "../database/steps.ts";
import { toIsoTime } from "../foundation/clock.ts";
import { type Finding, problem, sound } from "../foundation/finding.ts";

/** The largest number of keys that are named; a shop with many pages may have leaked more. */
const MAX_NAMED = 5;

/** Finds secret keys that a browser sent and that still work. */
export function* checkLeakedKeys(now: number): Steps<Finding> {
  const leaked = yield* all(
    query
      .selectFrom("api_key")
      .select(["id", "seen_in_browser_at"])
      .where("seen_in_browser_at", "is not", null)
      .where("is_revoked", "=", 0)
      .where((row) => row.or([row("revoked_at", "is", null), row("revoked_at", ">", now)]))
      .orderBy("seen_in_browser_at", "desc")
      .orderBy("id")
      .limit(MAX_NAMED),
  );
  if (leaked.length === 0) return sound("keys.leaked", "no secret key was seen in a browser");
  const named = leaked.map(({ id, seen_in_browser_at: at }) => `${toIsoTime(at ?? 0)} (${id})`);
  return problem("keys.leaked", `a browser sent a secret key, last at ${named.join(", ")}`, {
    kind: "rotate_leaked_key",
  });
}
