import { z } from "zod";
import type { FeedChange } from "../../audit/audit-feed.ts";
import type { Doer } from "../../audit/audit-store.ts";
import type { Steps } from "../../database/steps.ts";
import { getEndpoint } from "../../endpoints/endpoint-store.ts";
import { toIsoTime } from "../../foundation/clock.ts";
import type { Submission } from "../stored/submission.ts";

export const eventShape = z.strictObject({
  id: z.string(),
  type: z.string().describe("`submission.stored`, or the name of what was done, like `endpoint.set`."),
  at: z.string(),
  actor: z.strictObject({
    kind: z.enum(["account", "token", "terminal", "visitor", "server"]),
    id: z.string().nullable(),
    name: z
      .string()
      .nullable()
      .describe(
        "The name of the actor. The e-mail address of an account is shown only to those who may see members.",
      ),
  }),
  workspace_id: z.string().nullable(),
  ids: z.array(z.string()).describe("The ids of what the event is about."),
});

export type EventJson = z.output<typeof eventShape>;

export function* storedEvent({ id, endpointId, createdAt }: Submission): Steps<EventJson> {
  return {
    id,
    type: "submission.stored",
    at: toIsoTime(createdAt),
    actor: { kind: "visitor", id: null, name: null },
    workspace_id: (yield* getEndpoint(endpointId)).workspaceId,
    ids: [id, endpointId],
  };
}

export function changeEvent({ id, action, at, actor, workspaceId, subject }: FeedChange): EventJson {
  return {
    id: `change_${id}`,
    type: action,
    at: toIsoTime(at),
    actor: actorJson(actor),
    workspace_id: workspaceId,
    ids: [subject],
  };
}

function actorJson(doer: Doer): EventJson["actor"] {
  if (doer === null) return { kind: "server", id: null, name: null };
  if (doer === "visitor") return { kind: "visitor", id: null, name: null };
  if ("terminalUser" in doer) return { kind: "terminal", id: null, name: doer.terminalUser };
  if ("tokenId" in doer) return { kind: "token", id: doer.tokenId, name: doer.tokenName };
  return { kind: "account", id: doer.accountId, name: doer.email };
}
