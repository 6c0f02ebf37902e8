import type { FieldType } from "../../schemas/field-definition.ts";

/** What a row of the schema's form asks for, and how people read it. `optional` remembers that `required` was written out as false. */
export const ROW_LABELS = {
  name: "Name",
  label: "Label",
  type: "Kind",
  required: "Required",
  optional: "Optional",
  format: "Format",
  enum: "Allowed values",
  minLength: "Least length",
  maxLength: "Greatest length",
  minimum: "Least value",
  maximum: "Greatest value",
  properties: "Members",
  items: "Items",
  minItems: "Least number of items",
  maxItems: "Greatest number of items",
  accept: "Kinds of files",
  maxBytes: "Greatest size in bytes",
  maxFiles: "Greatest number of files",
  pattern: "Pattern",
  default: "Value if left empty",
  description: "Description",
} as const;

export type RowInput = keyof typeof ROW_LABELS;

export const TYPE_LABELS: Readonly<Record<FieldType, string>> = {
  string: "Text",
  number: "Number",
  boolean: "Yes or no",
  object: "Group of fields",
  array: "List",
  file: "File",
};
