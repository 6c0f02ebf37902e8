import { BoundedMap } from "../../foundation/bounded-map.ts";
import type { SqliteDatabase } from "../../database/sqlite/sqlite-database.ts";
import { type KnownRecipient, RECIPIENTS_OF_ENDPOINT_SQL } from "../queue/choose-recipients.ts";

/** The recipients of each endpoint, read once as long as no other process writes. */
export interface RecipientMemory {
  /** Inside the transaction that queues for them: nobody else can change them until it ends. */
  read(endpointId: string): readonly KnownRecipient[];
  /** Call when that transaction has ended. */
  endTransaction(): void;
  /** This process changed recipients. Changes by other processes are noticed. */
  forget(): void;
}

/** Endpoints whose recipients are held in memory. */
const MAX_KNOWN_ENDPOINTS = 5000;

export function createRecipientMemory(db: SqliteDatabase): RecipientMemory {
  const select = db.prepare(RECIPIENTS_OF_ENDPOINT_SQL);
  const dataVersion = db.prepare("PRAGMA data_version").pluck();
  const byEndpoint = new BoundedMap<string, readonly KnownRecipient[]>(MAX_KNOWN_ENDPOINTS);
  let seenVersion: unknown = null;
  let isUpToDate = false;
  return {
    read(endpointId) {
      // Inside the transaction nobody else can change a recipient, so one look a transaction is exact.
      if (!isUpToDate && dataVersion.get() !== seenVersion) {
        seenVersion = dataVersion.get();
        byEndpoint.clear();
      }
      isUpToDate = true;
      const known = byEndpoint.get(endpointId);
      if (known !== undefined) return known;
      const read = select.all(endpointId) as KnownRecipient[];
      byEndpoint.set(endpointId, read);
      return read;
    },
    endTransaction() {
      isUpToDate = false;
    },
    forget: () => byEndpoint.clear(),
  };
}
