/** The fields of a form, by their names. */
export type ConditionFields = Readonly<Record<string, { readonly label?: string }>>;

/** The label of a field; its name if it has no label or is gone. */
export function called(fields: ConditionFields, name: string): string {
  return (Object.hasOwn(fields, name) ? fields[name]?.label : undefined) ?? name;
}

/**
 * The name of the field that a typed text means: a field with that name, else the only field with that label. An unknown text stays as it
 * is.
 */
export function nameOfCalled(fields: ConditionFields, typed: string): string {
  if (Object.hasOwn(fields, typed)) return typed;
  const wanted = typed.toLowerCase();
  const found = Object.keys(fields).filter(
    (name) => name.toLowerCase() === wanted || called(fields, name).toLowerCase() === wanted,
  );
  return found.length === 1 ? (found[0] ?? typed) : typed;
}

/** The text that stands for a field: its label, unless that would be taken for another field. */
export function typedFor(fields: ConditionFields, name: string): string {
  const label = called(fields, name);
  return nameOfCalled(fields, label) === name ? label : name;
}
