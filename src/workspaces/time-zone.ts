import { query } from "../database/database.ts";
import { first, run, type Steps } from "../database/steps.ts";
import { checkTimeZone, type Workspace } from "./workspace.ts";

/** The time zone of a workspace's e-mails; null is UTC. */
export function* readTimeZone(workspaceId: string): Steps<string | null> {
  const row = yield* first(query.selectFrom("workspace").select("time_zone").where("id", "=", workspaceId));
  return row?.time_zone ?? null;
}

/** @param zone empty for UTC. @throws usage */
export function* updateTimeZoneRow(workspace: Workspace, zone: string): Steps<Workspace> {
  const timeZone = checkTimeZone(zone);
  yield* run(query.updateTable("workspace").set({ time_zone: timeZone }).where("id", "=", workspace.id));
  return { ...workspace, timeZone };
}
