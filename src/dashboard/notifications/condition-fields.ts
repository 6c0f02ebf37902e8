/** Of a form, by their names. */
export type ConditionFields = Readonly<Record<string, { readonly label?: string }>>;

/** As its owner and visitors read it; its name if it has no label, or is gone. */
export function called(fields: ConditionFields, name: string): string {
  return (Object.hasOwn(fields, name) ? fields[name]?.label : undefined) ?? name;
}

/** The name of the field that somebody calls so: by its name, else by what only one is called. What is unknown stays as it was typed. */
export function nameOfCalled(fields: ConditionFields, typed: string): string {
  if (Object.hasOwn(fields, typed)) return typed;
  const wanted = typed.toLowerCase();
  const found = Object.keys(fields).filter(
    (name) => name.toLowerCase() === wanted || called(fields, name).toLowerCase() === wanted,
  );
  return found.length === 1 ? (found[0] ?? typed) : typed;
}

/** What to type for it: its label, unless that would be taken for another field. */
export function typedFor(fields: ConditionFields, name: string): string {
  const label = called(fields, name);
  return nameOfCalled(fields, label) === name ? label : name;
}
