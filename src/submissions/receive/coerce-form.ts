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
  for (const [name, value] of entries) {
    if (value !== "") nodeAt(root, fieldPath(name, definition)).values.push(value.replace(/\r\n?/g, "\n"));
  }
  return membersOf(root, definition);
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
    object[name] = valueOf(member, field);
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

function valueOf(node: Node, field: FieldDefinition | undefined): unknown {
  if (field?.type === "array") return itemsOf(node, field.items);
  if (node.members.size > 0) {
    return field === undefined && isList(node)
      ? itemsOf(node, undefined)
      : membersOf(node, field?.type === "object" ? (field.properties ?? {}) : {});
  }
  if (field === undefined && node.values.length > 1) return node.values;
  return scalarOf(node.values.at(-1) ?? "", field);
}

/** The items of a list: those sent as `a`, then as `a[]`, both in their order, then `a[0]` and the like in the order of their numbers. */
function itemsOf(node: Node, items: FieldDefinition | undefined): unknown {
  const nested = [...node.members];
  if (!isList(node)) return membersOf(node, {});
  const numbered = nested
    .filter(([key]) => key !== "")
    .sort(([left], [right]) => Number(left) - Number(right));
  const unnamed = node.members.get("");
  return [
    ...node.values.map((value) => scalarOf(value, items)),
    ...(unnamed?.values ?? []).map((value) => scalarOf(value, items)),
    ...(unnamed !== undefined && unnamed.members.size > 0
      ? [valueOf({ values: [], members: unnamed.members }, items)]
      : []),
    ...numbered.filter(([, member]) => isFilled(member, items)).map(([, member]) => valueOf(member, items)),
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
