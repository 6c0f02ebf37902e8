/** One field of a form, as its owner declares it; docs/schemas.md describes the language. */
export type FieldDefinition = StringField | NumberField | BooleanField | ObjectField | ArrayField | FileField;

export type FieldType = FieldDefinition["type"];

interface AnyField {
  /** Absent means false. A field with a `default` is never missing, required or not. */
  readonly required?: boolean;
  /** What people read in place of its name; says nothing to the validator. */
  readonly label?: string;
  /** For people; says nothing to the validator. */
  readonly description?: string;
}

export interface StringField extends AnyField {
  readonly type: "string";
  /** Lengths count UTF-16 units, as JavaScript's `length` does. */
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly format?: StringFormat;
  /** RE2 syntax, matched anywhere in the value unless anchored. */
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
  /** Absent means that any members are accepted. */
  readonly properties?: Readonly<Record<string, FieldDefinition>>;
  readonly default?: Readonly<Record<string, unknown>>;
}

export interface ArrayField extends AnyField {
  readonly type: "array";
  /** What every item must be; absent means anything. An item is never missing: its `required` and `default` say nothing. */
  readonly items?: FieldDefinition;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly default?: readonly unknown[];
}

/** Files of a form. At the top level of a schema only; a JSON body cannot carry any. */
export interface FileField extends AnyField {
  readonly type: "file";
  /** Media types, families like `image/*`, and extensions like `.docx`. Absent means documents, pictures, text and tables. */
  readonly accept?: readonly string[];
  /** Bytes of one file. Absent means as many as the server accepts. */
  readonly maxBytes?: number;
  /** Absent means one. */
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

/** Fields in one schema, those nested in `properties` and `items` counted too. */
export const MAX_FIELDS = 200;
/** Levels of `properties` and `items` below a top-level field; a request body may nest 32 deep. */
export const MAX_FIELD_DEPTH = 8;
/** In UTF-16 units. */
export const MAX_FIELD_NAME_LENGTH = 100;
/** In UTF-16 units. */
export const MAX_FIELD_LABEL_LENGTH = 100;
/** In UTF-16 units. */
export const MAX_DESCRIPTION_LENGTH = 500;
/** Room for the world's countries or time zones. */
export const MAX_ENUM_VALUES = 500;
/** Entries of the `accept` of a file field. */
export const MAX_ACCEPTED_TYPES = 50;
/** The largest `maxBytes` and `maxFiles` of a file field; the server's own limits are lower. */
export const MAX_FILE_BYTES = 1_073_741_824;
export const MAX_FILES = 100;
