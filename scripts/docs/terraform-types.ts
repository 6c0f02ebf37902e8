/** The part of JSON Schema that the rules of `tfplugingen-openapi` use. */
export interface Schema {
  readonly type?: string | readonly string[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
}

interface Attributes {
  /** Dotted paths of members that become attributes. */
  readonly supported: readonly string[];
  /** Dotted paths of members that have no type in Terraform, or a name that an attribute cannot have. */
  readonly unsupported: readonly string[];
}

const SCALARS: ReadonlySet<string> = new Set(["integer", "number", "string", "boolean"]);

/** Sorts the members of an object by the rules in the tool's DESIGN.md. */
export function attributePaths({ properties = {} }: Schema, prefix = ""): Attributes {
  const supported: string[] = [];
  const unsupported: string[] = [];
  for (const [name, schema] of Object.entries(properties)) {
    const path = `${prefix}${name}`;
    const plain = withoutNull(schema);
    if (plain === null || !/^[a-z_][a-z0-9_]*$/.test(name) || !hasType(plain)) {
      unsupported.push(path);
      continue;
    }
    supported.push(path);
    const nested = plain.type === "array" ? withoutNull(plain.items ?? {}) : plain;
    if (nested === null) continue;
    const inner = attributePaths(nested, `${path}.`);
    supported.push(...inner.supported);
    unsupported.push(...inner.unsupported);
  }
  return { supported, unsupported };
}

/** Removes null from a type that may be null. Returns null for any other mixture of types. */
function withoutNull({ anyOf, oneOf, allOf, ...schema }: Schema): Schema | null {
  const some = anyOf ?? oneOf;
  if (allOf !== undefined) return null;
  if (some !== undefined) {
    const [only, ...others] = some.filter(({ type }) => type !== "null");
    return only === undefined || others.length > 0 ? null : withoutNull(only);
  }
  if (!Array.isArray(schema.type)) return schema;
  const [only, ...others] = (schema.type as readonly string[]).filter((type) => type !== "null");
  return only === undefined || others.length > 0 ? null : { ...schema, type: only };
}

function hasType({ type, items, properties, additionalProperties }: Schema): boolean {
  if (typeof type !== "string") return false;
  if (SCALARS.has(type)) return true;
  if (type === "array") {
    const item = items === undefined ? null : withoutNull(items);
    return item !== null && hasType(item);
  }
  if (type !== "object") return false;
  if (typeof additionalProperties !== "object") return Object.keys(properties ?? {}).length > 0;
  const value = withoutNull(additionalProperties);
  return value !== null && hasType(value);
}
