import { z } from "zod";
import { jsonObject } from "../operations/json-object.ts";
import { changed, operation } from "../operations/operation.ts";
import { parseDefinition } from "../schemas/definition.ts";
import { checkAskable } from "../schemas/form-inputs.ts";
import { mayAlso } from "../workspaces/reach.ts";
import { changeOf, endpointReference } from "./endpoint-operations.ts";
import { listLostFields, lostFieldsShape } from "./lost-fields.ts";
import { insertSchemaVersionRow, reachEndpoint, readSchema } from "./endpoint-store.ts";

const definition = jsonObject.describe("The schema: the fields by name.");

export const showSchema = operation({
  name: "schema.show",
  summary: "Show the schema that posts to an endpoint are checked with",
  kind: "read",
  access: "endpoints:read",
  input: z.strictObject(endpointReference),
  output: definition,
  *run(context, reference) {
    return yield* readSchema(yield* reachEndpoint(context, reference));
  },
});

export const setSchema = operation({
  name: "schema.set",
  summary: "Replace an endpoint's schema; earlier submissions keep theirs",
  kind: "write",
  access: "endpoints:write",
  input: z.strictObject({
    ...endpointReference,
    schema: definition,
    based_on: z
      .int()
      .nullable()
      .default(null)
      .describe(
        "The version that the new schema was made from: the change is refused if another version is in force. Null replaces any version.",
      ),
  }),
  output: z.strictObject({
    endpoint_id: z.string(),
    schema_version: z.number(),
    lost_fields: lostFieldsShape.optional(),
  }),
  *run(context, { schema, based_on: basedOn, ...reference }) {
    const before = yield* reachEndpoint(context, reference);
    const parsed = parseDefinition(schema);
    if (before.settings.page.isOn) checkAskable(parsed);
    const lost = yield* listLostFields(before.id, yield* readSchema(before), parsed);
    const isShown = lost.length > 0 && (yield* mayAlso(context, "recipients:read", before.workspaceId));
    const endpoint = yield* insertSchemaVersionRow(before, parsed, context.now, basedOn);
    const { id, schemaVersion } = endpoint;
    const stored = { endpoint_id: id, schema_version: schemaVersion };
    return changed({ ...stored, ...(isShown && { lost_fields: lost }) }, changeOf(endpoint));
  },
});
