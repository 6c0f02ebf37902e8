import type { Database } from "../database/database.ts";
import { type IssuedKey, prepareKey, storeKey } from "../keys/issue-key.ts";
import type { KeyKind } from "../keys/key-format.ts";
import { getEndpoint } from "./endpoint-store.ts";

/** Issues a further key of an endpoint, by its id or unique name. @throws not_found, ambiguous */
export async function addKey(db: Database, endpoint: string, kind: KeyKind, now: number): Promise<IssuedKey> {
  const { id } = await db.read(() => getEndpoint(endpoint));
  const prepared = await prepareKey(kind);
  return db.transaction(function* () {
    // It may have been deleted while the key was hashed.
    return yield* storeKey((yield* getEndpoint(id)).id, prepared, now);
  });
}
