import { type Database, query } from "../../database/database.ts";
import { first, run, type Steps } from "../../database/steps.ts";
import type { Clock } from "../../foundation/clock.ts";
import { maintenanceFailed, proxyUntrusted } from "../../foundation/events.ts";
import { isPrivate } from "../../foundation/ip-address.ts";
import type { Log } from "../../foundation/log.ts";
import { HOUR_MS } from "../../foundation/time-units.ts";

/** The shortest time between two notes, because every request may cause one. */
const NOTE_INTERVAL_MS = HOUR_MS;

/** An address of this machine or its local network that sent `X-Forwarded-For` and is not a trusted proxy. */
export interface UntrustedProxy {
  readonly address: string;
  readonly seenAt: number;
}

/**
 * Notes in the log and the database, at most once an hour, that requests seem to come through a proxy that `server.trustProxy` does not
 * name. Called for every peer that sends `X-Forwarded-For` and is not trusted. A peer with a public address is ignored, because anybody can
 * invent the header.
 */
export function createProxyWatch(db: Database, clock: Clock, log: Log): (peer: string) => void {
  let notedAt = -Infinity;
  return (peer) => {
    const now = clock.now();
    // The absolute value, so that notes go on after the clock was set back.
    if (Math.abs(now - notedAt) < NOTE_INTERVAL_MS || !isPrivate(peer)) return;
    notedAt = now;
    proxyUntrusted(log, { address: peer });
    db.transaction(() => noteUntrustedProxy({ address: peer, seenAt: now })).catch((error: unknown) =>
      maintenanceFailed(log, error),
    );
  };
}

/** The address that was noted last; null if there is none. */
export function* findUntrustedProxy(): Steps<UntrustedProxy | null> {
  const row = yield* first(query.selectFrom("untrusted_proxy").select(["address", "seen_at"]));
  return row === undefined ? null : { address: row.address, seenAt: row.seen_at };
}

function* noteUntrustedProxy({ address, seenAt }: UntrustedProxy): Steps<void> {
  const noted = { address, seen_at: seenAt };
  yield* run(
    query
      .insertInto("untrusted_proxy")
      .values({ id: 1, ...noted })
      .onConflict((known) => known.column("id").doUpdateSet(noted)),
  );
}
