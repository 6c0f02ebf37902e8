/** One field of a form, as its owner declares it; docs/schemas.md describes the language. */
export type FieldDefinition = StringField | NumberField | BooleanField | ObjectField | ArrayField | FileField;

export type FieldType = FieldDefinition["type"];

interface AnyField {
  /** Absent means false. A field with a `default` is never missing, required or not. */
  readonly required?: boolean;
  /** What people read instead of the name; the validator ignores it. */
  readonly label?: string;
  /** A description for people; the validator ignores it. */
  readonly description?: string;
}

export interface StringField extends AnyField {
  readonly type: "string";
  /** Lengths are in UTF-16 units, like JavaScript's `length`. */
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly format?: StringFormat;
  /** A pattern in RE2 syntax; it may match anywhere in the value unless it is anchored. */
  readonly pattern?: string;
  readonly enum?: readonly string[];
  readonly default?: string;
}

export interface NumberField extends AnyField {
  readonly type: "number";
  readonly minimum?: number;
  readonly maximum?: number;
  readonly enum?: readonly number[];
  readonly default?: number;
}

export interface BooleanField extends AnyField {
  readonly type: "boolean";
  readonly enum?: readonly boolean[];
  readonly default?: boolean;
}

export interface ObjectField extends AnyField {
  readonly type: "object";
  /** The declared members; absent means that any members are accepted. */
  readonly properties?: Readonly<Record<string, FieldDefinition>>;
  readonly default?: Readonly<Record<string, unknown>>;
}

export interface ArrayField extends AnyField {
  readonly type: "array";
  /**
   * The rules for every item; absent means that any item is accepted. `required` and `default` of an item have no effect, because an item
   * is never missing.
   */
  readonly items?: FieldDefinition;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly default?: readonly unknown[];
}

/** Files of a form. Only at the top level of a schema; a JSON body cannot contain files. */
export interface FileField extends AnyField {
  readonly type: "file";
  /** Media types, families like `image/*`, and extensions like `.docx`. Absent means documents, pictures, plain text and tables. */
  readonly accept?: readonly string[];
  /** The largest size of one file in bytes; absent means the limit of the server. */
  readonly maxBytes?: number;
  /** The largest number of files; absent means one. */
  readonly maxFiles?: number;
  readonly default?: never;
}

export type StringFormat = "email" | "url" | "date" | "phone";

export const STRING_FORMATS: readonly StringFormat[] = ["email", "url", "date", "phone"];

/** The properties that each type of field may have: the whole language. */
export const PROPERTIES = {
  string: [
    "type",
    "required",
    "label",
    "description",
    "minLength",
    "maxLength",
    "format",
    "pattern",
    "enum",
    "default",
  ],
  number: ["type", "required", "label", "description", "minimum", "maximum", "enum", "default"],
  boolean: ["type", "required", "label", "description", "enum", "default"],
  object: ["type", "required", "label", "description", "properties", "default"],
  array: ["type", "required", "label", "description", "items", "minItems", "maxItems", "default"],
  file: ["type", "required", "label", "description", "accept", "maxBytes", "maxFiles"],
} as const satisfies Record<FieldType, readonly string[]>;

export const FIELD_TYPES = Object.keys(PROPERTIES) as readonly FieldType[];

/** The largest number of fields in one schema, including those nested in `properties` and `items`. */
export const MAX_FIELDS = 200;
/** The largest number of levels of `properties` and `items` below a top-level field. A request body may have 32 levels. */
export const MAX_FIELD_DEPTH = 8;
/** The longest name of a field, in UTF-16 units. */
export const MAX_FIELD_NAME_LENGTH = 100;
/** The longest label of a field, in UTF-16 units. */
export const MAX_FIELD_LABEL_LENGTH = 100;
/** The longest description of a field, in UTF-16 units. */
export const MAX_DESCRIPTION_LENGTH = 500;
/** The largest number of values, enough for all countries or time zones. */
export const MAX_ENUM_VALUES = 500;
/** The largest number of entries in `accept` of a file field. */
export const MAX_ACCEPTED_TYPES = 50;
/** The largest `maxBytes` and `maxFiles` of a file field; the server's own limits are lower. */
export const MAX_FILE_BYTES = 1_073_741_824;
export const MAX_FILES = 100;
