import { FormsvcError } from "../foundation/errors.ts";
import { checkDefinition } from "./check-field.ts";
import { findJsonProblem } from "./check-json.ts";
import { copyJson } from "./copy-json.ts";
import { DefinitionProblems } from "./definition-problems.ts";
import type { FieldDefinition } from "./field-definition.ts";

/** The fields of one form by name. Only `parseDefinition` makes one from outside data. */
export type SchemaDefinition = Readonly<Record<string, FieldDefinition>>;

/**
 * Checks a schema definition strictly and returns a copy of it.
 *
 * @throws FormsvcError `schema_invalid`; its message tells the first problem, `details.problems` all of them.
 */
export function parseDefinition(input: unknown): SchemaDefinition {
  const problems = new DefinitionProblems();
  const shape = findJsonProblem(input);
  if (shape !== undefined) problems.add("", shape);
  else checkDefinition(input, problems);
  const [first] = problems.list;
  if (first === undefined) return copyJson(input) as SchemaDefinition;
  const others = problems.count - 1;
  const more = others === 0 ? "" : ` (and ${others} more ${others === 1 ? "problem" : "problems"})`;
  const place = first.path === "" ? "The schema" : `Schema: ${first.path}`;
  throw new FormsvcError("schema_invalid", `${place} ${first.message}${more}`, {
    details: { problems: problems.list },
  });
}
