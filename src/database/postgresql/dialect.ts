/** Statements that are remembered; all are forgotten beyond. Some differ by a number, so there is no end of them. */
const MAX_REMEMBERED = 1000;

/**
 * Statements are written once, in the SQL that both engines know, and with three words of SQLite's that PostgreSQL has under
 * another name. A `LIKE` of SQLite's ignores the case of ASCII letters, as `ILIKE` does in the collation "C" of every column.
 */
const NAMES: ReadonlyMap<string, string> = new Map([
  ["json_each", "json_array_elements_text"],
  ["instr", "strpos"],
  ["LIKE", "ILIKE"],
]);

/** A text, a quoted name, a parameter, the choice of an index, or a word. Anything else stays as it is. */
const TOKEN = /'(?:[^']|'')*'|"(?:[^"]|"")*"|\?|\bINDEXED BY \w+|\b[A-Za-z_]\w*/g;

const known = new Map<string, string>();

/** A statement of {@link Statement} in PostgreSQL's SQL: parameters by number, its own {@link NAMES}, and no named index. */
export function toPostgresql(sql: string): string {
  let translated = known.get(sql);
  if (translated === undefined) {
    let parameters = 0;
    translated = sql.replaceAll(TOKEN, (token) => {
      if (token === "?") return `$${(parameters += 1)}`;
      // PostgreSQL chooses an index by what it knows of the rows.
      if (token.startsWith("INDEXED BY ")) return "";
      return NAMES.get(token) ?? token;
    });
    if (known.size >= MAX_REMEMBERED) known.clear();
    known.set(sql, translated);
  }
  return translated;
}

/** PostgreSQL's text has no NUL. What a receiver answered may have one; JSON writes it as an escape. */
export function toParameter(value: unknown): unknown {
  return typeof value === "string" && value.includes("\0") ? value.replaceAll("\0", "\uFFFD") : value;
}
