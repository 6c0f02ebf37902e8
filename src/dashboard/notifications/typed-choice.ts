import { readTypedConditions, type TypedCondition } from "./conditions-field.ts";

/** Which posts a webhook or a recipient gets, as it was typed into its form. */
export interface TypedChoice {
  readonly endpointId: string;
  readonly maxSpamScore: string;
  readonly conditions: readonly TypedCondition[];
}

export function readTypedChoice(form: URLSearchParams): TypedChoice {
  return {
    endpointId: form.get("endpoint") ?? "",
    maxSpamScore: (form.get("max_spam_score") ?? "").trim(),
    conditions: readTypedConditions(form),
  };
}
