import type { SchemaDefinition } from "../../schemas/definition.ts";
import { type FieldDefinition, MAX_FIELD_DEPTH } from "../../schemas/field-definition.ts";
import { UNTICKED } from "../../schemas/form-inputs.ts";
import type { JsonObject } from "./parse-body.ts";

/** One input of a plain HTML form; the value is always text. */
export type FormEntry = readonly [name: string, value: string];

/** The longest text that is read as a number. Every exact double has fewer digits. */
const MAX_NUMBER_LENGTH = 400;
const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;
const BOOLEANS: Readonly<Record<string, boolean>> = {
  on: true,
  true: true,
  "1": true,
  off: false,
  false: false,
  "0": false,
  [UNTICKED]: false,
};

/**
 * Converts the inputs of a plain form to the JSON that a script would have sent, by the types of the schema. An empty input is left out. If
 * a name repeats, its last value counts, except for an array. Text that does not fit its type stays text, and the validator reports it.
 * Line breaks become `\n`, as in scripts, so that lengths are the same.
 */
export function coerceForm(entries: readonly FormEntry[], definition: SchemaDefinition): JsonObject {
  const root = emptyNode();
  const items = new UnnumberedItems(definition);
  for (const [name, value] of entries) {
    const path = items.numbered(fieldPath(name, definition));
    if (value !== "") nodeAt(root, path).values.push(value.replace(/\r\n?/g, "\n"));
  }
  return membersOf(root, definition);
}

/** The number of the first item without a number, so that these come behind those with one. */
const FIRST_UNNUMBERED = 500_000;

/** The item of a list that inputs like `a[][b]` fill in at present. */
interface OpenItem {
  number: number;
  /** The inputs of the item so far, each as the rest of its path. */
  readonly sent: Set<string>;
}

/**
 * Numbers the items of lists whose inputs have none, like `a[][b]`. A new item begins with an input that the present item has already; a
 * list inside the item may have several inputs of one name, and so may a box, whose value for "no" stands right before it.
 */
class UnnumberedItems {
  readonly #definition: SchemaDefinition;
  readonly #open = new Map<string, OpenItem>();
  #last = "";

  constructor(definition: SchemaDefinition) {
    this.#definition = definition;
  }

  /** The path with numbers for the items in it. Empty inputs count too, so that the inputs of two items are not mixed. */
  numbered(path: readonly string[]): readonly string[] {
    if (!path.slice(1, -1).includes("")) return path;
    const found = [...path];
    for (let at = 1; at < found.length - 1; at += 1)
      if (found[at] === "" && this.#mayBeList(found.slice(0, at))) found[at] = this.#itemOf(found, at);
    this.#last = JSON.stringify(found);
    return found;
  }

  #mayBeList(path: readonly string[]): boolean {
    const field = fieldAt(path, this.#definition);
    return field === undefined || field.type === "array";
  }

  #itemOf(path: readonly string[], at: number): string {
    const list = JSON.stringify(path.slice(0, at));
    const item = this.#open.get(list) ?? { number: FIRST_UNNUMBERED, sent: new Set() };
    this.#open.set(list, item);
    const rest = path.slice(at + 1);
    const input = JSON.stringify(rest);
    if (item.sent.has(input) && !this.#mayRepeat(path.with(at, String(item.number)), rest)) {
      item.number += 1;
      item.sent.clear();
    }
    item.sent.add(input);
    return String(item.number);
  }

