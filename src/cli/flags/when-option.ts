import { type Condition, parseConditions } from "../../outbox/queue/conditions.ts";

/** The option for the submissions about which a recipient or webhook gets a message. */
export const whenOption = {
  flags: "--when <condition>",
  summary:
    "send only submissions that meet this condition: FIELD=VALUE, also !=, >, <, ~ (contains), FIELD (filled), '!FIELD' (empty); repeatable; '' clears all conditions",
  repeatable: true,
} as const;

/** @throws usage */
export function readWhen(texts: readonly string[] | null): { conditions?: Condition[] } {
  return texts === null ? {} : { conditions: parseConditions(texts) };
}
