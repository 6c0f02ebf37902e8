import { findContradictions } from "./check-contradictions.ts";
import { oneOf, RULES } from "./check-rule.ts";
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
} from "./field-definition.ts";
import { nearestName } from "../foundation/nearest-name.ts";
import {
  checkPattern,
  findSlowest,
  leastCost,
  longestSearchedText,
  MAX_PATTERN_COST_IN_SCHEMA,
  MAX_UNBOUNDED_PATTERN_SIZE,
  type PatternUse,
} from "../foundation/pattern.ts";

/** The state while one whole definition is checked. */
interface Checking {
  readonly problems: DefinitionProblems;
  readonly patterns: PatternUse[];
  patternCost: number;
  fieldCount: number;
}

/** The position of a field in the definition. */
interface ValuePath {
  readonly path: string;
  /** The number of levels of `properties` and `items` above the field. */
  readonly depth: number;
  /** Whether a submission can contain the field many times, because it is an item of an array or inside one. */
  readonly isRepeated: boolean;
}

/** Reports everything that is wrong with a definition. The input is JSON of bounded depth. */
export function checkDefinition(input: unknown, problems: DefinitionProblems): void {
  if (!isJsonObject(input)) {
    problems.add(
      "",
      `must be an object of field definitions by name, such as ${EXAMPLE}, not ${show(input)}`,
    );
    return;
  }
  if (typeof input["type"] === "string" && isJsonObject(input["properties"])) {
    problems.add(
      "",
      "looks like JSON Schema; give only what is inside its properties, each with its own rules",
    );
    return;
  }
  const checking: Checking = { problems, patterns: [], patternCost: 0, fieldCount: 0 };
  checkFields(input, { path: "", depth: 0, isRepeated: false }, checking);
  const slowest = findSlowest(checking.patterns);
  if (slowest !== undefined) problems.add(slowest.path, explainSlowness(slowest));
}

function explainSlowness({ pattern }: PatternUse): string {
  const anchoring = pattern.isAnchored ? "" : "anchor it with ^ and $, ";
  return (
    `is too large (${pattern.size} steps) to be searched for in long texts, alone or with the schema's other patterns; ` +
    `${anchoring}lower its repetition counts to come to ${MAX_UNBOUNDED_PATTERN_SIZE} steps, ` +
    `or, outside arrays, give the field a maxLength of ${longestSearchedText(pattern)} or less`
  );
}

const EXAMPLE = '{"email": {"type": "string", "required": true}}';

function checkFields(fields: Record<string, unknown>, position: ValuePath, checking: Checking): void {
  for (const [name, field] of Object.entries(fields)) {
    const path = memberPath(position.path, name);
    if (name === "" || name === "__proto__") {
      checking.problems.add(path, "cannot be the name of a field; choose another");
    } else if (name.length > MAX_FIELD_NAME_LENGTH) {
      checking.problems.add(path, `has a name of more than ${MAX_FIELD_NAME_LENGTH} characters; shorten it`);
    } else {
      checkField(field, { ...position, path }, checking);
    }
  }
}

