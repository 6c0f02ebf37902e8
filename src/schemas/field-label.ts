import type { FieldDefinition } from "./field-definition.ts";

/** Definitions by the names of the fields. */
export type Fields = Readonly<Record<string, FieldDefinition>>;

/**
 * The name of a value for the owner and the developer of a form. For a field it is its label, or else its name. For a value inside a field
 * it is the innermost label, followed by the rest of the path, with items counted from 1. If there is no label, it is the path, with items
 * counted from 0 as in the details of an error.
 *
 * @param path begins with the name of the field
 */
export function labelAt(definition: Fields, path: readonly string[]): string {
  let label: string | undefined;
  let below: string[] = [];
  for (const { name, field, isItem } of stepsOf(definition, path)) {
    if (!isItem && field?.label !== undefined) [label, below] = [field.label, []];
    else below.push(isItem ? String(Number(name) + 1) : name);
  }
  return label === undefined ? path.join(".") : [label, ...below].join(" ");
}

/**
 * The name of a value for visitors: its label, or else its name in words, followed in brackets by the groups and rows around it: `City
 * (Where to)`, `Name (Guests 2)`.
 */
export function visitorLabel(definition: Fields, path: readonly string[]): string {
  const around: string[] = [];
  let called = "";
  for (const { name, field, isItem } of stepsOf(definition, path)) {
    if (isItem) {
      called = `${called} ${Number(name) + 1}`;
      continue;
    }
    if (called !== "") around.unshift(called);
    called = field?.label ?? nameInWords(name);
  }
  return around.length === 0 ? called : `${called} (${around.join(", ")})`;
}

/** Writes the name of a field in words: `first_name` and `firstName` become `First name`. */
export function nameInWords(name: string): string {
  const words = name
    .replaceAll(/(?<=\p{Ll}{2})\p{Lu}(?=\p{Ll})/gu, (letter) => ` ${letter.toLowerCase()}`)
    .replaceAll(/[\s_-]+/g, " ")
    .trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

interface Step {
  readonly name: string;
  /** The definition of this part; undefined if it is not declared. */
  readonly field: FieldDefinition | undefined;
  /** Whether this part is an item of the list before it. */
  readonly isItem: boolean;
}

function* stepsOf(definition: Fields, path: readonly string[]): Generator<Step> {
  let fields: Fields | undefined = definition;
  let field: FieldDefinition | undefined;
  for (const name of path) {
    const isItem: boolean = field?.type === "array";
    if (field?.type === "array") field = field.items;
    else field = fields !== undefined && Object.hasOwn(fields, name) ? fields[name] : undefined;
    fields = field?.type === "object" ? field.properties : undefined;
    yield { name, field, isItem };
  }
}
