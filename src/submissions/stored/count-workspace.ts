import { first, type Steps, text } from "../../database/steps.ts";

/** The contents of a workspace, shown before somebody deletes it. */
interface WorkspaceCounts {
  readonly endpoints: number;
  readonly submissions: number;
  /** The number of held posts. */
  readonly held: number;
}

const COUNT_SQL = `SELECT
  (SELECT count(*) FROM endpoint WHERE workspace_id = ?) AS endpoints,
  (SELECT count(*) FROM submission WHERE endpoint_number IN (
    SELECT number FROM endpoint_number JOIN endpoint ON endpoint.id = endpoint_id WHERE workspace_id = ?)) AS submissions,
  (SELECT count(*) FROM held WHERE endpoint_id IN (SELECT id FROM endpoint WHERE workspace_id = ?)) AS held`;

export function* countContentsOf(workspaceId: string): Steps<WorkspaceCounts> {
  const none = { endpoints: 0, submissions: 0, held: 0 };
  return (yield* first(text<WorkspaceCounts>(COUNT_SQL, workspaceId, workspaceId, workspaceId))) ?? none;
}
