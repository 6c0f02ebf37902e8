import { FormsvcError } from "../foundation/errors.ts";
import type {
  ArrayField,
  BooleanField,
  FieldDefinition,
  ObjectField,
  StringField,
} from "./field-definition.ts";
import type { Fields } from "./field-label.ts";

/* How the fields of a schema become inputs of a plain form: in a page of the owner, on the form's own page, and in its preview. */

/** A text with a larger `maxLength` than this gets a text area, which has several lines. */
export const AREA_LENGTH = 200;

/** Whether a text gets a text area. @param name the name of the input in a page */
export function isLongText(name: string, { maxLength }: Pick<StringField, "maxLength">): boolean {
  return (maxLength ?? 0) > AREA_LENGTH || /message|comment|text|notes?\b|question|description/i.test(name);
}

/** Whether a field is a box that must be ticked. A browser asks for the tick before it sends the form. */
export function isConsent({ required, enum: allowed = [] }: BooleanField): boolean {
  return required === true && allowed.length === 1 && allowed[0] === true;
}

/**
 * Whether a field is a box that must send a value even if it is not ticked, because it is required or ticked by default. A browser sends
 * nothing for such a box by itself.
 */
export function isAnswer(field: FieldDefinition): boolean {
  return field.type === "boolean" && !isConsent(field) && (field.required === true || field.default === true);
}

/**
 * The value that an unticked box in a group or row sends. If a group or row may stay empty and has only such values, it was not filled in;
 * otherwise the value means "no".
 */
export const UNTICKED = "unticked";

/** The value that a box sends while it is not ticked; null if it sends none. @param path the names from the top of the form */
export function emptyBoxOf(field: FieldDefinition, path: readonly string[]): string | null {
  if (!isAnswer(field)) return null;
  return path.length === 1 ? "false" : UNTICKED;
}

/** Whether a visitor must fill in this field, if they fill in its group. */
export function isNeeded({ required, default: usual }: FieldDefinition): boolean {
  return required === true && usual === undefined;
}

/** The largest number of choices that are shown as boxes; if there are more, the input is a list, so that the page stays short. */
export const MAX_BOXES = 12;

/** The number of rows that a list of groups has at first, because a page without script cannot add rows. */
const USUAL_ROWS = 3;
/** The largest number of rows of a list of groups in a page. */
export const MAX_ROWS = 10;

/** The number of rows of a list of groups in a page: one more than were sent. */
export function rowsOf({ minItems = 0, maxItems = MAX_ROWS }: ArrayField, sent = 0): number {
  return Math.min(Math.max(USUAL_ROWS, minItems, sent + 1), maxItems, MAX_ROWS);
}

/** The number of rows that must be filled in. */
export function leastRows({ required, minItems = 0 }: ArrayField): number {
  return required === true ? Math.max(1, minItems) : 0;
}

export type Group = ObjectField & Required<Pick<ObjectField, "properties">>;

/** Whether a field is an object with declared members. An object without them has no inputs. */
export function isGroup(field: FieldDefinition | undefined): field is Group {
  return field?.type === "object" && field.properties !== undefined;
}

export function isScalar(field: FieldDefinition | undefined): boolean {
  return field?.type !== "object" && field?.type !== "array";
}

/**
 * Refuses a schema that no plain form can satisfy: there are no inputs for a list of lists, or for a group without declared members. If
 * such a field may stay empty, or a group around it may, the page leaves that out: {@link askedFields}.
 *
 * @throws usage naming the first field that is needed and cannot have an input
 */
export function checkAskable(definition: Fields): void {
  const found = findUnaskable(definition);
  if (found === undefined) return;
  throw new FormsvcError(
    "usage",
    `the form's own page cannot ask for ${JSON.stringify(found)}, which has to be sent: lists of lists, and groups whose members are not named, have no inputs; make it optional, name its members, or leave the page off`,
  );
}

/** Whether a form's own page can satisfy the schema, as {@link checkAskable} says. */
export function isAskable(definition: Fields): boolean {
  return findUnaskable(definition) === undefined;
}

function findUnaskable(definition: Fields): string | undefined {
  return Object.entries(definition).find(([, field]) => isNeeded(field) && !hasInputs(field, false))?.[0];
}

/**
 * The fields that a page asks for, at any depth: those that may stay empty and cannot have inputs are left out. So is a group that may stay
 * empty and needs such a field, because whoever filled in the rest of the group could not send the form.
 */
export function askedFields(fields: Fields, isInRow = false): Fields {
  return Object.fromEntries(
    Object.entries(fields)
      .filter(([, field]) => isNeeded(field) || hasInputs(field, isInRow))
      .map(([name, field]) => [name, askedField(field, isInRow)]),
  );
}

function askedField(field: FieldDefinition, isInRow: boolean): FieldDefinition {
  if (isGroup(field)) return { ...field, properties: askedFields(field.properties, isInRow) };
  if (field.type !== "array" || isInRow || !isGroup(field.items)) return field;
  return { ...field, items: { ...field.items, properties: askedFields(field.items.properties, true) } };
}

/** Whether inputs can send a value that the field accepts. */
function hasInputs(field: FieldDefinition, isInRow: boolean): boolean {
  if (isScalar(field)) return true;
  if (isGroup(field))
    return Object.values(field.properties).every((member) => !isNeeded(member) || hasInputs(member, isInRow));
  if (field.type !== "array") return false;
  const { items } = field;
  // A row cannot contain rows.
  return items === undefined || isScalar(items) || (isGroup(items) && !isInRow && hasInputs(items, true));
}
