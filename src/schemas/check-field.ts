import { oneOf, RULES } from "./check-rule.ts";
import { compileField } from "./compile-field.ts";
import { isJsonObject } from "./copy-json.ts";
import { memberPath, show, type DefinitionProblems } from "./definition-problems.ts";
import {
  FIELD_TYPES,
  MAX_FIELD_DEPTH,
  MAX_FIELD_NAME_LENGTH,
  MAX_FIELDS,
  PROPERTIES,
  type FieldDefinition,
  type FieldType,
  type StringField,
} from "./field-definition.ts";
import { IssueReport } from "./issue-report.ts";
import { nearestName } from "./nearest-name.ts";
import { compilePattern, explainSlowness, MAX_PATTERN_SIZE_IN_SCHEMA } from "../foundation/pattern.ts";

/** What is counted over a whole definition while it is checked. */
interface Checking {
  readonly problems: DefinitionProblems;
  fieldCount: number;
  patternSize: number;
}

/** Reports everything that is wrong with a definition. The input is JSON of bounded depth. */
export function checkDefinition(input: unknown, problems: DefinitionProblems): void {
  if (isJsonObject(input)) checkFields(input, "", 0, { problems, fieldCount: 0, patternSize: 0 });
  else
    problems.add(
      "",
      `must be an object of field definitions by name, such as ${EXAMPLE}, not ${show(input)}`,
    );
}

const EXAMPLE = '{"email": {"type": "string", "required": true}}';

function checkFields(fields: Record<string, unknown>, path: string, depth: number, checking: Checking): void {
  for (const [name, field] of Object.entries(fields)) {
    const fieldPath = memberPath(path, name);
    if (name === "" || name === "__proto__") {
      checking.problems.add(fieldPath, "cannot be the name of a field; choose another");
    } else if (name.length > MAX_FIELD_NAME_LENGTH) {
      checking.problems.add(
        fieldPath,
        `has a name of more than ${MAX_FIELD_NAME_LENGTH} characters; shorten it`,
      );
    } else {
      checkField(field, name, fieldPath, depth, checking);
    }
  }
}

function checkField(field: unknown, name: string, path: string, depth: number, checking: Checking): void {
  const { problems } = checking;
  checking.fieldCount += 1;
  if (checking.fieldCount > MAX_FIELDS) {
    if (checking.fieldCount === MAX_FIELDS + 1)
      problems.add(path, `is one field too many; a schema has at most ${MAX_FIELDS}`);
    return;
  }
  if (!isJsonObject(field)) {
    problems.add(path, `must be a field definition such as {"type": "string"}, not ${show(field)}`);
    return;
  }
  const countBefore = problems.count;
  const type = readType(field, path, problems);
  checkPropertyNames(field, type, path, problems);
  if (type === undefined) return;
  for (const property of PROPERTIES[type]) {
    if (Object.hasOwn(field, property))
      checkProperty(field[property], property, type, memberPath(path, property), depth, checking);
  }
  if (problems.count === countBefore)
    checkTogether(field as unknown as FieldDefinition, name, path, problems);
}

function readType(
  field: Record<string, unknown>,
  path: string,
  problems: DefinitionProblems,
): FieldType | undefined {
  if (!Object.hasOwn(field, "type")) {
    problems.add(path, `has no type; give it one of ${FIELD_TYPES.join(", ")}`);
    return undefined;
  }
  const type = FIELD_TYPES.find((known) => known === field["type"]);
  if (type === undefined)
    problems.add(memberPath(path, "type"), `must be ${oneOf(FIELD_TYPES, field["type"])}`);
  return type;
}

function checkPropertyNames(
  field: Record<string, unknown>,
  type: FieldType | undefined,
  path: string,
  problems: DefinitionProblems,
): void {
  const known: readonly string[] = type === undefined ? ALL_PROPERTIES : PROPERTIES[type];
  for (const name of Object.keys(field)) {
    if (known.includes(name)) continue;
    const nearest = nearestName(name, known);
    const what =
      type === undefined ? "is not a property of any field" : `is not a property of a field of type ${type}`;
    const hint =
      nearest === undefined ? `the properties are ${known.join(", ")}` : `did you mean "${nearest}"?`;
    problems.add(memberPath(path, name), `${what}; ${hint}`);
  }
}

