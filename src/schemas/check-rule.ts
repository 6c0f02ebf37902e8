import { show } from "./definition-problems.ts";
import {
  MAX_ACCEPTED_TYPES,
  MAX_DESCRIPTION_LENGTH,
  MAX_ENUM_VALUES,
  MAX_FIELD_LABEL_LENGTH,
  MAX_FILE_BYTES,
  MAX_FILES,
  STRING_FORMATS,
  type FieldType,
  type StringFormat,
} from "./field-definition.ts";
import { acceptProblem } from "./file-types.ts";
import { nearestName } from "../foundation/nearest-name.ts";
import { plainText } from "../foundation/plain-text.ts";

/** Checks the value of one property by itself. Returns what is wrong; undefined if nothing is. */
type Rule = (value: unknown, type: FieldType) => string | undefined;

/** The rules of those properties that can be checked without the rest of the field. */
export const RULES: Readonly<Record<string, Rule>> = {
  required: (value) => (typeof value === "boolean" ? undefined : `must be true or false, not ${show(value)}`),
  label: checkLabel,
  description: checkDescription,
  minLength: checkCount,
  maxLength: checkCount,
  minItems: checkCount,
  maxItems: checkCount,
  minimum: checkNumber,
  maximum: checkNumber,
  format: checkFormat,
  enum: checkEnum,
  accept: checkAccept,
  maxBytes: (value) => checkWithin(value, MAX_FILE_BYTES),
  maxFiles: (value) => checkWithin(value, MAX_FILES),
};

function checkLabel(value: unknown): string | undefined {
  if (typeof value !== "string") return `must be text, not ${show(value)}`;
  const isOneLine = value.trim() !== "" && plainText(value) === value;
  if (isOneLine && value.length <= MAX_FIELD_LABEL_LENGTH) return undefined;
  return `must have 1 to ${MAX_FIELD_LABEL_LENGTH} characters in one line, without control characters`;
}

function checkDescription(value: unknown): string | undefined {
  if (typeof value !== "string") return `must be text, not ${show(value)}`;
  if (value.length <= MAX_DESCRIPTION_LENGTH) return undefined;
  return `must have at most ${MAX_DESCRIPTION_LENGTH} characters`;
}

function checkCount(value: unknown): string | undefined {
  if (Number.isSafeInteger(value) && Number(value) >= 0) return undefined;
  return `must be a whole number from 0 up, not ${show(value)}`;
}

function checkNumber(value: unknown): string | undefined {
  return typeof value === "number" ? undefined : `must be a number, not ${show(value)}`;
}

function checkFormat(value: unknown): string | undefined {
  if (STRING_FORMATS.includes(value as StringFormat)) return undefined;
  return `must be ${oneOf(STRING_FORMATS, value)}`;
}

function checkEnum(value: unknown, type: FieldType): string | undefined {
  if (!Array.isArray(value) || value.length === 0)
    return `must be a list of at least one value, not ${show(value)}`;
  if (value.length > MAX_ENUM_VALUES) return `must list at most ${MAX_ENUM_VALUES} values`;
  const stranger: unknown = value.find((option) => typeof option !== type);
  if (stranger !== undefined) return `must list values of type ${type} only; ${show(stranger)} is not`;
  const twice: unknown = value.find((option, index) => value.indexOf(option) !== index);
  return twice === undefined ? undefined : `must list each value once; ${show(twice)} is there twice`;
}

function checkWithin(value: unknown, most: number): string | undefined {
  if (Number.isSafeInteger(value) && Number(value) >= 1 && Number(value) <= most) return undefined;
  return `must be a whole number from 1 to ${most}, not ${show(value)}`;
}

function checkAccept(value: unknown): string | undefined {
  if (!Array.isArray(value) || value.length === 0)
    return `must be a list of at least one type, such as ["application/pdf", ".docx"], not ${show(value)}`;
  if (value.length > MAX_ACCEPTED_TYPES) return `must list at most ${MAX_ACCEPTED_TYPES} types`;
  for (const entry of value as readonly unknown[]) {
    if (typeof entry !== "string") return `must list texts only; ${show(entry)} is not`;
    const problem = acceptProblem(entry);
    if (problem !== undefined) return `has ${show(entry)}, which ${problem}`;
  }
  return undefined;
}

/** Lists the allowed names in a sentence, and suggests the one that was probably meant. */
export function oneOf(names: readonly string[], given: unknown): string {
  const nearest = typeof given === "string" ? nearestName(given, names) : undefined;
  const hint = nearest === undefined ? "" : `; did you mean "${nearest}"?`;
  return `one of ${names.join(", ")}, not ${show(given)}${hint}`;
}
