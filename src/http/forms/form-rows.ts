import type { SchemaDefinition } from "../../schemas/definition.ts";
import type { FieldDefinition } from "../../schemas/field-definition.ts";
import { isGroup, MAX_ROWS, UNTICKED } from "../../schemas/form-inputs.ts";
import { fieldPath, type FormEntry } from "../../submissions/receive/coerce-form.ts";

/*
 * Lists of groups on the form's own page. Each item is a row of inputs, `guests[0][name]` and so on. A row that is left empty is not an
 * item.
 */

/** The numbers of the rows that were sent with content, in ascending order, by the name of the list's input. */
export type Rows = ReadonlyMap<string, readonly number[]>;

export const NO_ROWS: Rows = new Map();

export function isShownRow(name: string): boolean {
  return /^\d$/.test(name) && Number(name) < MAX_ROWS;
}

interface Row {
  /** The index of the row's number in the path. */
  readonly depth: number;
  readonly members: SchemaDefinition;
}

/** The row that a path leads into; null if it leads into none. */
export function rowAt(path: readonly string[], definition: SchemaDefinition): Row | null {
  let fields: SchemaDefinition = definition;
  for (const [depth, name] of path.entries()) {
    const field: FieldDefinition | undefined = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (field?.type === "array" && isGroup(field.items)) {
      const number = path[depth + 1] ?? "";
      if (!/^\d{1,6}$/.test(number)) return null;
      return { depth: depth + 1, members: field.items.properties };
    }
    if (!isGroup(field)) return null;
    fields = field.properties;
  }
  return null;
}

export function readRows(entries: readonly FormEntry[], definition: SchemaDefinition): Rows {
  const rows = new Map<string, Set<number>>();
  for (const [name, value] of entries) {
    const path = fieldPath(name, definition);
    const row = value === "" ? null : rowAt(path, definition);
    if (row === null || (value === UNTICKED && isBox(path.slice(row.depth + 1), row.members))) continue;
    const list = listName(path, row);
    rows.set(list, (rows.get(list) ?? new Set()).add(Number(path[row.depth])));
  }
  return new Map([...rows].map(([list, numbers]) => [list, [...numbers].toSorted((a, b) => a - b)]));
}

function isBox(path: readonly string[], members: SchemaDefinition): boolean {
  let fields: SchemaDefinition = members;
  let field: FieldDefinition | undefined;
  for (const name of path) {
    field = Object.hasOwn(fields, name) ? fields[name] : undefined;
    fields = isGroup(field) ? field.properties : {};
  }
  return field?.type === "boolean";
}

/**
 * The path with the row's number replaced by its position among the items. The validator counts like this: rows that were left empty are
 * not items.
 */
export function pathInRows(
  path: readonly string[],
  definition: SchemaDefinition,
  rows: Rows,
): readonly string[] {
  const row = rows.size === 0 ? null : rowAt(path, definition);
  if (row === null) return path;
  const position = rows.get(listName(path, row))?.indexOf(Number(path[row.depth])) ?? -1;
  return position === -1 ? path : path.with(row.depth, String(position));
}

function listName([root = "", ...inner]: readonly string[], { depth }: Row): string {
  return (
    root +
    inner
      .slice(0, depth - 1)
      .map((name) => `[${name}]`)
      .join("")
  );
}
