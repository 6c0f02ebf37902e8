import type { Steps } from "../database/steps.ts";
import { getEndpoint } from "../endpoints/endpoint-store.ts";
import type { StoredSpamClass, SubmissionFilter } from "../submissions/submission-store.ts";
import { parseTime } from "./arguments.ts";
import { type Options, text } from "./command.ts";

export const filterOptions = [
  { flags: "--endpoint <endpoint>", summary: "only this endpoint's" },
  { flags: "--class <class>", summary: "only this spam class", choices: ["low", "medium", "high"] },
  {
    flags: "--since <time>",
    summary: "from then on: 2026-01-31, 2026-01-31T12:00:00Z, or 24h ago",
    parse: parseTime,
  },
];
export const untilOption = { flags: "--until <time>", summary: "before then", parse: parseTime };

/** @throws not_found, ambiguous */
export function* readFilter(options: Options): Steps<SubmissionFilter> {
  const reference = text(options, "endpoint");
  return {
    endpointId: reference === null ? null : (yield* getEndpoint(reference)).id,
    spamClass: text(options, "class") as StoredSpamClass | null,
    since: typeof options["since"] === "number" ? options["since"] : null,
    until: typeof options["until"] === "number" ? options["until"] : null,
  };
}
