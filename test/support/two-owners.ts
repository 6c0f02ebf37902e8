import type { Database } from "../../src/database/database.ts";
import { defaultEndpointSettings } from "../../src/endpoints/endpoint.ts";
import { insertEndpointRow } from "../../src/endpoints/endpoint-store.ts";
import { newId } from "../../src/foundation/id.ts";
import type { Scope } from "../../src/operations/access.ts";
import type { Actor } from "../../src/operations/actor.ts";
import { exampleSchema } from "./example-schema.ts";
import { insertAccountRows } from "../../src/workspaces/workspace-store.ts";
import type { Workspace } from "../../src/workspaces/workspace.ts";
import { storeSubmissions } from "./add-submission.ts";
import { write } from "./engines.ts";
import { NOON } from "./fake-clock.ts";

export const plans = { hobby: { monthlySubmissions: null, endpoints: null, customSpam: false } };
const ALL: readonly Scope[] = ["submissions:write", "submissions:export"];

/** Adds a form with one submission and one held post. */
async function addForm(db: Database, workspace: Workspace, name: string) {
  const made = { name, definition: exampleSchema, settings: defaultEndpointSettings };
  const { id: endpoint } = await db.transaction(() => insertEndpointRow(workspace, made, plans, NOON));
  const [submission = ""] = await storeSubmissions(db, [
    { endpointId: endpoint, data: { name }, createdAt: NOON },
  ]);
  const held = newId("held", NOON);
  await write(
    db,
    `INSERT INTO held (id, workspace_id, endpoint_id, why, trapped, schema_version, data, spam_score, spam_reasons,
       ip_address, user_agent, created_at)
     VALUES ('${held}', '${workspace.id}', '${endpoint}', 'spam', 0, 1, '{"name":"${name}"}', 90, '[]', '', '', ${NOON})`,
  );
  return { endpoint, submission, held };
}

/** Makes two owners: Ben has two forms, Cleo has one. */
export async function twoOwners(db: Database) {
  const add = async (email: string) => {
    const { account, workspace } = await db.transaction(() => insertAccountRows(email, NOON));
    const identity = { accountId: account.id, email, isOperator: false };
    return { identity, workspace };
  };
  await add("ada@example.com");
  const [ben, cleo] = [await add("ben@example.com"), await add("cleo@example.com")];
  const [shop, jobs] = [await addForm(db, ben.workspace, "Shop"), await addForm(db, ben.workspace, "Jobs")];
  const hers = await addForm(db, cleo.workspace, "Contact");
  const actor: Actor = { kind: "account", ...ben.identity };
  const bound = (account: typeof ben.identity | null, scopes = ALL): Actor => ({
    kind: "token",
    tokenId: "tok_1",
    name: "CI",
    account,
    scopes,
    reach: { workspaceId: ben.workspace.id, endpointId: shop.endpoint },
  });
  return { ben, cleo, shop, jobs, hers, actor, bound };
}
