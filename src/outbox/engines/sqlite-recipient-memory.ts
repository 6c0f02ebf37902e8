import { BoundedMap } from "../../foundation/bounded-map.ts";
import type { SqliteDatabase } from "../../database/sqlite/sqlite-database.ts";

/** What queueing needs to know of a recipient. */
export interface KnownRecipient {
  readonly id: string;
  readonly kind: string;
  readonly max_spam_score: number;
  readonly endpoint_name: string;
  /** As `recipient.conditions` has them; null for none. */
  readonly conditions: string | null;
}

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

export const RECIPIENTS_OF_ENDPOINT_SQL = `SELECT recipient.id, recipient.kind, recipient.max_spam_score,
    recipient.conditions, endpoint.name AS endpoint_name
  FROM recipient JOIN endpoint ON endpoint.id = recipient.endpoint_id
  WHERE recipient.endpoint_id = ? AND recipient.confirmed_at IS NOT NULL`;

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
