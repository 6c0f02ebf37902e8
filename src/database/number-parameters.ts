/** A text, a cast, or a parameter by its name. */
const TOKEN = /'(?:[^']|'')*'|::|:([a-z]\w*)/g;

interface Numbered {
  /** With `$1`, `$2` and so on. */
  readonly sql: string;
  /** Of the parameters, in the order of their numbers. */
  readonly names: readonly string[];
}

/** By the statements. They are constants of the code, so their number is bounded. */
const known = new Map<string, Numbered>();

/** A statement of PostgreSQL's whose parameters have names, with numbers in place of them. One name has one number. */
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

/** A text, a quoted name, or a parameter. */
const MARKED = /'(?:[^']|'')*'|"(?:[^"]|"")*"|\?/g;

/** The same for a statement with `?` for each parameter. */
export function numberMarks(sql: string): string {
  let marks = 0;
  return sql.replaceAll(MARKED, (token) => (token === "?" ? `$${(marks += 1)}` : token));
}
