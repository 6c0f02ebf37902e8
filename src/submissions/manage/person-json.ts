import { toIsoTime } from "../../foundation/clock.ts";
import type { Conceal } from "../stored/conceal-reasons.ts";
import type { PersonRecords } from "../find/find-person.ts";
import { setAsideJson, submissionJson } from "../stored/submission-json.ts";

/** The form of a person's records in every JSON output. */
export function personJson({ submissions, held, hasMore }: PersonRecords, conceal: Conceal) {
  return {
    has_more: hasMore,
    submissions: submissions.map((each) => submissionJson(conceal(each))),
    held: held.map(({ id, data, setAside, createdAt }) => ({
      id,
      data,
      ...setAsideJson(setAside),
      created_at: toIsoTime(createdAt),
    })),
  };
}
