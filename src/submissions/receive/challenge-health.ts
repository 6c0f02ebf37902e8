import { query } from "../../database/database.ts";
import { all, type Steps } from "../../database/steps.ts";
import { type Finding, problem, sound } from "../../foundation/finding.ts";
import { isVendor, readChallengeColumn, vendorFault } from "../../endpoints/challenge.ts";

/** The largest number of findings. */
const MAX_SHOWN = 20;

/** Finds the forms whose challenge is not checked because its service gives no verdicts. */
export function* checkChallenges(): Steps<Finding[]> {
  const rows = yield* all(
    query
      .selectFrom("endpoint")
      .select(["id", "name", "challenge", "challenge_secret", "challenge_fault"])
      .where("challenge", "is not", null)
      .orderBy("id"),
  );
  const asking = rows.filter(({ challenge }) => isVendor(readChallengeColumn(challenge).kind));
  const findings = asking.flatMap(({ id, name, ...row }) => {
    const why = vendorFault(row);
    if (why === null) return [];
    const hint = { kind: "set_challenge", endpointId: id } as const;
    return [
      problem(
        "endpoints.challenge",
        `${name} (${id}): posts are taken without a verdict on their challenge: ${why}`,
        hint,
      ),
    ];
  });
  if (findings.length === 0) return [sound("endpoints.challenge", "every challenge of a form is checked")];
  return findings.slice(0, MAX_SHOWN);
}
