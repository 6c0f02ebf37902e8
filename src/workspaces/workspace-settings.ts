import { query } from "../database/database.ts";
import { raiseSettingsVersion } from "../database/settings-version.ts";
import { first, run, type Steps } from "../database/steps.ts";
import { type Brand, checkBrand, NO_BRAND } from "../foundation/brand.ts";
import { brandOf } from "./workspace-row.ts";
import { checkTimeZone, type Workspace } from "./workspace.ts";

/** The time zone of a workspace's e-mails; null means UTC. */
export function* readTimeZone(workspaceId: string): Steps<string | null> {
  const row = yield* first(query.selectFrom("workspace").select("time_zone").where("id", "=", workspaceId));
  return row?.time_zone ?? null;
}

/** The brand of a workspace; our own look if the workspace is gone. */
export function* readBrand(workspaceId: string): Steps<Brand> {
  const columns = ["brand_colour", "brand_name", "brand_footer"] as const;
  const row = yield* first(query.selectFrom("workspace").select(columns).where("id", "=", workspaceId));
  return row === undefined ? NO_BRAND : brandOf(row);
}

type WorkspaceSettings = Pick<Workspace, "timeZone" | "brand">;

/** Checks settings and returns them in the form that is stored; an empty text becomes null. @throws usage */
export function checkWorkspaceSettings({ timeZone, brand }: WorkspaceSettings): WorkspaceSettings {
  return { timeZone: timeZone === null ? null : checkTimeZone(timeZone), brand: checkBrand(brand) };
}

/** Stores settings. They apply in running servers within a second. @throws usage */
export function* updateSettingsRow(workspace: Workspace, settings: WorkspaceSettings): Steps<Workspace> {
  const { timeZone, brand } = checkWorkspaceSettings(settings);
  const { colour, name, footer } = brand;
  const columns = { time_zone: timeZone, brand_colour: colour, brand_name: name, brand_footer: footer };
  yield* run(query.updateTable("workspace").set(columns).where("id", "=", workspace.id));
  yield* raiseSettingsVersion(workspace.id);
  return { ...workspace, timeZone, brand };
}
