import { query } from "../database/database.ts";
import { all, run, type Steps } from "../database/steps.ts";
import type { Finding } from "../foundation/finding.ts";

/** Problems by what they are about. */
export type Problems = ReadonlyMap<string, Finding>;

/** What this address was told of and is not known to have ended. */
export function* readTold(address: string): Steps<Problems> {
  const rows = query.selectFrom("told_problem").select(["topic", "finding"]).where("told_to", "=", address);
  const told = yield* all(rows.orderBy("topic"));
  return new Map(told.map(({ topic, finding }) => [topic, JSON.parse(finding) as Finding]));
}

export function* writeTold(address: string, problems: Problems): Steps<void> {
  yield* run(query.deleteFrom("told_problem"));
  for (const [topic, finding] of problems) {
    const row = { topic, told_to: address, finding: JSON.stringify(finding) };
    yield* run(query.insertInto("told_problem").values(row));
  }
}
