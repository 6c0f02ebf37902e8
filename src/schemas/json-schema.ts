import type { UnknownFields } from "./compile-field.ts";
import type { SchemaDefinition } from "./definition.ts";
import type { FieldDefinition, StringFormat } from "./field-definition.ts";
import { portablePattern } from "./portable-pattern.ts";

/** A form's fields, with everything else that decides which posts are accepted. */
export interface FormSchema {
  readonly name: string;
  readonly version: number;
  readonly fields: SchemaDefinition;
  readonly unknownFields: UnknownFields;
}

type JsonSchema = Readonly<Record<string, unknown>>;

/**
 * The JSON Schema 2020-12 of the JSON bodies that the form accepts. Rules that it cannot express are in a `$comment`, and the server checks
 * them nevertheless. Lengths may differ: JSON Schema counts characters, and the server counts UTF-16 units.
 */
export function jsonSchemaOf({ name, version, fields, unknownFields }: FormSchema): JsonSchema {
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    $comment: `Version ${version} of the schema`,
    title: name,
    ...membersOf(fields, unknownFields),
    // Control members are always accepted, whatever the form declares.
    ...(unknownFields === "reject" && { patternProperties: { "^_": true } }),
  };
}

function membersOf(fields: SchemaDefinition, unknownFields: UnknownFields): JsonSchema {
  const members = Object.entries(fields);
  const required = members.filter(([, field]) => isRequired(field)).map(([name]) => name);
  return {
    type: "object",
    properties: Object.fromEntries(members.map(([name, field]) => [name, fieldSchema(field, unknownFields)])),
    ...(required.length > 0 && { required }),
    ...(unknownFields === "reject" && { additionalProperties: false }),
  };
}

/** Whether a body must have the field. A field with a default is never missing. */
export function isRequired(field: FieldDefinition): boolean {
  return field.required === true && field.default === undefined;
}

function fieldSchema(field: FieldDefinition, unknownFields: UnknownFields): JsonSchema {
  const { label, description, default: fallback } = field;
  return {
    ...rulesOf(field, unknownFields),
    ...(label !== undefined && { title: label }),
    ...(description !== undefined && { description }),
    ...(fallback !== undefined && { default: fallback }),
  };
}

function rulesOf(field: FieldDefinition, unknownFields: UnknownFields): JsonSchema {
  switch (field.type) {
    case "string": {
      const { minLength, maxLength, format, pattern } = field;
      return {
        ...present({ type: "string", enum: field.enum, minLength, maxLength }),
        ...formOf(format, pattern),
      };
    }
    case "number": {
      const { minimum, maximum } = field;
      return present({ type: "number", enum: field.enum, minimum, maximum });
    }
    case "boolean":
      return present({ type: "boolean", enum: field.enum });
    case "object":
      return field.properties === undefined ? { type: "object" } : membersOf(field.properties, unknownFields);
    case "file":
      return { not: {}, $comment: "A file: send the form as multipart/form-data." };
    case "array":
    default: {
      const { items, minItems, maxItems } = field;
      const item = items === undefined ? undefined : fieldSchema(items, unknownFields);
      return present({ type: "array", items: item, minItems, maxItems });
    }
  }
}

/**
 * Patterns for rules that the formats of JSON Schema do not have. A URL must have the scheme http or https; upper case and spaces before it
 * are accepted, as browsers do.
 */
const FORMAT_PATTERNS: Readonly<Partial<Record<StringFormat, string>>> = {
  url: "^\\s*[Hh][Tt][Tt][Pp][Ss]?:",
  phone: "^\\+?(?:[ ()./-]*[0-9]){5,15}[ ()./-]*$",
};

function formOf(format: StringFormat | undefined, pattern: string | undefined): JsonSchema {
  const written = pattern === undefined ? null : portablePattern(pattern);
  const patterns = [format === undefined ? null : (FORMAT_PATTERNS[format] ?? null), written].filter(
    (each) => each !== null,
  );
  const comment = pattern !== undefined && written === null ? { $comment: `RE2 pattern: ${pattern}` } : {};
  const [first, ...others] = patterns;
  return {
    ...(format !== undefined && format !== "phone" && { format: format === "url" ? "uri" : format }),
    ...(first !== undefined && { pattern: first }),
    ...(others.length > 0 && { allOf: others.map((each) => ({ pattern: each })) }),
    ...comment,
  };
}

/** The members without those that are undefined. */
function present(members: Readonly<Record<string, unknown>>): JsonSchema {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}
