import { FormsvcError } from "../foundation/errors.ts";
import { copyJson, isJsonObject } from "./copy-json.ts";
import {
  type ArrayField,
  type FieldDefinition,
  type FileField,
  MAX_FIELD_NAME_LENGTH,
  type NumberField,
  type ObjectField,
  type StringField,
} from "./field-definition.ts";
import { FORMAT_TESTS } from "./formats.ts";
import { IssueReport } from "./issue-report.ts";
import { type IssueFacts, receivedType, cutAfter } from "./issue.ts";
import { type FileFacts, PostedFile } from "./posted-file.ts";
import { compilePattern, longestRefusedText, type Pattern } from "../foundation/pattern.ts";

/** What happens to members that the schema does not declare, nested ones included. `set-aside` keeps them beside the data. */
export type UnknownFields = "set-aside" | "drop" | "keep" | "reject";

/**
 * Checks one value, and returns the value to store. Adds problems to the report; if there is one, the returned value has no meaning. A
 * missing field is `undefined`.
 */
type FieldCheck = (value: unknown, report: IssueReport) => unknown;

interface Member {
  readonly name: string;
  readonly check: FieldCheck;
  readonly isRequired: boolean;
  /** The checked default; undefined if there is none. */
  readonly fallback: unknown;
}

/** The fields of a form or of an object, ready to check. */
export interface Members {
  readonly list: readonly Member[];
  readonly names: ReadonlySet<string>;
}

export function compileMembers(
  fields: Readonly<Record<string, FieldDefinition>>,
  unknownFields: UnknownFields,
): Members {
  const list = Object.entries(fields).map(([name, field]) => compileMember(name, field, unknownFields));
  return { list, names: new Set(list.map((member) => member.name)) };
}

function compileMember(name: string, field: FieldDefinition, unknownFields: UnknownFields): Member {
  const check = compileField(field, unknownFields);
  const fallback = field.default === undefined ? undefined : check(field.default, new IssueReport());
  return { name, check, isRequired: field.required === true, fallback };
}

/** Checks the declared members of `source` in the order of the schema, and writes the values to store into `target`. */
export function readMembers(
  members: Members,
  source: Readonly<Record<string, unknown>>,
  target: Record<string, unknown>,
  report: IssueReport,
): void {
  for (const member of members.list) {
    const value = Object.hasOwn(source, member.name) ? source[member.name] : undefined;
    if (value !== undefined || (member.isRequired && member.fallback === undefined)) {
      report.enter(member.name);
      target[member.name] = member.check(value, report);
      report.leave();
    } else if (member.fallback !== undefined) {
      target[member.name] = copyJson(member.fallback);
    }
  }
}

/** The names in `source` that are not declared, without `__proto__`, which is never a field. */
export function unknownNames(members: Members, source: Readonly<Record<string, unknown>>): string[] {
  return Object.keys(source).filter((name) => !members.names.has(name) && name !== "__proto__");
}

/** Compiles the validator of one field. The definition must have been checked. */
export function compileField(field: FieldDefinition, unknownFields: UnknownFields): FieldCheck {
  switch (field.type) {
    case "string":
      return field.enum === undefined ? compileString(field) : compileStringEnum(field.enum);
    case "number":
      return field.enum === undefined ? compileNumber(field) : compileNumberEnum(field.enum);
    case "boolean":
      return field.enum === undefined ? checkBoolean : compileBooleanEnum(field.enum);
    case "object":
      return compileObject(field, unknownFields);
    case "file":
      return compileFile(field);
    case "array":
    default:
      return compileArray(field, unknownFields);
  }
}

function compileString(field: StringField): FieldCheck {
  const { minLength = 0, maxLength = Infinity, format } = field;
  const hasFormat = format === undefined ? undefined : FORMAT_TESTS[format];
  const pattern = field.pattern === undefined ? undefined : requirePattern(field.pattern);
  // The pattern may be skipped for a very long text, because it would take too long, but only if the text is refused anyway for its length.
  const longestMatched = pattern === undefined ? 0 : longestMatchedText(pattern, field.maxLength);
  return (value, report) => {
    if (typeof value !== "string") return wrongType("string", value, report);
    const { length } = value;
    if (length < minLength) {
      report.add({ code: "too_small", minimum: minLength, type: "string", inclusive: true, exact: false });
    }
    if (length > maxLength) {
      report.add({ code: "too_big", maximum: maxLength, type: "string", inclusive: true, exact: false });
    }
    if (format !== undefined && hasFormat?.(value) === false) {
      report.add({ code: "invalid_string", validation: format });
    }
    if (pattern !== undefined && length <= longestMatched && !pattern.matches(value)) {
      report.add({ code: "invalid_string", validation: "regex" });
    }
    return value;
  };
}

function longestMatchedText(pattern: Pattern, maxLength: number | undefined): number {
  return maxLength === undefined ? Infinity : Math.max(maxLength, longestRefusedText(pattern));
}

function requirePattern(source: string): Pattern {
  const pattern = compilePattern(source);
  if (typeof pattern === "string")
    throw new FormsvcError("schema_invalid", `the pattern ${source} ${pattern}`);
  return pattern;
}

