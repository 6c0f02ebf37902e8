import { z } from "zod";
import { findReachableEndpoint } from "../endpoints/endpoint-store.ts";
import { changed, operation } from "../operations/operation.ts";

/** Which tool was called by whom, about what; never its arguments, and never what it answered. */
export const noteCall = operation({
  name: "mcp.called",
  summary: "Note that an agent called a tool",
  kind: "write",
  access: "mcp",
  input: z.strictObject({
    tool: z.string(),
    ids: z.array(z.string()).readonly().describe("What the call was about."),
    endpoint: z.string().nullable().default(null).describe("The endpoint that all of it belongs to."),
  }),
  output: z.strictObject({}),
  *run(context, { tool, ids, endpoint: id }) {
    const endpoint = id === null ? undefined : yield* findReachableEndpoint(context, id);
    const workspaceId = endpoint?.workspaceId ?? context.viewing.reach?.workspaceId ?? null;
    return changed({}, { subject: ids.join(" "), workspaceId, detail: tool });
  },
});
