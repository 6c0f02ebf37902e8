import type { SchemaDefinition } from "../../schemas/definition.ts";
import { MAX_FIELDS } from "../../schemas/field-definition.ts";
import { NO_PROBLEMS, type Problems } from "../kit/field.ts";
import { assemble, type CheckedDefinition, checkJson, checkRows, JSON_INPUT, rowsOf } from "./schema-form.ts";
import { FIELD_KINDS } from "./field-kinds.ts";
import { afterRetype, calledOf, numberedName } from "./field-row.ts";
import { type FieldRow, ROW_LABELS, type RowInput } from "./schema-words.ts";

/** A schema that somebody edits, as a form of fields or as JSON. It is not checked yet. */
export type SchemaDraft =
  | { readonly view: "form"; readonly rows: readonly FieldRow[] }
  | { readonly view: "json"; readonly json: string };

export interface Drafted {
  readonly draft: SchemaDraft;
  readonly problems: Problems;
}

export function draftOf(definition: SchemaDefinition): SchemaDraft {
  return { view: "form", rows: rowsOf(definition) };
}

const ROW_INPUT = /^f\.(\d{1,4})\.(\w{1,20})$/;

/**
 * Reads the draft that the editor sent. It reads one row more than a schema may have, so that the check finds the excess; further rows are
 * ignored.
 */
export function readDraft(form: URLSearchParams): SchemaDraft {
  if (form.get("view") === "json") return { view: "json", json: form.get(JSON_INPUT) ?? "" };
  const rows = new Map<number, Partial<Record<RowInput, string>>>();
  for (const [name, value] of form) {
    const [, number, input = ""] = ROW_INPUT.exec(name) ?? [];
    if (number === undefined || !Object.hasOwn(ROW_LABELS, input)) continue;
    const row = rows.get(Number(number)) ?? {};
    rows.set(Number(number), { ...row, [input]: value });
  }
  const ordered = [...rows].sort(([left], [right]) => left - right).map(([, row]) => row);
  return { view: "form", rows: ordered.slice(0, MAX_FIELDS + 1) };
}

export function checkDraft(draft: SchemaDraft): CheckedDefinition {
  return draft.view === "json" ? checkJson(draft.json) : checkRows(draft.rows);
}

/**
 * The part of a draft that visitors would see. A field without a name is called by its number. A field with a problem is left out. Null if
 * nothing can be shown.
 */
export function shownOf(draft: SchemaDraft): SchemaDefinition | null {
  if (draft.view === "json") return checkDraft(draft).definition;
  const rows = draft.rows.map((row, index) =>
    calledOf(row) === "" ? { ...row, label: numberedName(index) } : row,
  );
  const checked = checkRows(rows);
  if (checked.definition !== null) return checked.definition;
  const wrong = new Set([...checked.problems.keys()].map((name) => ROW_INPUT.exec(name)?.[1]));
  return checkRows(rows.filter((_row, index) => !wrong.has(String(index)))).definition;
}

/** The problems of a draft; none if it passes the check. */
export function problemsOf(draft: SchemaDraft): Problems {
  const checked = checkDraft(draft);
  return checked.definition === null ? checked.problems : NO_PROBLEMS;
}

/** The draft after a button of the editor was pressed. Any other action leaves it as it is. */
export function editDraft(draft: SchemaDraft, action: string): Drafted {
  if (draft.view === "json") return action === "form" ? toForm(draft) : { draft, problems: NO_PROBLEMS };
  if (action === "json") return toJson(draft.rows);
  return { draft: { view: "form", rows: editRows(draft.rows, action) }, problems: NO_PROBLEMS };
}

function editRows(rows: readonly FieldRow[], action: string): readonly FieldRow[] {
  const kind = FIELD_KINDS.find((each) => action === `add-${each}`);
  if (kind !== undefined) return [...rows, { kind }];
  const change = readRowAction(action, rows.length);
  const row = change === null ? undefined : rows[change.at];
  if (change === null || row === undefined) return rows;
  if (change.verb === "remove") return rows.toSpliced(change.at, 1);
  if (change.verb === "retype") return rows.with(change.at, afterRetype(row));
  return rows.toSpliced(change.at, 1).toSpliced(change.to, 0, row);
}

/** What a button of a row does. */
export interface RowAction {
  readonly verb: "up" | "down" | "move" | "remove" | "retype" | "done";
  readonly at: number;
  /** The row's index afterwards. */
  readonly to: number;
}

/** Reads the action of a row's button; null if it is no such action. @param count the number of rows */
export function readRowAction(action: string, count: number): RowAction | null {
  const [, verb, number, target] = ROW_ACTION.exec(action) ?? [];
  const at = Number(number);
  if (verb === undefined || at >= count || (verb === "move") !== (target !== undefined)) return null;
  const wanted = { up: at - 1, down: at + 1, move: Number(target) }[verb] ?? at;
  return { verb: verb as RowAction["verb"], at, to: Math.min(Math.max(wanted, 0), count - 1) };
}

const ROW_ACTION = /^(up|down|move|remove|retype|done)-(\d{1,4})(?:-(\d{1,4}))?$/;

/** Turns rows into JSON. Everything in the rows can be written as JSON, except fields without a name or with the same name. */
function toJson(rows: readonly FieldRow[]): Drafted {
  const { fields, problems } = assemble(rows);
  if (problems.size > 0) return { draft: { view: "form", rows }, problems };
  return { draft: { view: "json", json: JSON.stringify(fields, null, 2) }, problems };
}

/** Turns JSON into rows. The form can show every valid schema; an invalid one stays JSON, with its problems. */
function toForm(draft: { readonly view: "json"; readonly json: string }): Drafted {
  const checked = checkJson(draft.json);
  if (checked.definition === null) return { draft, problems: checked.problems };
  return { draft: draftOf(checked.definition), problems: NO_PROBLEMS };
}
