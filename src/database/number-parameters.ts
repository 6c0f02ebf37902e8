/** Matches a text literal, a cast, or a named parameter. */
const TOKEN = /'(?:[^']|'')*'|::|:([a-z]\w*)/g;

interface Numbered {
  /** The statement with `$1`, `$2` and so on. */
  readonly sql: string;
  /** The names of the parameters, in the order of their numbers. */
  readonly names: readonly string[];
}

/** The results, by statement. Statements are constants of the code, so their number is bounded. */
const known = new Map<string, Numbered>();

/** Replaces the named parameters of a PostgreSQL statement by numbered ones. The same name always has the same number. */
export function numberParameters(sql: string): Numbered {
  let numbered = known.get(sql);
  if (numbered === undefined) {
    const names: string[] = [];
    const text = sql.replaceAll(TOKEN, (token, name?: string) => {
      if (name === undefined) return token;
      if (!names.includes(name)) names.push(name);
      return `$${names.indexOf(name) + 1}`;
    });
    numbered = { sql: text, names };
    known.set(sql, numbered);
  }
  return numbered;
}

/** Matches a text literal, a quoted name, or a parameter. */
const MARKED = /'(?:[^']|'')*'|"(?:[^"]|"")*"|\?/g;

/** Replaces each `?` of a statement by a numbered parameter. */
export function numberMarks(sql: string): string {
  let marks = 0;
  return sql.replaceAll(MARKED, (token) => (token === "?" ? `$${(marks += 1)}` : token));
}
