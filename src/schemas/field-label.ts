import type { FieldDefinition } from "./field-definition.ts";

/** Definitions by the names of the fields. */
export type Fields = Readonly<Record<string, FieldDefinition>>;

/**
 * What the owner and the developer of a form read for a value: the label of its field, or else its name; of a value inside it, what stands
 * below the innermost label, whose items are counted from 1. Without any label it is the path, whose items count from 0 as in the details of
 * an error.
 *
 * @param path the field's name first
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
 * What visitors read for it: its label, or else its name in words, and in brackets the groups and rows around it: `City (Where to)`,
 * `Name (Guests 2)`.
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

/** `first_name` and `firstName` as people write it: `First name`. */
export function nameInWords(name: string): string {
  const words = name
    .replaceAll(/(?<=\p{Ll}{2})\p{Lu}(?=\p{Ll})/gu, (letter) => ` ${letter.toLowerCase()}`)
    .replaceAll(/[\s_-]+/g, " ")
    .trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

interface Step {
  readonly name: string;
  /** Undefined if it is not declared. */
  readonly field: FieldDefinition | undefined;
  /** Whether it is an item of the field before. */
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
