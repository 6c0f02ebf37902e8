import { z } from "zod/v3";
import type { SchemaDefinition } from "../../src/schemas/definition.ts";
import type { UnknownFields } from "../../src/schemas/compile-schema.ts";
import type { FieldDefinition, NumberField, StringField } from "../../src/schemas/field-definition.ts";

/** Zod 3's result for a body, in the form of docs/schemas.md: string paths, no messages, an entry for each failing field. */
export function judgeWithZod(
  definition: SchemaDefinition,
  unknownFields: UnknownFields,
  body: unknown,
): { ok: true; data: unknown } | { ok: false; details: Record<string, unknown[]> } {
  const result = toObject(definition, unknownFields).safeParse(body);
  if (result.success) return { ok: true, data: result.data };
  const details: Record<string, unknown[]> = {};
  const tell = (field: string, issue: unknown): void => {
    details[field] = [...(details[field] ?? []), issue];
  };
  for (const { message: _message, ...issue } of result.error.issues) {
    const path = issue.path.map(String);
    if (issue.code === "unrecognized_keys" && path.length === 0) {
      for (const key of issue.keys) tell(key, { code: issue.code, keys: [key], path: [key] });
    } else {
      tell(path[0] ?? "", { ...issue, path });
    }
  }
  return { ok: false, details };
}

function toObject(fields: SchemaDefinition, unknownFields: UnknownFields): z.AnyZodObject {
  const object = z.object(
    Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, toMember(field, unknownFields)])),
  );
  if (unknownFields === "reject") return object.strict();
  return unknownFields === "keep" ? object.passthrough() : object.strip();
}

function toMember(field: FieldDefinition, unknownFields: UnknownFields): z.ZodTypeAny {
  const type = toType(field, unknownFields);
  if (field.default !== undefined) return type.default(field.default);
  return field.required === true ? type : type.optional();
}

function toType(field: FieldDefinition, unknownFields: UnknownFields): z.ZodTypeAny {
  switch (field.type) {
    case "string":
      return field.enum === undefined ? toString(field) : z.enum([...field.enum] as [string, ...string[]]);
    case "number":
      return toNumber(field);
    case "boolean":
      return z.boolean();
    case "object":
      return field.properties === undefined
        ? z.object({}).passthrough()
        : toObject(field.properties, unknownFields);
    case "array": {
      let list = z.array(field.items === undefined ? z.any() : toType(field.items, unknownFields));
      if (field.minItems !== undefined) list = list.min(field.minItems);
      if (field.maxItems !== undefined) list = list.max(field.maxItems);
      return list;
    }
    case "file":
    default:
      throw new Error("Zod knows no such type");
  }
}

/** What Zod has no rule for, or a looser one. */
const WRITTEN: Partial<Record<string, (text: string) => boolean>> = {
  date: (text) => z.string().date().safeParse(text).success,
  phone: (text) => /^\+?(?:[ ()./-]*\d){5,15}[ ()./-]*$/.test(text) && text.length <= 40,
};

function toString(field: StringField): z.ZodTypeAny {
  let text = z.string();
  if (field.minLength !== undefined) text = text.min(field.minLength);
  if (field.maxLength !== undefined) text = text.max(field.maxLength);
  if (field.format === "email") text = text.email();
  // `url` is Zod's own rule and the scheme on top; a refinement says both, at the same place in the order of issues.
  const formatted =
    field.format !== "url"
      ? text
      : text.superRefine((value, context) => {
          const isWeb =
            z.string().url().safeParse(value).success && /^https?:$/.test(new URL(value).protocol);
          if (!isWeb) context.addIssue({ code: "invalid_string", validation: "url" });
        });
  const written = field.format === undefined ? undefined : WRITTEN[field.format];
  if (written !== undefined)
    return text.superRefine((value, context) => {
      if (!written(value)) context.addIssue({ code: "invalid_string", validation: field.format as "regex" });
    });
  if (field.pattern === undefined) return formatted;
  const ignoresCase = field.pattern.startsWith("(?i)");
  const expression = new RegExp(field.pattern.replace(/^\(\?i\)/, ""), ignoresCase ? "iu" : "u");
  return formatted.superRefine((value, context) => {
    for (const issue of z.string().regex(expression).safeParse(value).error?.issues ?? [])
      context.addIssue(issue);
  });
}

function toNumber(field: NumberField): z.ZodTypeAny {
  if (field.enum !== undefined) {
    const options = field.enum.map((value, index) => [`option${index}`, value]);
    return z.nativeEnum(Object.fromEntries(options) as Record<`option${number}`, number>);
  }
  let number = z.number();
  if (field.minimum !== undefined) number = number.min(field.minimum);
  if (field.maximum !== undefined) number = number.max(field.maximum);
  return number;
}
