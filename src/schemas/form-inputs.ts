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
 * such a field may stay empty, the page leaves it out.
 *
 * @throws usage naming the first field that is needed and cannot have an input
 */
export function checkAskable(definition: Fields): void {
  const found = Object.entries(definition).find(([, field]) => isUnaskable(field, false));
  if (found === undefined) return;
  throw new FormsvcError(
    "usage",
    `the form's own page cannot ask for ${JSON.stringify(found[0])}, which has to be sent: lists of lists, and groups whose members are not named, have no inputs; make it optional, name its members, or leave the page off`,
  );
}

function isUnaskable(field: FieldDefinition, isInRow: boolean): boolean {
  if (isScalar(field)) return false;
  if (isGroup(field)) return Object.values(field.properties).some((member) => isUnaskable(member, isInRow));
  if (field.type === "array") {
    const { items } = field;
    if (isScalar(items)) return false;
    // A row cannot contain rows.
    if (isGroup(items) && !isInRow)
      return Object.values(items.properties).some((member) => isUnaskable(member, true));
  }
  return field.required === true && field.default === undefined;
}
