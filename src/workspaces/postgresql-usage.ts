import type { BatchStatement } from "../database/postgresql/batch-connection.ts";

/** The number of accepted submissions of one workspace and month. */
export interface UsedRow {
  readonly workspace_id: string;
  /** `YYYY-MM`, UTC. */
  readonly month: string;
  readonly used: number;
}

const WANTED = "wanted (workspace_id, month)";

/** Reads counts and locks them until the transaction ends. Parameters: the workspaces, and the month of each. Missing rows are left out. */
export const LOCK_USAGE: BatchStatement = {
  name: "lock_usage",
  text: `SELECT usage.workspace_id, usage.month, usage.used FROM unnest($1::text[], $2::text[]) AS ${WANTED}
    JOIN usage ON usage.workspace_id = wanted.workspace_id AND usage.month = wanted.month
    ORDER BY usage.workspace_id, usage.month FOR UPDATE OF usage`,
};

/**
 * Inserts the missing rows, with the same parameters as {@link LOCK_USAGE}. If somebody is deleting a workspace, this waits for it and
 * inserts no row.
 */
export const ADD_USAGE: BatchStatement = {
  name: "add_usage",
  text: `INSERT INTO usage (workspace_id, month, used)
    SELECT workspace.id, wanted.month, 0 FROM unnest($1::text[], $2::text[]) AS ${WANTED} JOIN workspace ON workspace.id = wanted.workspace_id
    ORDER BY workspace.id, wanted.month FOR KEY SHARE OF workspace ON CONFLICT DO NOTHING`,
};

/** Writes counts that are locked. The parameter is a JSON array of {@link UsedRow}. */
export const WRITE_USAGE: BatchStatement = {
  name: "write_usage",
  text: `UPDATE usage SET used = counted.used
    FROM json_to_recordset($1::json) AS counted(workspace_id text, month text, used bigint)
    WHERE usage.workspace_id = counted.workspace_id AND usage.month = counted.month`,
};
