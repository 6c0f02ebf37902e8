import type { Client } from "pg";

/** How many rows a table of PostgreSQL gets, and in which columns they differ from its first row, as SQL with `number`. */
interface Growth {
  readonly rows: number;
  readonly given: Readonly<Record<string, string>>;
}

/** A statement that adds rows to a table which has one. */
export async function growSql(
  client: Client,
  table: string,
  { rows: count, given }: Growth,
): Promise<string> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT column_name AS name FROM information_schema.columns
     WHERE table_schema = current_schema() AND table_name = $1 AND is_identity = 'NO'`,
    [table],
  );
  const names = rows.map(({ name }) => name);
  return `INSERT INTO ${table} (${names.join(", ")}) SELECT ${names.map((name) => given[name] ?? `like_it.${name}`).join(", ")}
    FROM (SELECT * FROM ${table} LIMIT 1) AS like_it CROSS JOIN generate_series(1, ${count}) AS number`;
}
