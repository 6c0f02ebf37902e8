import { BoundedMap } from "../../foundation/bounded-map.ts";

/** Statements that are remembered. Some differ by a number, so there is no end of them. */
const MAX_REMEMBERED = 1000;

/**
 * Statements are written once, in the SQL that both engines know, and with two functions of SQLite's that PostgreSQL has under
 * another name. `list-parameter.ts` alone writes the first.
 */
const NAMES: ReadonlyMap<string, string> = new Map([
  ["json_each", "json_array_elements_text"],
  ["instr", "strpos"],
]);

/** A text, a quoted name, a parameter, the choice of an index, or a word. Anything else stays as it is. */
const TOKEN = /'(?:[^']|'')*'|"(?:[^"]|"")*"|\?|\bINDEXED BY \w+|\b[A-Za-z_]\w*/g;

const known = new BoundedMap<string, string>(MAX_REMEMBERED);

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
    known.set(sql, translated);
  }
  return translated;
}

/** PostgreSQL's text has no NUL. What a receiver answered may have one; JSON writes it as an escape. */
export function toParameter(value: unknown): unknown {
  return typeof value === "string" && value.includes("\0") ? value.replaceAll("\0", "\uFFFD") : value;
}