function compileNumber({ minimum = -Infinity, maximum = Infinity }: NumberField): FieldCheck {
  return (value, report) => {
    if (typeof value !== "number" || Number.isNaN(value)) return wrongType("number", value, report);
    if (value < minimum)
      report.add({ code: "too_small", minimum, type: "number", inclusive: true, exact: false });
    if (value > maximum)
      report.add({ code: "too_big", maximum, type: "number", inclusive: true, exact: false });
    return value;
  };
}

const checkBoolean: FieldCheck = (value, report) =>
  typeof value === "boolean" ? value : wrongType("boolean", value, report);

function compileStringEnum(options: readonly string[]): FieldCheck {
  return compileEnum(
    options,
    options.map((option) => `'${option}'`).join(" | "),
    (value) => typeof value === "string",
  );
}

/** Like the native enum of Zod 3: a text is reported as a wrong value, not as a wrong type. */
function compileNumberEnum(options: readonly number[]): FieldCheck {
  return compileEnum(
    options,
    options.join(" | "),
    (value) => typeof value === "string" || (typeof value === "number" && !Number.isNaN(value)),
  );
}

function compileBooleanEnum(options: readonly boolean[]): FieldCheck {
  return compileEnum(options, options.join(" | "), (value) => typeof value === "boolean");
}

function compileEnum(
  options: readonly unknown[],
  expected: string,
  isComparable: (value: unknown) => boolean,
): FieldCheck {
  const known = new Set(options);
  return (value, report) => {
    if (known.has(value)) return value;
    if (!isComparable(value)) return wrongType(expected, value, report);
    report.add({ code: "invalid_enum_value", received: value, options });
    return value;
  };
}

function compileObject({ properties }: ObjectField, unknownFields: UnknownFields): FieldCheck {
  if (properties === undefined) {
    return (value, report) => (isJsonObject(value) ? copyJson(value) : wrongType("object", value, report));
  }
  const members = compileMembers(properties, unknownFields);
  return (value, report) => {
    if (!isJsonObject(value)) return wrongType("object", value, report);
    const target: Record<string, unknown> = {};
    readMembers(members, value, target, report);
    if (unknownFields === "drop" || unknownFields === "set-aside") return target;
    const unknown = unknownNames(members, value);
    if (unknownFields === "keep") {
      for (const name of unknown) target[name] = copyJson(value[name]);
    } else if (unknown.length > 0) {
      report.add({ code: "unrecognized_keys", keys: unknown.slice(0, MAX_UNKNOWN_NAMED).map(shortName) });
    }
    return target;
  };
}

/** The largest number of undeclared members that one answer names. */
export const MAX_UNKNOWN_NAMED = 100;

/** Shortens a name that is longer than the name of a field may be. */
export function shortName(name: string): string {
  return cutAfter(name, MAX_FIELD_NAME_LENGTH);
}

function compileArray(field: ArrayField, unknownFields: UnknownFields): FieldCheck {
  const { minItems = 0, maxItems = Infinity } = field;
  const checkItem = field.items === undefined ? copyJson : compileField(field.items, unknownFields);
  return (value, report) => {
    if (!Array.isArray(value)) return wrongType("array", value, report);
    if (value.length < minItems) {
      report.add({ code: "too_small", minimum: minItems, type: "array", inclusive: true, exact: false });
    }
    if (value.length > maxItems) {
      report.add({ code: "too_big", maximum: maxItems, type: "array", inclusive: true, exact: false });
    }
    const items: unknown[] = [];
    for (let index = 0; index < value.length; index += 1) {
      report.enter(String(index));
      items.push(checkItem(value[index], report));
      report.leave();
    }
    return items;
  };
}

/** Accepts only {@link PostedFile}, which no JSON body can contain, because we choose the ids of files. */
function compileFile({ maxBytes = Infinity, maxFiles = 1 }: FileField): FieldCheck {
  return (value, report) => {
    const files = Array.isArray(value) ? (value as readonly unknown[]) : [value];
    const facts: FileFacts[] = [];
    if (files.length === 0) return wrongType("file", value, report);
    for (const [index, file] of files.entries()) {
      if (!(file instanceof PostedFile)) return wrongType("file", file, report);
      facts.push(file.facts);
      const issue = fileIssue(file, maxBytes);
      if (issue === null) continue;
      report.enter(String(index));
      report.add(issue);
      report.leave();
    }
    if (files.length > maxFiles) report.add({ code: "invalid_file", reason: "count", maximum: maxFiles });
    return facts;
  };
}

function fileIssue({ facts, fault, bounds }: PostedFile, maxBytes: number): IssueFacts | null {
  const maximum = Math.min(maxBytes, bounds.maxFileBytes);
  if (fault === "size" || facts.size > maximum) return { code: "invalid_file", reason: "size", maximum };
  if (fault === "count") return { code: "invalid_file", reason: "count", maximum: bounds.maxFiles };
  return fault === null ? null : { code: "invalid_file", reason: fault };
}

function wrongType(expected: string, value: unknown, report: IssueReport): undefined {
  report.add({ code: "invalid_type", expected, received: receivedType(value) });
}
