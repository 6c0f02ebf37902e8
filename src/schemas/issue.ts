/** One thing wrong with a submitted value, in the issue format of Zod 3 but with a path of strings only. */
export type Issue = IssueFacts & {
  readonly message: string;
  /** The field's name first; array positions as decimal text. */
  readonly path: readonly string[];
};

export type IssueFacts =
  | { readonly code: "invalid_type"; readonly expected: string; readonly received: string }
  | (Bound & { readonly code: "too_small"; readonly minimum: number })
  | (Bound & { readonly code: "too_big"; readonly maximum: number })
  | { readonly code: "invalid_string"; readonly validation: "email" | "url" | "regex" }
  | { readonly code: "invalid_enum_value"; readonly received: unknown; readonly options: readonly unknown[] }
  | { readonly code: "unrecognized_keys"; readonly keys: readonly string[] };

interface Bound {
  readonly type: "string" | "number" | "array";
  readonly inclusive: true;
  readonly exact: false;
}

/** The type of a JSON value in Zod 3's words; `undefined` stands for a missing field. */
export function receivedType(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  return Number.isNaN(value) ? "nan" : typeof value;
}

const MAX_LABEL_LENGTH = 80;
const MAX_LISTED = 10;

/** What is wrong, in a sentence for the person who filled in the form. */
export function issueMessage(path: readonly string[], facts: IssueFacts): string {
  const label = shorten(path.join("."));
  switch (facts.code) {
    case "invalid_type":
      if (facts.received === "undefined") return `${label} is required`;
      return `${label} must be ${expectedWords(facts.expected)}, not ${TYPE_WORDS[facts.received] ?? facts.received}`;
    case "too_small":
      return `${label} must ${boundWords(facts.type, "at least", facts.minimum)}`;
    case "too_big":
      return `${label} must ${boundWords(facts.type, "at most", facts.maximum)}`;
    case "invalid_string":
      return `${label} ${STRING_WORDS[facts.validation]}`;
    case "invalid_enum_value":
      return `${label} must be one of: ${list(facts.options)}`;
    case "unrecognized_keys":
    default:
      return path.length === 1 && facts.keys[0] === path[0]
        ? `${label} is not a field of this form`
        : `${label} has members that are not known: ${list(facts.keys)}`;
  }
}

const TYPE_WORDS: Readonly<Record<string, string>> = {
  string: "text",
  number: "a number",
  boolean: "true or false",
  object: "an object",
  array: "a list",
  nan: "NaN",
};

const STRING_WORDS = {
  email: "must be an e-mail address",
  url: "must be a web address that starts with http:// or https://",
  regex: "does not have the expected form",
} as const;

/** `expected` of a field with an `enum` lists its values. */
function expectedWords(expected: string): string {
  return TYPE_WORDS[expected] ?? `one of ${shorten(expected)}`;
}

function boundWords(type: Bound["type"], relation: string, bound: number): string {
  if (type === "number") return `be ${relation} ${bound}`;
  const unit = type === "string" ? "character" : "item";
  return `have ${relation} ${bound} ${unit}${bound === 1 ? "" : "s"}`;
}

function list(values: readonly unknown[]): string {
  const shown = values.slice(0, MAX_LISTED).map((value) => shorten(String(value)));
  if (values.length > MAX_LISTED) shown.push(`and ${values.length - MAX_LISTED} more`);
  return shown.join(", ");
}

/** The text, or its beginning of that length and an ellipsis. */
export function shorten(text: string, length = MAX_LABEL_LENGTH): string {
  return text.length > length ? `${text.slice(0, length).toWellFormed()}…` : text;
}
