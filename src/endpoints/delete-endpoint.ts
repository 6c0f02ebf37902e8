import { type Database, query } from "../database/database.ts";
import { run } from "../database/steps.ts";
import { raiseSettingsVersion } from "../database/settings-version.ts";
import type { Endpoint } from "./endpoint.ts";
import { findEndpoint, updateEndpoint } from "./endpoint-store.ts";

/** Rows deleted in one transaction, so that posts to other endpoints never wait long for it. */
const BATCH_SIZE = 500;

/**
 * Deletes the endpoint with its keys, schemas and submissions. It is paused first, and goes last: where this is cut off,
 * doing it again finishes it. Usage already counted stays.
 *
 * @param pause between two transactions, for others to write.
 * @returns the endpoint as it was. @throws not_found, ambiguous
 */
export async function deleteEndpoint(
  db: Database,
  reference: string,
  pause: () => Promise<void>,
): Promise<Endpoint> {
  const endpoint = await db.read(() => findEndpoint(reference));
  const { id } = endpoint;
  await db.transaction(() => updateEndpoint(id, { state: "paused" }));
  const submissions = query
    .selectFrom("submission")
    .innerJoin("endpoint_number", "number", "endpoint_number")
    .select("id")
    .where("endpoint_id", "=", id)
    .limit(BATCH_SIZE);
  const keys = query
    .selectFrom("idempotency")
    .select(["kind", "key_hash"])
    .where("endpoint_id", "=", id)
    .limit(BATCH_SIZE)
    .$asTuple("kind", "key_hash");
  const batches = [
    query.deleteFrom("submission").where("id", "in", submissions),
    query
      .deleteFrom("idempotency")
      .where("endpoint_id", "=", id)
      .where((eb) => eb(eb.refTuple("kind", "key_hash"), "in", keys)),
  ];
  for (const batch of batches) {
    let deleted: number;
    do {
      deleted = await db.transaction(() => run(batch));
      await pause();
    } while (deleted === BATCH_SIZE);
  }
  await db.transaction(function* () {
    yield* run(query.deleteFrom("endpoint").where("id", "=", id));
    yield* raiseSettingsVersion();
  });
  return endpoint;
}
