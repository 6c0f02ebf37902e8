import { compileField } from "./compile-field.ts";
import { show } from "./definition-problems.ts";
import type { FieldDefinition, StringField } from "./field-definition.ts";
import { IssueReport } from "./issue-report.ts";

/** A property, and what is wrong with it. */
type Contradiction = readonly [property: string, problem: string];

/**
 * Finds contradictions between the properties of a field. Each property must have been checked by itself. `path` is the name of the field
 * in the sentences.
 */
export function findContradictions(field: FieldDefinition, path: string): Contradiction[] {
  return [
    ...findCrossedBounds(field),
    ...findImpossibleOptions(field, path),
    ...findImpossibleDefault(field, path),
  ];
}

function findCrossedBounds(field: FieldDefinition): Contradiction[] {
  const values = field as unknown as Record<string, number | undefined>;
  return BOUNDS.flatMap(([lowest, highest]): Contradiction[] => {
    const low = values[lowest];
    const high = values[highest];
    if (low === undefined || high === undefined || low <= high) return [];
    return [[lowest, `must not be greater than ${highest}; ${low} is greater than ${high}`]];
  });
}

const BOUNDS = [
  ["minLength", "maxLength"],
  ["minimum", "maximum"],
  ["minItems", "maxItems"],
] as const;

function findImpossibleOptions(field: FieldDefinition, path: string): Contradiction[] {
  if (!("enum" in field)) return [];
  const { enum: options = [], ...rules } = field as StringField;
  return findRefused(rules, options, path).map((problem) => ["enum", problem]);
}

function findImpossibleDefault(field: FieldDefinition, path: string): Contradiction[] {
  if (field.default === undefined) return [];
  return findRefused(field, [field.default], path).map((problem) => ["default", problem]);
}

/** Finds those of the owner's values that the field's own rules refuse. Undeclared members inside a value are refused too. */
function findRefused(rules: FieldDefinition, values: readonly unknown[], path: string): string[] {
  const check = compileField(rules, "reject");
  return values.flatMap((value) => {
    const report = new IssueReport();
    report.enter(path);
    check(value, report);
    const message = report.first?.message;
    return message === undefined
      ? []
      : [`has ${show(value)}, which the field's own rules refuse: ${message}`];
  });
}
