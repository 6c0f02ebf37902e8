import type { Database } from "../../src/database/database.ts";
import { createEndpoint } from "../../src/endpoints/create-endpoint.ts";
import type { Scope } from "../../src/operations/access.ts";
import type { Actor, Reach } from "../../src/operations/actor.ts";
import { exampleSchema } from "./example-schema.ts";
import { insertAccountRows } from "../../src/workspaces/workspace-store.ts";
import { NOON } from "./fake-clock.ts";
import { temporaryDatabase } from "./temporary-database.ts";
import { performOn } from "./terminal.ts";

/** An account as the `account` of a token's actor names it. */
export interface Identity {
  readonly accountId: string;
  readonly email: string;
  readonly isOperator: boolean;
}

/** Makes the actor of a token. @param of the account that owns the token; null if a workspace owns it */
export function tokenOf(of: Identity | null, scopes: readonly Scope[], reach: Reach | null = null): Actor {
  return { kind: "token", tokenId: "tok_1", name: "CI", account: of, scopes, reach };
}

/** Makes the accounts and forms of {@link threeOwnersOn} in a database on SQLite, for tests whose result is the same on each engine. */
export async function threeOwners() {
  const db = temporaryDatabase();
  return { db, ...(await threeOwnersOn(db)) };
}

/** Makes three accounts: Ada is an operator, Ben and Cleo are not. Each has a form, and all forms have the same name. */
export async function threeOwnersOn(db: Database) {
  const owners = [];
  for (const email of ["ada@example.com", "ben@example.com", "cleo@example.com"]) {
    const { account, workspace } = await db.transaction(() => insertAccountRows(email, NOON));
    const input = { name: "Contact", schema: exampleSchema, workspace: workspace.id };
    const { endpoint } = await performOn(db, createEndpoint, input);
    const identity: Identity = { accountId: account.id, email, isOperator: account.isOperator };
    const actor: Actor = { kind: "account", ...identity };
    owners.push({ actor, identity, workspace: workspace.id, endpoint: endpoint.id });
  }
  const [ada, ben, cleo] = owners as [(typeof owners)[0], (typeof owners)[0], (typeof owners)[0]];
  return { ada, ben, cleo };
}
