import type { Database } from "../database/database.ts";
import { findEndpoint } from "../endpoints/endpoint-store.ts";
import { type FieldLabels, readLabels } from "../endpoints/field-labels.ts";
import { FormsvcError } from "../foundation/errors.ts";

/** Reads the labels of an endpoint's fields. None if the database does not answer: a message with names is better than none. */
export function labelReader(db: Database): (endpointId: string) => Promise<FieldLabels> {
  return async (endpointId) => {
    try {
      return await db.read(function* () {
        const endpoint = yield* findEndpoint(endpointId);
        return endpoint === undefined ? {} : ((yield* readLabels(endpoint)) ?? {});
      });
    } catch (error) {
      if (!(error instanceof FormsvcError)) throw error;
      return {};
    }
  };
}
