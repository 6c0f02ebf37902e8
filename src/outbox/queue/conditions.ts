import { shorten } from "../../foundation/shorten.ts";
import { BoundedMap } from "../../foundation/bounded-map.ts";
import { FormsvcError } from "../../foundation/errors.ts";
import { listNames } from "../../foundation/list-names.ts";

/*
 * Conditions of a recipient: it gets a message only about submissions whose values meet all of them. They are checked in the transaction
 * that stores the post; a recipient without conditions costs one comparison.
 */

export const MAX_CONDITIONS = 10;
/** The largest numbers of characters in a field's name and in a value. */
const MAX_FIELD_LENGTH = 200;
const MAX_VALUE_LENGTH = 500;

export const CONDITION_KINDS = ["=", "!=", ">", "<", "~", "filled", "empty"] as const;

export interface Condition {
  /** The name of a field of the form. */
  readonly field: string;
  readonly is: (typeof CONDITION_KINDS)[number];
  /** The value that is compared with; empty for `filled` and `empty`. */
  readonly value: string;
}

/** The field is the shortest text before an operator, so the value may have operators in it. */
const WRITTEN = /^(?<field>.+?)(?<is>!=|=|>|<|~)(?<value>[\s\S]*)$/s;

/** A condition as `--when` takes it: `topic=sales`, `budget>1000`, `topic` (filled), `!topic` (empty). @throws usage */
export function parseCondition(text: string): Condition {
  const found = WRITTEN.exec(text)?.groups;
  if (found !== undefined) {
    const { field = "", is = "", value = "" } = found;
    return { field: field.trim(), is: is as Condition["is"], value: value.trim() };
  }
  const isEmpty = text.startsWith("!");
  const field = (isEmpty ? text.slice(1) : text).trim();
  if (field !== "" && !/[=<>~]/.test(field)) return { field, is: isEmpty ? "empty" : "filled", value: "" };
  throw new FormsvcError(
    "usage",
    `${text.slice(0, MAX_FIELD_LENGTH)}: expected FIELD=VALUE, also with !=, >, < or ~ (contains), FIELD (filled) or !FIELD (empty)`,
  );
}

/** The condition in the form that {@link parseCondition} reads. */
export function conditionText({ field, is, value }: Condition): string {
  if (is === "filled") return field;
  return is === "empty" ? `!${field}` : `${field}${is}${value}`;
}

/**
 * The conditions that `--when` gave. A single empty text gives no conditions.
 *
 * @throws usage
 */
export function parseConditions(texts: readonly string[]): Condition[] {
  const given = texts.filter((each) => each.trim() !== "");
  if (given.length > 0 && given.length < texts.length)
    throw new FormsvcError("usage", "give conditions, or an empty text that clears them, not both");
  return given.map(parseCondition);
}

/** The names of the first fields, for a message. */
function namesOf(fields: Readonly<Record<string, unknown>>): string {
  const names = Object.keys(fields);
  return names.length === 0 ? "none" : listNames(names, MAX_NAMED);
}

const MAX_NAMED = 20;

/**
 * Checks the conditions and returns them in the form in which they are stored. @param fields the fields of the form, by their names.
 * @throws usage
 */
export function checkConditions(
  given: readonly Condition[],
  fields: Readonly<Record<string, unknown>>,
): readonly Condition[] {
  if (given.length > MAX_CONDITIONS)
    throw new FormsvcError("usage", `there are ${given.length} conditions; ${MAX_CONDITIONS} are allowed`);
  return given.map(({ field, is, value }) => {
    if (field.length > MAX_FIELD_LENGTH || value.length > MAX_VALUE_LENGTH)
      throw new FormsvcError(
        "usage",
        `a condition has at most ${MAX_FIELD_LENGTH} characters of a field and ${MAX_VALUE_LENGTH} of a value`,
      );
    if (!Object.hasOwn(fields, field))
      throw new FormsvcError(
        "usage",
        `the form has no field ${field}, on which there is a condition; it has ${namesOf(fields)}`,
      );
    if ((is === ">" || is === "<") && numberOf(value) === null)
      throw new FormsvcError("usage", `${field}${is}${value}: a number is expected behind ${is}`);
    const hasValue = is !== "filled" && is !== "empty";
    return { field, is, value: hasValue ? value.toWellFormed().replaceAll("\0", "") : "" };
  });
}

/** The fields that conditions name and the form no longer has, each once. @param fields the fields of the form, by their names. */
export function goneFields(
  conditions: readonly Condition[],
  fields: Readonly<Record<string, unknown>>,
): readonly string[] {
  const asked = conditions.map(({ field }) => field);
  return [...new Set(asked)].filter((field) => !Object.hasOwn(fields, field));
}

export function readConditions(stored: string | null): readonly Condition[] {
  return stored === null ? [] : (JSON.parse(stored) as Condition[]);
}

export function writeConditions(conditions: readonly Condition[]): string | null {
  return conditions.length === 0 ? null : JSON.stringify(conditions);
}

