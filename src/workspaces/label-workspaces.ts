import { all, type Steps, text } from "../database/steps.ts";
import { LISTED, listParameter } from "../database/list-parameter.ts";

const LABELS_SQL = `SELECT workspace.id AS id, name, email FROM workspace
  JOIN account ON account.id = workspace.account_id WHERE workspace.id IN ${LISTED}`;

/**
 * A label for each of these workspaces, by id. It is the name; if several of them have the same name, the name with the account's address;
 * if that is the same too, the name with the id.
 */
export function* labelWorkspaces(ids: readonly string[]): Steps<ReadonlyMap<string, string>> {
  const rows = yield* all(text<{ id: string; name: string; email: string }>(LABELS_SQL, listParameter(ids)));
  const namesakes = Map.groupBy(rows, ({ name }) => name);
  const label = ({ id, name, email }: (typeof rows)[number]): string => {
    const same = namesakes.get(name) ?? [];
    if (same.length < 2) return name;
    return same.filter((one) => one.email === email).length < 2 ? `${name} (${email})` : `${name} (${id})`;
  };
  return new Map(rows.map((row) => [row.id, label(row)]));
}
