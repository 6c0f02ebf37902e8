import type { FieldDefinition } from "./field-definition.ts";

/** Definitions by the names of the fields. */
export type Fields = Readonly<Record<string, FieldDefinition>>;

/**
 * What people read for a value of a form: the label of its field, or else its name; of a value inside it, what stands below the innermost
 * label. Items of a list are counted from 1.
 *
 * @param path the field's name first. @param separator of names without a label
 */
export function labelAt(definition: Fields, path: readonly string[], separator = "."): string {
  let fields: Fields | undefined = definition;
  let field: FieldDefinition | undefined;
  let label: string | undefined;
  let below: string[] = [];
  for (const name of path) {
    const isItem: boolean = field?.type === "array";
    if (field?.type === "array") field = field.items;
    else field = fields !== undefined && Object.hasOwn(fields, name) ? fields[name] : undefined;
    fields = field?.type === "object" ? field.properties : undefined;
    if (!isItem && field?.label !== undefined) [label, below] = [field.label, []];
    else below.push(isItem ? String(Number(name) + 1) : name);
  }
  if (label !== undefined) return [label, ...below].join(" ");
  // With dots it is a path, whose items count from 0 as in the details of an error.
  return (separator === "." ? path : below).join(separator);
}
