import type { BooleanField, FieldDefinition, StringField } from "./field-definition.ts";

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
