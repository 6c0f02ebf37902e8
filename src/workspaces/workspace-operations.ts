import { z } from "zod";
import { operation } from "../operations/operation.ts";
import { workspaceJson, workspaceShape } from "./workspace-json.ts";
import { listViewableWorkspaces } from "./workspace-store.ts";

export const listAllWorkspaces = operation({
  name: "workspace.list",
  summary: "List the workspaces",
  kind: "read",
  access: "workspace:read",
  input: z.strictObject({}),
  output: z.strictObject({ data: z.array(workspaceShape) }),
  *run({ viewing }) {
    return { data: (yield* listViewableWorkspaces(viewing)).map(workspaceJson) };
  },
});
