import { defaultEndpointSettings } from "../../src/endpoints/endpoint.ts";
import { exampleSchema } from "./example-schema.ts";
import { listWorkspaces } from "../../src/workspaces/workspace-store.ts";
import type { TestEndpoint, TestServer } from "./test-server.ts";
import { visit, type Visitor } from "./visitor.ts";
import { makeEndpoint } from "./terminal.ts";

/** A person who is signed in and has an endpoint in their own workspace. The first one on a server is an operator. */
export interface FormOwner extends Visitor {
  readonly endpoint: TestEndpoint;
}

export async function addFormOwner(server: TestServer, email: string): Promise<FormOwner> {
  const visitor = await visit(server, email);
  return { ...visitor, endpoint: await addEndpointOf(server, visitor, "Contact") };
}

/** Adds one more endpoint to the visitor's workspace. */
export async function addEndpointOf(
  server: TestServer,
  visitor: Visitor,
  name: string,
): Promise<TestEndpoint> {
  const { owner, config, clock } = server;
  const own = owner.now(() => listWorkspaces()).find(({ accountId }) => accountId === visitor.accountId);
  const made = { name, definition: exampleSchema, settings: defaultEndpointSettings };
  const place = { workspace: own?.id ?? null, plans: config.plans, now: clock.now() };
  const { endpoint, secret, publishable } = await makeEndpoint(owner, made, place);
  return {
    id: endpoint.id,
    workspaceId: endpoint.workspaceId,
    secret: secret.text,
    publishable: publishable.text,
  };
}
