import { query } from "../database/database.ts";
import { all, run, type Steps } from "../database/steps.ts";
import type { Finding } from "../foundation/finding.ts";
import { type LetterContent, queueLetter } from "../mail/letters/letter-store.ts";

/** Problems by topic. */
export type ReportedProblems = ReadonlyMap<string, Finding>;

/** The problems that were reported to this address and are not known to have ended. */
export function* readReported(address: string): Steps<ReportedProblems> {
  const rows = query.selectFrom("told_problem").select(["topic", "finding"]).where("told_to", "=", address);
  const reported = yield* all(rows.orderBy("topic"));
  return new Map(reported.map(({ topic, finding }) => [topic, JSON.parse(finding) as Finding]));
}

/** Writes the letter and what it reports, both or neither. Returns false if an earlier letter still waits for the mail server. */
export function* reportToOperator(
  address: string,
  content: LetterContent,
  problems: ReportedProblems,
  now: number,
): Steps<boolean> {
  const letter = { kind: "operator", topic: "doctor", address, recipientId: null, content } as const;
  if ((yield* queueLetter(letter, now)) === null) return false;
  yield* writeReported(address, problems);
  return true;
}

function* writeReported(address: string, problems: ReportedProblems): Steps<void> {
  yield* run(query.deleteFrom("told_problem"));
  for (const [topic, finding] of problems) {
    const row = { topic, told_to: address, finding: JSON.stringify(finding) };
    yield* run(query.insertInto("told_problem").values(row));
  }
}
