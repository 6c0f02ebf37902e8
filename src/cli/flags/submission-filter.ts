import { MAX_SEARCHED_LENGTH, searchProblem } from "../../submissions/find/match-text.ts";
import { parseTimeText } from "./arguments.ts";
import { refuse } from "../command.ts";
import type { OptionValues } from "./option-values.ts";

export const filterOptions = [
  { flags: "--endpoint <endpoint>", summary: "only submissions of this endpoint" },
  {
    flags: "--class <class>",
    summary: "only submissions of this spam class",
    choices: ["low", "medium", "high"],
  },
  {
    flags: "--since <time>",
    summary:
      "only submissions since this time: 2026-01-31, 2026-01-31T12:00:00Z, or 24h for the last 24 hours",
    parse: parseTimeText,
  },
  { flags: "--until <time>", summary: "only submissions before this time", parse: parseTimeText },
] as const;

export const searchOption = {
  flags: "--search <text>",
  summary:
    'only submissions with each of these words in their fields, in any letter case; "double quotes" keep words together',
  parse: parseSearch,
} as const;

export const workOptions = [
  { flags: "--state <state>", summary: "only submissions in this state", choices: ["open", "done"] },
  {
    flags: "--assignee <email>",
    summary:
      "only submissions assigned to this account; none: to nobody; me: to the owner of the token, if a server is asked",
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