/** The data of a post, and the fields of its form, both by the names of the fields. */
export interface ConditionData {
  readonly data: Readonly<Record<string, unknown>>;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** Finds the first condition that does not hold, as JSON; null if all hold. */
type FindUnmet = (sentIn: (field: string) => Sent | null) => string | null;

const MAX_COMPILED = 5000;
const compiled = new BoundedMap<string, FindUnmet>(MAX_COMPILED);

/**
 * Returns a function that checks the stored conditions of a recipient against one post. The function returns the first condition that does
 * not hold, as JSON, or null if all hold. A condition on a field that the form no longer has holds. A field is read once for all
 * recipients, because a list may have thousands of items.
 */
export function unmetBy({ data, fields }: ConditionData): (stored: string) => string | null {
  const read = new Map<string, Sent>();
  const sentIn = (field: string): Sent | null => {
    const known = read.get(field);
    if (known !== undefined || !Object.hasOwn(fields, field)) return known ?? null;
    const sent = readSent(Object.hasOwn(data, field) ? data[field] : undefined);
    read.set(field, sent);
    return sent;
  };
  return (stored) => {
    let find = compiled.get(stored);
    if (find === undefined) compiled.set(stored, (find = compile(readConditions(stored))));
    return find(sentIn);
  };
}

function compile(conditions: readonly Condition[]): FindUnmet {
  // Serialised once, because each post that is not sent because of the condition stores this JSON.
  const tests = conditions.map((condition) => ({
    field: condition.field,
    holds: testOf(condition),
    json: JSON.stringify(condition),
  }));
  return (sentIn) => {
    for (const { field, holds, json } of tests) {
      const sent = sentIn(field);
      if (sent !== null && !holds(sent)) return json;
    }
    return null;
  };
}

function testOf({ is, value }: Condition): (sent: Sent) => boolean {
  const wanted = value.toLowerCase();
  const number = numberOf(value);
  // Two texts are compared as texts: 01067 and 1067 are different postcodes.
  const equals = (sent: Sent): boolean => sent.hasText(wanted) || (number !== null && sent.hasNumber(number));
  if (is === "=") return equals;
  if (is === "!=") return (sent) => !equals(sent);
  if (is === "~") return (sent) => sent.contains(wanted);
  if (is === "filled") return (sent) => !sent.isEmpty();
  if (is === "empty") return (sent) => sent.isEmpty();
  return (sent) => {
    const sentNumber = sent.number();
    if (sentNumber === null || number === null) return false;
    return is === ">" ? sentNumber > number : sentNumber < number;
  };
}

/** The value of one field in a post, as conditions look at it. Texts are given and compared in lower case. */
interface Sent {
  /** Whether the value is this text, or is a list with it as an item. */
  hasText(text: string): boolean;
  /** Whether the value is this number, or is a list with it as an item. Only what was sent as a number counts. */
  hasNumber(number: number): boolean;
  /** Whether the text of the value, or of an item of a list, contains this one. */
  contains(text: string): boolean;
  /** The value as a number; null if it does not read as one, or is a list. */
  number(): number | null;
  isEmpty(): boolean;
}

function readSent(sent: unknown): Sent {
  return Array.isArray(sent) ? readList(sent) : new SentValue(sent);
}

/** A class, because each post of a form with conditions makes one for each field that they name. */
class SentValue implements Sent {
  readonly #sent: unknown;
  #small: string | null | undefined;

  constructor(sent: unknown) {
    this.#sent = sent;
  }

  hasText(text: string): boolean {
    return this.#inSmallLetters() === text;
  }

  hasNumber(number: number): boolean {
    return this.#sent === number;
  }

  contains(text: string): boolean {
    return this.#inSmallLetters()?.includes(text) === true;
  }

  number(): number | null {
    return numberOf(this.#sent);
  }

  isEmpty(): boolean {
    return isEmpty(this.#sent);
  }

  #inSmallLetters(): string | null {
    if (this.#small === undefined) this.#small = textOf(this.#sent)?.toLowerCase() ?? null;
    return this.#small;
  }
}

/** Reads a list once: it may have thousands of items, and a hundred recipients may ask for it. */
function readList(items: readonly unknown[]): Sent {
  const texts = new Set<string>();
  const numbers = new Set<number>();
  for (const item of items) {
    const text = textOf(item);
    if (text !== null) texts.add(text.toLowerCase());
    if (typeof item === "number") numbers.add(item);
  }
  let joined: string | undefined;
  return {
    hasText: (text) => texts.has(text),
    hasNumber: (number) => numbers.has(number),
    // NUL separates the items: no condition has it in its value.
    contains: (text) => texts.size > 0 && (joined ??= [...texts].join("\0")).includes(text),
    number: () => null,
    isEmpty: () => items.length === 0,
  };
}

/** The value of a field as a person reads it, in up to `maxLength` characters; empty if nothing was sent, null if the value is a group. */
export function sentText(sent: unknown, maxLength: number): string | null {
  if (isEmpty(sent)) return "";
  const texts = (Array.isArray(sent) ? sent : [sent]).slice(0, maxLength).map(textOf);
  if (texts.includes(null)) return null;
  return shorten(texts.join(", "), maxLength);
}

/** The value as a person reads it; null if it is a group. */
function textOf(sent: unknown): string | null {
  if (typeof sent === "string") return sent;
  return typeof sent === "number" || typeof sent === "boolean" ? String(sent) : null;
}

const NUMBER = /^\s*[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d{1,3})?\s*$/i;
/** The largest number of characters in a text that is read as a number. */
const MAX_NUMBER_LENGTH = 100;

function numberOf(sent: unknown): number | null {
  if (typeof sent === "number") return sent;
  const isNumber = typeof sent === "string" && sent.length <= MAX_NUMBER_LENGTH && NUMBER.test(sent);
  return isNumber ? Number(sent) : null;
}

/** Whether a person would call the field empty. 0 and false are not empty. */
function isEmpty(sent: unknown): boolean {
  if (sent === undefined || sent === null) return true;
  if (typeof sent === "string") return sent.trim() === "";
  return typeof sent === "object" && Object.keys(sent).length === 0;
}
