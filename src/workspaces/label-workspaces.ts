import { all, type Steps, text } from "../database/steps.ts";
import { LISTED, listParameter } from "../database/list-parameter.ts";

const LABELS_SQL = `SELECT workspace.id AS id, name, email FROM workspace
  JOIN account ON account.id = workspace.account_id WHERE workspace.id IN ${LISTED}`;

/** The names of these workspaces, by id, but those that several of these workspaces have stand with the account, and the id if that is the same too. */
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