function checkField(field: unknown, position: ValuePath, checking: Checking): void {
  const { problems } = checking;
  const { path } = position;
  checking.fieldCount += 1;
  if (checking.fieldCount > MAX_FIELDS) {
    const isFirst = checking.fieldCount === MAX_FIELDS + 1;
    if (isFirst)
      problems.add(path, `is one field too many; a schema has at most ${MAX_FIELDS}, nested ones counted`);
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
  if (type === "file" && position.depth > 0)
    problems.add(path, "is a file, which only the top level of a schema can have; move it there");
  for (const property of PROPERTIES[type]) {
    if (Object.hasOwn(field, property)) checkProperty(property, { field, type }, position, checking);
  }
  if (problems.count > countBefore || checking.patternCost > MAX_PATTERN_COST_IN_SCHEMA) return;
  for (const [property, problem] of findContradictions(field as unknown as FieldDefinition, path)) {
    problems.add(memberPath(path, property), problem);
  }
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
  if (type === undefined) {
    problems.add(memberPath(path, "type"), `must be ${oneOf(FIELD_TYPES, field["type"])}`);
  }
  return type;
}

function checkPropertyNames(
  field: Record<string, unknown>,
  type: FieldType | undefined,
  path: string,
  problems: DefinitionProblems,
): void {
  const known: readonly string[] = type === undefined ? ALL_PROPERTIES : PROPERTIES[type];
  const owner = type === undefined ? "any field" : `a field of type ${type}`;
  for (const name of Object.keys(field)) {
    if (known.includes(name)) continue;
    problems.add(memberPath(path, name), `is not a property of ${owner}; ${hintAt(name, known)}`);
  }
}

/** Suggests the property that was probably meant, or else lists all properties. */
function hintAt(name: string, known: readonly string[]): string {
  const nearest = nearestName(name, known);
  if (nearest !== undefined) return `did you mean "${nearest}"?`;
  const elsewhere = nearestName(name, ALL_PROPERTIES);
  const owners = FIELD_TYPES.filter((type) => PROPERTIES[type].some((property) => property === elsewhere));
  const meant =
    elsewhere === undefined ? "" : `"${elsewhere}" is for fields of type ${owners.join(" and ")}; `;
  return `${meant}the properties are ${known.join(", ")}`;
}

const ALL_PROPERTIES: readonly string[] = [...new Set(Object.values(PROPERTIES).flat())];

function checkProperty(
  property: string,
  { field, type }: { readonly field: Record<string, unknown>; readonly type: FieldType },
  position: ValuePath,
  checking: Checking,
): void {
  const value = field[property];
  const path = memberPath(position.path, property);
  if (property === "items" || property === "properties") {
    const isRepeated = position.isRepeated || property === "items";
    checkNested(property, value, { path, depth: position.depth + 1, isRepeated }, checking);
  } else if (property === "pattern") {
    const maxLength = typeof field["maxLength"] === "number" ? field["maxLength"] : Infinity;
    checkPatternRule(value, { ...position, path }, maxLength, checking);
  } else {
    const problem = RULES[property]?.(value, type);
    if (problem !== undefined) checking.problems.add(path, problem);
  }
}

function checkNested(
  property: "items" | "properties",
  value: unknown,
  position: ValuePath,
  checking: Checking,
): void {
  if (position.depth > MAX_FIELD_DEPTH) {
    const advice = "leave it out to accept anything here";
    checking.problems.add(position.path, `is nested deeper than ${MAX_FIELD_DEPTH} levels; ${advice}`);
  } else if (property === "items") {
    checkField(value, position, checking);
  } else if (isJsonObject(value)) {
    checkFields(value, position, checking);
  } else {
    checking.problems.add(
      position.path,
      `must be an object of field definitions by name, not ${show(value)}`,
    );
  }
}

function checkPatternRule(
  source: unknown,
  { path, isRepeated }: ValuePath,
  maxLength: number,
  checking: Checking,
): void {
  const { problems } = checking;
  if (typeof source !== "string") {
    problems.add(path, `must be text, not ${show(source)}`);
    return;
  }
  // Patterns beyond the limit are not compiled: compiling is the costly part.
  if (checking.patternCost > MAX_PATTERN_COST_IN_SCHEMA) return;
  const least = leastCost(source);
  const isTooMuch = checking.patternCost + least > MAX_PATTERN_COST_IN_SCHEMA;
  const pattern = isTooMuch ? null : checkPattern(source);
  if (typeof pattern === "string") {
    problems.add(path, pattern);
    return;
  }
  checking.patternCost += pattern?.cost ?? least;
  if (checking.patternCost > MAX_PATTERN_COST_IN_SCHEMA) problems.add(path, TOO_LARGE_TOGETHER);
  if (pattern === null) return;
  const textLength = isRepeated ? Infinity : Math.min(maxLength, pattern.reach);
  checking.patterns.push({ path, pattern, textLength });
}

const TOO_LARGE_TOGETHER =
  `makes the schema's patterns larger than ${MAX_PATTERN_COST_IN_SCHEMA} steps together; ` +
  "lower repetition counts, use fewer classes like \\pL, or bound lengths with maxLength";
