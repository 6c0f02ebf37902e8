import type { Selectable } from "kysely";
import type { Tables } from "../database/tables.generated.ts";
import type { Brand } from "../foundation/brand.ts";
import type { Workspace } from "./workspace.ts";

type Row = Selectable<Tables["workspace"]>;

export function toWorkspace(row: Row): Workspace {
  const { id, account_id: accountId, name, plan, time_zone: timeZone, created_at: createdAt } = row;
  return { id, accountId, name, plan, timeZone, brand: brandOf(row), createdAt };
}

export function brandOf(row: Pick<Row, "brand_colour" | "brand_name" | "brand_footer">): Brand {
  return { colour: row.brand_colour, name: row.brand_name, footer: row.brand_footer };
}