  #mayRepeat(path: readonly string[], rest: readonly string[]): boolean {
    if (rest.includes("")) return true;
    const field = fieldAt(path, this.#definition);
    return field?.type === "array" || (field?.type === "boolean" && this.#last === JSON.stringify(path));
  }
}

/** The field that a path leads to; undefined if it is not declared. */
function fieldAt(path: readonly string[], definition: SchemaDefinition): FieldDefinition | undefined {
  let fields: Readonly<Record<string, FieldDefinition>> | undefined = definition;
  let field: FieldDefinition | undefined;
  for (const name of path) {
    field = field?.type === "array" ? field.items : fieldIn(fields, name);
    fields = field?.type === "object" ? field.properties : undefined;
  }
  return field;
}

/**
 * Splits the name of an input into a path: `a[b][]` becomes `a`, `b` and an empty text for an item. A declared field with exactly this name
 * comes first.
 */
export function fieldPath(name: string, definition: SchemaDefinition): string[] {
  if (Object.hasOwn(definition, name)) return [name];
  const found = /^([^[\]]+)((?:\[[^[\]]*\])+)$/.exec(name);
  if (found === null) return [name];
  const [, base = "", brackets = ""] = found;
  const inner = brackets.slice(1, -1).split("][");
  return inner.length > MAX_FIELD_DEPTH ? [name] : [base, ...inner];
}

/** The values sent under one name, and the nodes nested below it. */
interface Node {
  readonly values: string[];
  readonly members: Map<string, Node>;
}

function emptyNode(): Node {
  return { values: [], members: new Map() };
}

function nodeAt(root: Node, path: readonly string[]): Node {
  let node = root;
  for (const name of path) {
    let next = node.members.get(name);
    if (next === undefined) {
      next = emptyNode();
      node.members.set(name, next);
    }
    node = next;
  }
  return node;
}

function membersOf(node: Node, fields: Readonly<Record<string, FieldDefinition>>): JsonObject {
  const object: JsonObject = {};
  for (const [name, member] of node.members) {
    if (name === "__proto__") continue;
    const field = fieldIn(fields, name);
    if (mayStayEmpty(field) && !isFilled(member, field)) continue;
    object[name] = valueOf(member, field, name);
  }
  return object;
}

function fieldIn(
  fields: Readonly<Record<string, FieldDefinition>> | undefined,
  name: string,
): FieldDefinition | undefined {
  return fields !== undefined && Object.hasOwn(fields, name) ? fields[name] : undefined;
}

/** Whether an input without content is left out: a list has only the items that were filled in. */
function mayStayEmpty(field: FieldDefinition | undefined): boolean {
  return field?.type === "array" || (field?.type === "object" && field.required !== true);
}

/** Whether an input has more content than unticked boxes. */
function isFilled({ values, members }: Node, field: FieldDefinition | undefined): boolean {
  if (values.some((value) => field?.type !== "boolean" || value !== UNTICKED)) return true;
  return [...members].some(([name, member]) => {
    const inner =
      field?.type === "array"
        ? field.items
        : fieldIn(field?.type === "object" ? field.properties : undefined, name);
    return isFilled(member, inner);
  });
}

/** @param name the name of the value; an item has its list's name */
function valueOf(node: Node, field: FieldDefinition | undefined, name: string): unknown {
  if (field?.type === "array") return itemsOf(node, field.items, name);
  if (node.members.size > 0) {
    if (field === undefined && isList(node)) return itemsOf(node, undefined, name);
    const properties = field?.type === "object" ? (field.properties ?? {}) : {};
    return withPlain(membersOf(node, properties), node.values, { name, properties });
  }
  if (field === undefined && node.values.length > 1) return node.values;
  return scalarOf(node.values.at(-1) ?? "", field);
}

/**
 * Adds what was sent as `a` beside `a[b]` to the members of the object, under the name `a` there, so that it is an undeclared member like
 * any other: it is set aside, kept, dropped or refused as the endpoint says.
 */
function withPlain(
  object: JsonObject,
  values: readonly string[],
  { name, properties }: { readonly name: string; readonly properties: Readonly<Record<string, unknown>> },
): JsonObject {
  if (values.length === 0) return object;
  let free = name;
  while (free === "__proto__" || Object.hasOwn(object, free) || Object.hasOwn(properties, free)) free += "_";
  return { ...object, [free]: values.length === 1 ? values[0] : values };
}

/**
 * The items of a list: those sent as `a`, then as `a[]`, both in their order, then `a[0]` and the like in the order of their numbers, then
 * those of `a[][b]`.
 */
function itemsOf(node: Node, items: FieldDefinition | undefined, name: string): unknown {
  const nested = [...node.members];
  if (!isList(node)) return withPlain(membersOf(node, {}), node.values, { name, properties: {} });
  const numbered = nested
    .filter(([key]) => key !== "")
    .sort(([left], [right]) => Number(left) - Number(right));
  return [
    ...node.values.map((value) => scalarOf(value, items)),
    ...(node.members.get("")?.values ?? []).map((value) => scalarOf(value, items)),
    ...numbered
      .filter(([, member]) => isFilled(member, items))
      .map(([, member]) => valueOf(member, items, name)),
  ];
}

function isList(node: Node): boolean {
  return [...node.members.keys()].every((key) => /^\d{0,6}$/.test(key));
}

function scalarOf(text: string, field: FieldDefinition | undefined): unknown {
  if (field?.type === "number") {
    const trimmed = text.length > MAX_NUMBER_LENGTH ? "" : text.trim();
    const number = NUMBER.test(trimmed) ? Number(trimmed) : Number.NaN;
    return Number.isFinite(number) ? number : text;
  }
  return field?.type === "boolean" && Object.hasOwn(BOOLEANS, text) ? BOOLEANS[text] : text;
}
