import { FormsvcError } from "../foundation/errors.ts";
import type {
  ArrayField,
  BooleanField,
  FieldDefinition,
  ObjectField,
  StringField,
} from "./field-definition.ts";
import type { Fields } from "./field-label.ts";

/* What a field is as an input of a plain form, in a page of the owner's, on the form's own page, and in its preview. */

/** A text that may be longer gets more than one line. */
export const AREA_LENGTH = 200;

/** Whether a text gets more than one line. @param name what the input is called in a page */
export function isLongText(name: string, { maxLength }: Pick<StringField, "maxLength">): boolean {
  return (maxLength ?? 0) > AREA_LENGTH || /message|comment|text|notes?\b|question|description/i.test(name);
}

/** A box that must be ticked: a browser then asks for it before it sends. */
export function isConsent({ required, enum: allowed = [] }: BooleanField): boolean {
  return required === true && allowed.length === 1 && allowed[0] === true;
}

/** A box whose "no" has to be sent: it is required, or is "yes" by itself. A browser sends nothing for an empty box. */
export function isAnswer(field: FieldDefinition): boolean {
  return field.type === "boolean" && !isConsent(field) && (field.required === true || field.default === true);
}

/**
 * What an empty box in a group or row sends. A group or row that may stay empty, and has nothing else, was not filled in; in any other it
 * means "no".
 */
export const UNTICKED = "unticked";

/** What such a box sends while it is empty. @param path of names, from the top of the form */
export function emptyBoxOf(field: FieldDefinition, path: readonly string[]): string | null {
  if (!isAnswer(field)) return null;
  return path.length === 1 ? "false" : UNTICKED;
}

/** Whether whoever fills in its group has to fill it in. */
export function isNeeded({ required, default: usual }: FieldDefinition): boolean {
  return required === true && usual === undefined;
}

/** Choices that are boxes to tick; more are a list, so that the page stays short. */
export const MAX_BOXES = 12;

/** Rows that a list of groups has without being asked for more: a page without script cannot add any. */
const USUAL_ROWS = 3;
/** The largest number of rows. */
export const MAX_ROWS = 10;

/** How many rows a list of groups is shown with: one more than was sent. */
export function rowsOf({ minItems = 0, maxItems = MAX_ROWS }: ArrayField, sent = 0): number {
  return Math.min(Math.max(USUAL_ROWS, minItems, sent + 1), maxItems, MAX_ROWS);
}

/** How many rows have to be filled in. */
export function leastRows({ required, minItems = 0 }: ArrayField): number {
  return required === true ? Math.max(1, minItems) : 0;
}

export type Group = ObjectField & Required<Pick<ObjectField, "properties">>;

/** Whether its members are declared: others have no inputs. */
export function isGroup(field: FieldDefinition | undefined): field is Group {
  return field?.type === "object" && field.properties !== undefined;
}

export function isScalar(field: FieldDefinition | undefined): boolean {
  return field?.type !== "object" && field?.type !== "array";
}

/**
 * Refuses a schema that no plain form can satisfy: a list of lists, and a group without declared members, have no inputs. Those that
 * may stay empty are left out of a page.
 *
 * @throws usage naming the first field that has to be sent and cannot be asked for
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
    // Rows have no rows.
    if (isGroup(items) && !isInRow)
      return Object.values(items.properties).some((member) => isUnaskable(member, true));
  }
  return field.required === true && field.default === undefined;
}
