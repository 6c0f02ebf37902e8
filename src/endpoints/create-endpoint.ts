import { z } from "zod";
import { type PreparedKey, prepareKey, storeKey } from "../keys/issue-key.ts";
import type { KeyKind } from "../keys/key-format.ts";
import { jsonObject } from "../operations/json-object.ts";
import { shownOnce } from "../operations/marks.ts";
import { onlyNew, thereByNow } from "../operations/only-new.ts";
import { changed, operation } from "../operations/operation.ts";
import { plainText } from "../foundation/plain-text.ts";
import { parseDefinition } from "../schemas/definition.ts";
import { checkAskable } from "../schemas/form-inputs.ts";
import { toIsoTime } from "../foundation/clock.ts";
import { reachWorkspace } from "../workspaces/reach.ts";
import { findStanding, refusalOf } from "../workspaces/standing.ts";
import { defaultEndpointSettings } from "./endpoint.ts";
import { settingsInput, settingsOf } from "./endpoint-json.ts";
import { changeOf } from "./endpoint-operations.ts";
import { insertEndpointRow, listEndpoints } from "./endpoint-store.ts";

/**
 * Stores all of the endpoint or nothing. From the command line, an empty database gets its first account and workspace. An actor who may
 * not issue secret keys, like an editor, gets none with the endpoint; an owner issues one when a program needs it.
 */
export const createEndpoint = operation({
  name: "endpoint.create",
  summary: "Make an endpoint and its keys, which are shown this once: the secret one for owners only",
  kind: "write",
  access: "endpoints:create",
  furtherAccess: ["keys:secret"],
  input: z.strictObject({
    name: z.string(),
    schema: jsonObject.describe("The schema: the fields by name."),
    workspace: z
      .string()
      .nullable()
      .default(null)
      .describe("Id or name of the workspace; null is the only workspace there is."),
    ...settingsInput.shape,
    only_new: onlyNew("an endpoint of the workspace has the name"),
  }),
  output: z.strictObject({
    endpoint: z.strictObject({
      id: z.string(),
      name: z.string(),
      workspace_id: z.string(),
      schema: jsonObject,
      created_at: z.string(),
    }),
    keys: shownOnce(
      z.strictObject({
        secret: z.string().nullable().describe("The secret key; null for an editor, who may issue none."),
        publishable: z.string(),
      }),
    ),
  }),
  async run(context, { name, schema, workspace, only_new: isOnlyNew, ...input }) {
    const definition = parseDefinition(schema);
    const prepare = (kind: KeyKind): Promise<PreparedKey> => prepareKey(kind, workspace ?? "");
    const [secret, publishable] = await Promise.all([prepare("secret"), prepare("publishable")]);
    const settings = { ...defaultEndpointSettings, ...settingsOf(input) };
    if (settings.page.isOn) checkAskable(definition);
    const { config, now } = context;
    return context.transact(function* () {
      const owner = yield* reachWorkspace(context, workspace);
      const made = { name, definition, settings };
      if (isOnlyNew && (yield* listEndpoints(owner.id)).some((each) => each.name === name))
        throw thereByNow(`the endpoint ${plainText(name)}`);
      const endpoint = yield* insertEndpointRow(owner, made, config.plans, now);
      const standing = yield* findStanding(context.viewing, owner.id);
      const hasSecret = standing !== null && refusalOf(standing, "keys:secret") === null;
      const keys = {
        secret: hasSecret ? (yield* storeKey(endpoint.id, secret, now)).text : null,
        publishable: (yield* storeKey(endpoint.id, publishable, now)).text,
      };
      const { id, workspaceId, createdAt } = endpoint;
      const shown = { id, name: endpoint.name, workspace_id: workspaceId };
      return changed(
        { endpoint: { ...shown, schema: definition, created_at: toIsoTime(createdAt) }, keys },
        changeOf(endpoint),
      );
    });
  },
});
