import { z } from "zod";
import { query } from "../database/database.ts";
import { run, type Steps } from "../database/steps.ts";
import { raiseSettingsVersion } from "../database/settings-version.ts";
import { changed, type Context, operation } from "../operations/operation.ts";
import { endpointJson, endpointShape } from "./endpoint-json.ts";
import { changeOf, endpointReference } from "./endpoint-operations.ts";
import { getEndpoint, reachEndpoint, updateEndpointRow } from "./endpoint-store.ts";

/** Rows deleted in one transaction, so that posts to other endpoints never wait long for it. */
const BATCH_SIZE = 500;

/** Deletes at most `limit` rows of an endpoint. Returns the number deleted. */
export type DeleteContents = (endpointId: string, limit: number) => Steps<number>;

/** What belongs to endpoints in other folders, deleted in this order. */
interface Parts {
  readonly endpointContents: readonly DeleteContents[];
}

/**
 * The endpoint is paused first and deleted last. It is recorded before that: if this is interrupted, it is seen who deleted, and
 * deleting again finishes it. Usage already counted stays. The output is the endpoint as it was.
 */
export const deleteEndpoint = operation({
  name: "endpoint.delete",
  summary: "Delete an endpoint with its keys, schemas and all its submissions",
  kind: "danger",
  access: "endpoints:delete",
  input: z.strictObject(endpointReference),
  output: z.strictObject({ endpoint: endpointShape }),
  async *run(context: Context<Parts>, reference) {
    const { db, parts } = context;
    // Durable: that it is gone may be known of the primary alone.
    const endpoint = await context.transact(function* () {
      const found = yield* reachEndpoint(context, reference);
      return changed(found, changeOf(found));
    });
    const { id } = endpoint;
    await db.transaction(function* () {
      yield* updateEndpointRow(yield* getEndpoint(id), { state: "paused" });
    });
    let done = 0;
    for (const deleteBatch of parts.endpointContents) {
      let deleted: number;
      do {
        deleted = await db.transaction(() => deleteBatch(id, BATCH_SIZE));
        done += deleted;
        yield { done, total: null };
      } while (deleted === BATCH_SIZE);
    }
    await db.transaction(function* () {
      yield* run(query.deleteFrom("endpoint").where("id", "=", id));
      yield* raiseSettingsVersion();
    });
    return { endpoint: endpointJson(endpoint) };
  },
});
