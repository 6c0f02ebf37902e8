import type { SchemaDefinition } from "./definition.ts";
import type { ArrayField, FieldDefinition } from "./field-definition.ts";

type Fields = Readonly<Record<string, FieldDefinition>>;

/**
 * Adds an optional field without rules to the definition, for an unknown value that was set aside at this path. Returns `declared` if there
 * is a field at this path already. Returns `unclear` if the path or the value does not show what field is meant: members of an undeclared
 * object, `null`, and empty objects and lists.
 */
export function addFieldAt(
  definition: SchemaDefinition,
  path: string,
  value: unknown,
): SchemaDefinition | "declared" | "unclear" {
  if (Object.hasOwn(definition, path)) return "declared";
  for (const [name, field] of Object.entries(definition)) {
    if (!path.startsWith(`${name}.`)) continue;
    const changed = addWithin(field, path.slice(name.length + 1), value);
    return typeof changed === "string" ? changed : { ...definition, [name]: changed };
  }
  const field = plainField(value);
  if (field === null) return "unclear";
  const [, name = "", index] = /^([^.]+)(\.\d+)?$/.exec(path) ?? [];
  if (name === "") return "unclear";
  const added: FieldDefinition = index === undefined ? field : { type: "array", items: field };
  return { ...definition, [name]: added };
}

function addWithin(
  field: FieldDefinition,
  rest: string,
  value: unknown,
): FieldDefinition | "declared" | "unclear" {
  if (field.type === "array") return addToItems(field, rest, value);
  // An object without declared members accepts any member.
  if (field.type !== "object" || field.properties === undefined) return "declared";
  const properties: Fields | "declared" | "unclear" = addFieldAt(field.properties, rest, value);
  return typeof properties === "string" ? properties : { ...field, properties };
}

function addToItems(
  field: ArrayField,
  rest: string,
  value: unknown,
): FieldDefinition | "declared" | "unclear" {
  const inner = /^\d+\.(.+)$/s.exec(rest)?.[1];
  if (field.items === undefined || inner === undefined) return "declared";
  const items = addWithin(field.items, inner, value);
  return typeof items === "string" ? items : { ...field, items };
}

function plainField(value: unknown): FieldDefinition | null {
  const type = typeof value;
  return type === "string" || type === "number" || type === "boolean" ? { type } : null;
}
