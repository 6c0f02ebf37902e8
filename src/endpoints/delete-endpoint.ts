import { type Database, query } from "../database/database.ts";
import { run, type Steps } from "../database/steps.ts";
import { raiseSettingsVersion } from "../database/settings-version.ts";
import type { Endpoint } from "./endpoint.ts";
import { getEndpoint, updateEndpoint } from "./endpoint-store.ts";

/** Rows deleted in one transaction, so that posts to other endpoints never wait long for it. */
const BATCH_SIZE = 500;

/** Deletes at most `limit` rows of an endpoint. Returns the number deleted. */
export type DeleteContents = (endpointId: string, limit: number) => Steps<number>;

/**
 * Deletes the endpoint with its keys, schemas and submissions. The endpoint is paused first and deleted last: if this is
 * interrupted, doing it again finishes it. Usage already counted stays.
 *
 * @param contents of other folders, deleted in their order. @param pause between two transactions, for others to write.
 * @returns the endpoint as it was. @throws not_found, ambiguous
 */
export async function deleteEndpoint(
  db: Database,
  reference: string,
  contents: readonly DeleteContents[],
  pause: () => Promise<void>,
): Promise<Endpoint> {
  // Durable: that it is gone may be known of the primary alone.
  const endpoint = await db.transaction(() => getEndpoint(reference));
  const { id } = endpoint;
  await db.transaction(() => updateEndpoint(id, { state: "paused" }));
  for (const deleteBatch of contents) {
    let deleted: number;
    do {
      deleted = await db.transaction(() => deleteBatch(id, BATCH_SIZE));
      await pause();
    } while (deleted === BATCH_SIZE);
  }
  await db.transaction(function* () {
    yield* run(query.deleteFrom("endpoint").where("id", "=", id));
    yield* raiseSettingsVersion();
  });
  return endpoint;
}
