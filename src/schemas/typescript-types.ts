import { plainText } from "../foundation/plain-text.ts";
import type { SchemaDefinition } from "./definition.ts";
import type { FieldDefinition } from "./field-definition.ts";
import { type FormSchema, isRequired } from "./json-schema.ts";

/** The side of the server: a field with a default may be missing in data that is sent, and is present in data that is stored. */
type Side = "sent" | "stored";

interface Writing {
  readonly side: Side;
  /** Whether members that the form does not declare are kept in the data. */
  readonly keepsUnknown: boolean;
}

/**
 * The TypeScript of a form's data: one interface for the data that a page sends, and one for the data that is stored. It has no imports.
 */
export function typescriptTypes({ name, version, fields, unknownFields }: FormSchema): string {
  const keepsUnknown = unknownFields === "keep";
  const title = comment(`the form ${name}, version ${version} of its schema`);
  const stem = typeName(name);
  return [
    `// What is sent to ${title}, and what is stored of it.`,
    "",
    `export interface ${stem}Input ${membersOf(fields, { side: "sent", keepsUnknown }, "")}`,
    "",
    "/** Submissions of earlier versions of the schema may differ. */",
    `export interface ${stem}Data ${membersOf(fields, { side: "stored", keepsUnknown }, "")}`,
    "",
  ].join("\n");
}

function membersOf(fields: SchemaDefinition, writing: Writing, indent: string): string {
  const inner = `${indent}  `;
  const lines = Object.entries(fields).flatMap(([name, field]) => {
    const isThere = isRequired(field) || (writing.side === "stored" && field.default !== undefined);
    const member = `${inner}${propertyName(name)}${isThere ? "" : "?"}: ${typeOf(field, writing, inner)};`;
    return field.description === undefined
      ? [member]
      : [`${inner}/** ${comment(field.description)} */`, member];
  });
  if (writing.keepsUnknown) lines.push(`${inner}[name: string]: unknown;`);
  return lines.length === 0 ? "{}" : `{\n${lines.join("\n")}\n${indent}}`;
}

function typeOf(field: FieldDefinition, writing: Writing, indent: string): string {
  switch (field.type) {
    case "string":
    case "number":
    case "boolean":
      return field.enum === undefined ? field.type : field.enum.map(literal).join(" | ");
    case "object":
      return field.properties === undefined
        ? "{ [name: string]: unknown }"
        : membersOf(field.properties, writing, indent);
    case "file":
      return writing.side === "sent" ? "readonly File[]" : STORED_FILES;
    case "array":
    default:
      return field.items === undefined
        ? "unknown[]"
        : listOf(field.items, typeOf(field.items, writing, indent));
  }
}

const STORED_FILES =
  '{ id: string; name: string; size: number; type: string; sha256: string; state?: "scanning" | "infected" | "unscanned" | "deleted"; verdict?: string }[]';

function listOf(item: FieldDefinition, type: string): string {
  const isUnion = "enum" in item && (item.enum?.length ?? 0) > 1;
  return isUnion ? `(${type})[]` : `${type}[]`;
}

/** A literal in TypeScript. Invisible characters, and those that change the direction of text, are escaped. */
function literal(value: string | number | boolean): string {
  return JSON.stringify(value).replace(
    /[\p{C}\p{Zl}\p{Zp}]/gu,
    (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`,
  );
}

function propertyName(name: string): string {
  return /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.test(name) ? name : literal(name);
}

/** Makes a text of strangers safe for one line of a comment, so that it cannot end the comment. */
function comment(text: string): string {
  return plainText(text).replaceAll("*/", "* /").trim();
}

/** Makes a type name of a form's name: `Order form 2` becomes `OrderForm2`. */
function typeName(name: string): string {
  const words = name.match(/[\p{ID_Continue}$]+/gu) ?? [];
  const joined = words.map((word) => word.replace(/^./u, (first) => first.toUpperCase())).join("");
  return /^[\p{ID_Start}$_]/u.test(joined) ? joined : `Form${joined}`;
}
