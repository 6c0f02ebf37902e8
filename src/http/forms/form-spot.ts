import type { UnknownFields } from "../../schemas/compile-schema.ts";
import type { SchemaDefinition } from "../../schemas/definition.ts";
import type { FieldDefinition } from "../../schemas/field-definition.ts";
import { isGroup, isScalar } from "../../schemas/form-inputs.ts";
import { TOKEN_MEMBERS } from "../../spam/spam-post.ts";
import { isShownRow } from "./form-rows.ts";

/** A field of the schema, at any depth. */
export interface FormSpot {
  readonly path: readonly string[];
  readonly field: FieldDefinition;
}

interface FormSchema {
  readonly definition: SchemaDefinition;
  readonly unknownFields: UnknownFields;
  /** Whether a list of groups has inputs. */
  readonly isWhole: boolean;
}

/**
 * The field that an input belongs to; for an item of a list, the list. `beside` means an input without a declaration of its own that still
 * changes what is stored; `nowhere` means one that changes nothing.
 */
export function spotOf(
  path: readonly string[],
  { definition, unknownFields, isWhole }: FormSchema,
): FormSpot | "beside" | "nowhere" {
  let fields: SchemaDefinition = definition;
  let field: FieldDefinition | undefined;
  for (const [depth, name] of path.entries()) {
    if (field?.type === "array") {
      if (isWhole && isGroup(field.items) && isShownRow(name)) {
        [fields, field] = [field.items.properties, field.items];
        continue;
      }
      const isItem = depth === path.length - 1 && isScalar(field.items);
      return isItem ? { path: path.slice(0, depth), field } : "beside";
    }
    if (field?.type === "file") return { path: path.slice(0, depth), field };
    if (field !== undefined) {
      if (field.type !== "object") return "nowhere";
      if (field.properties === undefined) return "beside";
      fields = field.properties;
    }
    field = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (field === undefined) return isSentAgain(path, depth, unknownFields) ? "beside" : "nowhere";
  }
  return field === undefined ? "nowhere" : { path, field };
}

/**
 * Whether an input without a field is sent again. Within a declared group it is, even if it is not stored, because it makes the group count
 * as sent, so that the group gets its default values.
 */
function isSentAgain([root = ""]: readonly string[], depth: number, unknownFields: UnknownFields): boolean {
  if (depth > 0) return unknownFields !== "reject";
  return (unknownFields === "keep" || unknownFields === "set-aside") && !isControl(root);
}

/** Whether a member is one of our control members. Such a member is not stored if it is not declared. */
function isControl(root: string): boolean {
  return root.startsWith("_") || TOKEN_MEMBERS.has(root);
}
