import { BoundedMap } from "../../foundation/bounded-map.ts";
import type { SqliteDatabase } from "../../database/sqlite/sqlite-database.ts";
import { type KnownRecipient, RECIPIENTS_OF_ENDPOINT_SQL } from "../queue/choose-recipients.ts";

/** The recipients of each endpoint in memory. They are read once, and again after another process has written. */
export interface RecipientMemory {
  /** Call inside the transaction that queues messages: no other process can change the recipients until it ends. */
  read(endpointId: string): readonly KnownRecipient[];
  /** Call when that transaction has ended. */
  endTransaction(): void;
  /** Call after this process changed recipients. Changes by other processes are noticed. */
  forget(): void;
}

/** The largest number of endpoints whose recipients are held in memory. */
const MAX_KNOWN_ENDPOINTS = 5000;

export function createRecipientMemory(db: SqliteDatabase): RecipientMemory {
  const select = db.prepare(RECIPIENTS_OF_ENDPOINT_SQL);
  const dataVersion = db.prepare("PRAGMA data_version").pluck();
  const byEndpoint = new BoundedMap<string, readonly KnownRecipient[]>(MAX_KNOWN_ENDPOINTS);
  let seenVersion: unknown = null;
  let isUpToDate = false;
  return {
    read(endpointId) {
      // No other process can change a recipient inside the transaction, so one check of the data version for each transaction is exact.
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
