import { z } from "zod";
import { query } from "../database/database.ts";
import { first, run, type Steps, text } from "../database/steps.ts";
import { raiseSettingsVersion } from "../database/settings-version.ts";
import { FormsvcError } from "../foundation/errors.ts";
import { plainText } from "../foundation/plain-text.ts";
import { changed, type Context, operation, type Outcome } from "../operations/operation.ts";
import { deleteContents, type EndpointParts } from "./endpoint-contents.ts";
import { endpointJson, endpointShape } from "./endpoint-json.ts";
import type { Endpoint } from "./endpoint.ts";
import { changeOf, endpointReference } from "./endpoint-operations.ts";
import { getEndpoint, reachEndpoint, updateEndpointRow } from "./endpoint-store.ts";

/**
 * The endpoint is paused first and deleted last. The change is recorded before, so that after an interruption the record shows who deleted
 * it; deleting it again finishes the work. Usage already counted stays. The output is the endpoint as it was.
 */
export const deleteEndpoint = operation({
  name: "endpoint.delete",
  summary: "Delete an endpoint with its keys, schemas and all its submissions",
  kind: "danger",
  access: "endpoints:delete",
  input: z.strictObject({
    ...endpointReference,
    only_empty: z
      .boolean()
      .default(false)
      .describe("Whether an endpoint that has submissions or held posts is not deleted."),
  }),
  output: z.strictObject({ endpoint: endpointShape }),
  async *run(context: Context<EndpointParts>, { only_empty: onlyEmpty, ...reference }) {
    const { db } = context;
    if (onlyEmpty)
      return { endpoint: endpointJson(await context.transact(() => deleteEmpty(context, reference))) };
    // A durable transaction, because it may be only the primary that knows that the endpoint is gone.
    const endpoint = await context.transact(function* () {
      const found = yield* reachEndpoint(context, reference);
      return changed(found, changeOf(found));
    });
    const { id } = endpoint;
    await db.transaction(function* () {
      yield* updateEndpointRow(yield* getEndpoint(id), { state: "paused" });
    });
    yield* deleteContents(context, id);
    await db.transaction(() => deleteEndpointRow(id));
    return { endpoint: endpointJson(endpoint) };
  },
});

const HAS_POSTS_SQL = `SELECT EXISTS (SELECT 1 FROM submission JOIN endpoint_number ON number = endpoint_number WHERE endpoint_id = ?)
  OR EXISTS (SELECT 1 FROM held WHERE endpoint_id = ?) AS found`;

/**
 * Deletes an endpoint without contents in one transaction. A post either comes before and keeps the endpoint, or comes after and does not
 * find it.
 *
 * @throws conflict
 */
function* deleteEmpty(
  context: Context<EndpointParts>,
  reference: { readonly endpoint: string; readonly workspace: string | null },
): Steps<Outcome<Endpoint>> {
  const endpoint = yield* reachEndpoint(context, reference);
  const { id, name } = endpoint;
  const posts = yield* first(text<{ found: unknown }>(HAS_POSTS_SQL, id, id));
  if (posts?.found)
    throw new FormsvcError(
      "conflict",
      `${plainText(name)} (${id}) has submissions or held posts; nothing was deleted`,
    );
  yield* deleteEndpointRow(id);
  return changed(endpoint, changeOf(endpoint));
}

function* deleteEndpointRow(id: string): Steps<void> {
  yield* run(query.deleteFrom("endpoint").where("id", "=", id));
  yield* raiseSettingsVersion(id);
}
