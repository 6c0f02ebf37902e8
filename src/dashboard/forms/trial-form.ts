import type { SchemaDefinition } from "../../schemas/definition.ts";
import type { FieldDefinition } from "../../schemas/field-definition.ts";
import { coerceForm, type FormEntry } from "../../submissions/receive/coerce-form.ts";
import { labelAt } from "../../schemas/field-label.ts";
import { isLongText } from "../../schemas/form-inputs.ts";
import { exampleOf } from "../../schemas/form-snippets.ts";
import { readLines, tryJson } from "../kit/typed-text.ts";

/** The input for one field of a post on trial. */
export interface TrialInput {
  /** The name of the field. */
  readonly name: string;
  /** The label of the field, or else its name. */
  readonly label: string;
  readonly kind: "file" | "line" | "text" | "lines" | "json" | "choice" | "yes-or-no";
  readonly options: readonly string[];
  readonly value: string;
}

/** Stands before the names of inputs, so that no field can be taken for an input of the page itself. */
export const TRIAL_PREFIX = "p.";

/** The inputs for a schema's fields, with an example in each. */
export function trialInputs(definition: SchemaDefinition): TrialInput[] {
  const example = exampleOf(definition);
  return Object.entries(definition).map(([name, field]) => {
    const { kind, value, options = [] } = inputFor(name, field, example[name]);
    return { name, label: labelAt(definition, [name]), kind, options, value };
  });
}

function inputFor(
  name: string,
  field: FieldDefinition,
  example: unknown,
): Pick<TrialInput, "kind" | "value"> & Partial<Pick<TrialInput, "options">> {
  const value = typeof example === "string" ? example : JSON.stringify(example);
  if (field.type === "boolean") return { kind: "yes-or-no", value };
  if (field.type === "array" && (field.items?.type === "string" || field.items?.type === "number"))
    return { kind: "lines", value: Array.isArray(example) ? example.map(String).join("\n") : "" };
  if (field.type === "file") return { kind: "file", value: "" };
  if (field.type === "array" || field.type === "object") return { kind: "json", value };
  if (field.enum !== undefined) return { kind: "choice", options: field.enum.map(String), value };
  return { kind: field.type === "string" && isLongText(name, field) ? "text" : "line", value };
}

/** The inputs with the values that were typed. */
export function typedInputs(inputs: readonly TrialInput[], form: URLSearchParams): TrialInput[] {
  return inputs.map((input) => ({ ...input, value: form.get(TRIAL_PREFIX + input.name) ?? "" }));
}

/** The post as a plain form would send it. Groups and lists of groups are typed as JSON; text that is not JSON stays a text. */
export function trialPost(
  inputs: readonly TrialInput[],
  definition: SchemaDefinition,
): Record<string, unknown> {
  const entries = inputs.flatMap(({ name, kind, value }): FormEntry[] => {
    if (kind === "json" || kind === "file") return [];
    return kind === "lines" ? readLines(value).map((line) => [name, line]) : [[name, value]];
  });
  const groups = inputs.filter(({ kind, value }) => kind === "json" && value.trim() !== "");
  const typed = groups.map(({ name, value }) => [name, tryJson(value) ?? value]);
  return { ...coerceForm(entries, definition), ...(Object.fromEntries(typed) as Record<string, unknown>) };
}
