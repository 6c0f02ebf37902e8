import type { Steps } from "../database/steps.ts";
import { getEndpoint } from "../endpoints/endpoint-store.ts";
import { MAX_SEARCHED_LENGTH, searchProblem } from "../submissions/match-text.ts";
import { EVERY_SUBMISSION, type SubmissionFilter } from "../submissions/submission-store.ts";
import { parseTime } from "./arguments.ts";
import { refuse } from "./command.ts";
import type { OptionValues } from "./option-values.ts";

export const filterOptions = [
  { flags: "--endpoint <endpoint>", summary: "only this endpoint's" },
  { flags: "--class <class>", summary: "only this spam class", choices: ["low", "medium", "high"] },
  {
    flags: "--since <time>",
    summary: "from then on: 2026-01-31, 2026-01-31T12:00:00Z, or 24h ago",
    parse: parseTime,
  },
  { flags: "--until <time>", summary: "before then", parse: parseTime },
] as const;

export const searchOption = {
  flags: "--search <text>",
  summary: 'only with each of these words in its fields, in any case; "double quotes" keep words together',
  parse: parseSearch,
} as const;

function parseSearch(wanted: string): string {
  if (wanted === "") return refuse(`expected 1 to ${MAX_SEARCHED_LENGTH} characters`);
  const problem = searchProblem(wanted);
  return problem === null ? wanted : refuse(problem);
}

/** @throws not_found, ambiguous */
export function* readFilter(options: OptionValues<typeof filterOptions>): Steps<SubmissionFilter> {
  const { class: spamClass, since, until } = options;
  return {
    ...EVERY_SUBMISSION,
    endpointIds: yield* endpointIdsOf(options.endpoint),
    spamClass,
    since,
    until,
  };
}

/** A list of the one that is named. @param reference null is every endpoint. @throws not_found, ambiguous */
export function* endpointIdsOf(reference: string | null): Steps<readonly string[] | null> {
  const endpointId = yield* endpointIdOf(reference);
  return endpointId === null ? null : [endpointId];
}

/** @param reference null is every endpoint. @throws not_found, ambiguous */
export function* endpointIdOf(reference: string | null): Steps<string | null> {
  return reference === null ? null : (yield* getEndpoint(reference)).id;
}
