type Fields = Readonly<Record<string, { readonly type: string; readonly format?: unknown }>>;

/** The names of the fields that hold an e-mail address, in their order. */
export function mailFieldsOf(schema: Fields): string[] {
  return Object.entries(schema).flatMap(([name, field]) =>
    field.type === "string" && field.format === "email" ? [name] : [],
  );
}
