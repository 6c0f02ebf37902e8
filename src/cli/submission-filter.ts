import { MAX_SEARCHED_LENGTH, searchProblem } from "../submissions/find/match-text.ts";
import { parseTimeText } from "./arguments.ts";
import { refuse } from "./command.ts";
import type { OptionValues } from "./option-values.ts";

export const filterOptions = [
  { flags: "--endpoint <endpoint>", summary: "only this endpoint's" },
  { flags: "--class <class>", summary: "only this spam class", choices: ["low", "medium", "high"] },
  {
    flags: "--since <time>",
    summary: "from then on: 2026-01-31, 2026-01-31T12:00:00Z, or 24h ago",
    parse: parseTimeText,
  },
  { flags: "--until <time>", summary: "before then", parse: parseTimeText },
] as const;

export const searchOption = {
  flags: "--search <text>",
  summary: 'only with each of these words in its fields, in any case; "double quotes" keep words together',
  parse: parseSearch,
} as const;

export const workOptions = [
  { flags: "--state <state>", summary: "only those in this state", choices: ["open", "done"] },
  {
    flags: "--assignee <email>",
    summary: "only those of this account; me: whose token asks, at a distance; none: nobody's",
  },
] as const;

function parseSearch(wanted: string): string {
  if (wanted === "") return refuse(`expected 1 to ${MAX_SEARCHED_LENGTH} characters`);
  const problem = searchProblem(wanted);
  return problem === null ? wanted : refuse(problem);
}

/** The input of the operations for these options. */
export function filterInput({
  endpoint,
  class: spamClass,
  since,
  until,
}: OptionValues<typeof filterOptions>) {
  return { endpoint, class: spamClass, since, until };
}
