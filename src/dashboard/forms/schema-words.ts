/**
 * The inputs of a row of the schema's form, with their labels. `optional` remembers that `required` was written out as false. `type` and
 * `format` are what pages of earlier versions sent in place of `kind`.
 */
export const ROW_LABELS = {
  label: "Label",
  kind: "Kind",
  name: "Name of the input",
  type: "Kind",
  format: "Kind",
  required: "Must be filled in",
  optional: "Optional",
  enum: "Choices",
  minLength: "Least length",
  maxLength: "Greatest length",
  minimum: "Least value",
  maximum: "Greatest value",
  members: "Fields in it",
  properties: "Fields in it, as JSON",
  entries: "Each entry is",
  items: "Each entry, as JSON",
  minItems: "Least number of items",
  maxItems: "Greatest number of items",
  accept: "Kinds of files",
  megabytes: "Greatest size in MB",
  maxBytes: "Greatest size in bytes",
  maxFiles: "Greatest number of files",
  pattern: "Pattern",
  default: "Value if left empty",
  description: "Note for your team",
} as const;

export type RowInput = keyof typeof ROW_LABELS;

/** One field of a schema as a form holds it: the text of each input as it was typed. A missing input counts as empty. */
export type FieldRow = Readonly<Partial<Record<RowInput, string>>>;

export function inputName(row: number, input: RowInput): string {
  return `f.${row}.${input}`;
}
