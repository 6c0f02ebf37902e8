import { FormsvcError } from "../foundation/errors.ts";
import { checkDefinition } from "./check-field.ts";
import { findJsonProblem } from "./check-json.ts";
import { copyJson } from "./copy-json.ts";
import { DefinitionProblems } from "./definition-problems.ts";
import type { FieldDefinition } from "./field-definition.ts";

/** The fields of one form, by name. For data from outside, only `parseDefinition` makes this type. */
export type SchemaDefinition = Readonly<Record<string, FieldDefinition>>;

/**
 * Checks a schema definition strictly and returns a copy of it.
 *
 * @throws FormsvcError `schema_invalid`; its message has one line for each problem in `details.problems`.
 */
export function parseDefinition(input: unknown): SchemaDefinition {
  const problems = new DefinitionProblems();
  const shape = findJsonProblem(input);
  if (shape !== undefined) problems.add("", shape);
  else checkDefinition(input, problems);
  if (problems.count === 0) return copyJson(input) as SchemaDefinition;
  const lines = problems.list.map(({ path, message }) =>
    path === "" ? `the schema ${message}` : `schema: ${path} ${message}`,
  );
  const others = problems.count - lines.length;
  if (others > 0) lines.push(`and ${others} more`);
  throw new FormsvcError("schema_invalid", lines.join("\n"), { details: { problems: problems.list } });
}