const ALL_PROPERTIES: readonly string[] = [...new Set(Object.values(PROPERTIES).flat())];

function checkProperty(
  value: unknown,
  property: string,
  type: FieldType,
  path: string,
  depth: number,
  checking: Checking,
): void {
  if (property === "pattern") checkPattern(value, path, checking);
  else if (property === "items")
    checkNested(value, path, depth, checking, (item) => checkField(item, "item", path, depth + 1, checking));
  else if (property === "properties")
    checkNested(value, path, depth, checking, (fields) => checkFields(fields, path, depth + 1, checking));
  else {
    const problem = RULES[property]?.(value, type);
    if (problem !== undefined) checking.problems.add(path, problem);
  }
}

function checkNested(
  value: unknown,
  path: string,
  depth: number,
  { problems }: Checking,
  descend: (value: Record<string, unknown>) => void,
): void {
  if (!isJsonObject(value)) problems.add(path, `must be an object, not ${show(value)}`);
  else if (depth >= MAX_FIELD_DEPTH)
    problems.add(path, `nests deeper than ${MAX_FIELD_DEPTH} levels; leave it out to accept anything here`);
  else descend(value);
}

function checkPattern(value: unknown, path: string, checking: Checking): void {
  if (typeof value !== "string") {
    checking.problems.add(path, `must be text, not ${show(value)}`);
    return;
  }
  // What is already too much is not compiled: compiling is the costly part.
  if (checking.patternSize > MAX_PATTERN_SIZE_IN_SCHEMA) return;
  const pattern = compilePattern(value);
  if (typeof pattern === "string") {
    checking.problems.add(path, pattern);
    return;
  }
  checking.patternSize += pattern.size;
  if (checking.patternSize > MAX_PATTERN_SIZE_IN_SCHEMA) {
    checking.problems.add(
      path,
      `brings the patterns of this schema to more than ${MAX_PATTERN_SIZE_IN_SCHEMA} steps; simplify some`,
    );
  }
}

/** What properties that are right by themselves must be to each other. */
function checkTogether(
  field: FieldDefinition,
  name: string,
  path: string,
  problems: DefinitionProblems,
): void {
  checkBounds(field, path, problems);
  if (field.type === "string") checkPatternSpeed(field, path, problems);
  const values = "enum" in field ? (field.enum ?? []) : [];
  if (values.length > 0) {
    const { enum: _values, ...rules } = field as StringField;
    for (const value of values) checkAgainst(rules, value, name, memberPath(path, "enum"), problems);
  }
  if (field.default !== undefined)
    checkAgainst(field, field.default, name, memberPath(path, "default"), problems);
}

function checkBounds(field: FieldDefinition, path: string, problems: DefinitionProblems): void {
  const values = field as unknown as Record<string, number | undefined>;
  for (const [lowest, highest] of BOUNDS) {
    const low = values[lowest];
    const high = values[highest];
    if (low !== undefined && high !== undefined && low > high) {
      problems.add(
        memberPath(path, lowest),
        `must not be greater than ${highest} (${low} is greater than ${high})`,
      );
    }
  }
}

const BOUNDS = [
  ["minLength", "maxLength"],
  ["minimum", "maximum"],
  ["minItems", "maxItems"],
] as const;

function checkPatternSpeed(field: StringField, path: string, problems: DefinitionProblems): void {
  const pattern = field.pattern === undefined ? "" : compilePattern(field.pattern);
  const slowness = typeof pattern === "string" ? undefined : explainSlowness(pattern, field.maxLength);
  if (slowness !== undefined) problems.add(memberPath(path, "pattern"), slowness);
}

/** A default and an enum's values must satisfy the field's own rules, strictly: nothing undeclared inside. */
function checkAgainst(
  field: FieldDefinition,
  value: unknown,
  name: string,
  path: string,
  problems: DefinitionProblems,
): void {
  const report = new IssueReport();
  report.enter(name);
  compileField(field, "reject")(value, report);
  if (report.first !== undefined) {
    problems.add(path, `has ${show(value)}, which breaks the field's own rules: ${report.first.message}`);
  }
}
