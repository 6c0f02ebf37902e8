import { z } from "zod";

/** The schema of a setting, or of an entry of a list. */
export function schemaAt(schema: z.ZodType, path: readonly string[]): z.ZodType {
  return path.reduce<z.ZodType>((outer, name) => {
    const inside = unwrapped(outer);
    if (inside instanceof z.ZodObject) return (inside.shape[name] as z.ZodType | undefined) ?? z.unknown();
    if (inside instanceof z.ZodRecord) return inside.valueType as z.ZodType;
    if (inside instanceof z.ZodArray) return inside.element as z.ZodType;
    return z.unknown();
  }, schema);
}

/** What a setting takes, with its limits and unit: `a whole number of milliseconds from 100 to 60000`. */
export function whatToWrite(schema: z.ZodType, path: readonly string[]): string {
  return withNull(describe(unwrapped(schema), path), schema);
}

/** Adds null if the setting takes it. */
export function withNull(words: string, schema: z.ZodType): string {
  return schema.safeParse(null).success ? `${words}, or null` : words;
}

function describe(schema: z.ZodType, path: readonly string[]): string {
  if (schema instanceof z.ZodBoolean) return "true or false";
  if (schema instanceof z.ZodEnum) return choice(schema.options.map((each) => JSON.stringify(each)));
  if (schema instanceof z.ZodNumber) return describeNumber(schema, unitOf(path));
  if (schema instanceof z.ZodURL) return 'an http or https address, like "https://forms.example.com"';
  if (schema instanceof z.ZodString) return describeText(schema);
  if (schema instanceof z.ZodArray) return describeList(schema);
  if (schema instanceof z.ZodObject) return `an object with ${list(Object.keys(schema.shape))}`;
  if (schema instanceof z.ZodRecord) return 'an object with a member for each name, like {"hobby": {…}}';
  return "another value";
}

function describeNumber({ minValue, maxValue, format }: z.ZodNumber, unit: string | null): string {
  const number = format === "safeint" ? "a whole number" : "a number";
  return `${number}${unit === null ? "" : ` of ${unit}`} from ${minValue} to ${maxValue}`;
}

function describeText({ minLength, maxLength }: z.ZodString): string {
  if (maxLength === null) return "a text";
  if (minLength === null) return `a text of at most ${maxLength} characters`;
  return `a text of ${minLength} to ${maxLength} characters`;
}

function describeList(schema: z.ZodArray): string {
  const entry = unwrapped(schema.element as z.ZodType);
  if (entry instanceof z.ZodEnum) {
    const choices = entry.options.map((each) => JSON.stringify(each));
    return `a list, like [${choices[0]}], of ${choice(choices)}`;
  }
  const like = entry instanceof z.ZodNumber ? "[5, 30]" : '["127.0.0.1"]';
  const { minItems = 0, maxItems } = z.toJSONSchema(schema, { unrepresentable: "any" });
  return `a list, like ${like}, of ${minItems} to ${maxItems} entries`;
}

/** The units are in the names of the settings. */
const UNITS: readonly (readonly [RegExp, string])[] = [
  [/bytesPerSecond$/i, "bytes a second"],
  [/bytes/i, "bytes"],
  [/ms$/i, "milliseconds"],
  [/seconds$/i, "seconds"],
  [/hours$/i, "hours"],
  [/days$/i, "days"],
];

function unitOf(path: readonly string[]): string | null {
  // The entries of a list have the unit of the list.
  const name = path.findLast((each) => !/^\d+$/.test(each)) ?? "";
  return UNITS.find(([pattern]) => pattern.test(name))?.[1] ?? null;
}

function choice(words: readonly string[]): string {
  return words.join(", ").replace(/, ([^,]*)$/, " or $1");
}

function list(words: readonly string[]): string {
  return words.join(", ").replace(/, ([^,]*)$/, " and $1");
}

function unwrapped(schema: z.ZodType): z.ZodType {
  let inside = schema;
  while (inside instanceof z.ZodNullable || inside instanceof z.ZodDefault || inside instanceof z.ZodOptional)
    inside = inside.unwrap() as z.ZodType;
  return inside;
}
