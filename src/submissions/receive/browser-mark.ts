import type { Database } from "../../database/database.ts";
import { BoundedMap } from "../../foundation/bounded-map.ts";
import type { Clock } from "../../foundation/clock.ts";
import { keySeenInBrowser, maintenanceFailed } from "../../foundation/events.ts";
import type { Log } from "../../foundation/log.ts";
import { markSeenInBrowser } from "../../keys/key-store.ts";
import type { Caller } from "./authenticate.ts";
import { HOUR_MS } from "../../foundation/time-units.ts";

/** The shortest time between two notes that a browser sent the same key. */
const BROWSER_MARK_INTERVAL_MS = HOUR_MS;
/** The largest number of keys whose last note is remembered. */
const MAX_BROWSER_MARKS = 1000;

/** Notes that a browser sent a secret key; at most once an hour for each key, because the page may be busy. */
export function createBrowserMark(db: Database, clock: Clock, log: Log): (caller: Caller) => void {
  const marked = new BoundedMap<string, number>(MAX_BROWSER_MARKS);
  return ({ key }) => {
    const now = clock.now();
    if (now - (marked.get(key.id) ?? -Infinity) < BROWSER_MARK_INTERVAL_MS) return;
    marked.set(key.id, now);
    keySeenInBrowser(log, { keyId: key.id, endpointId: key.endpointId });
    db.transaction(() => markSeenInBrowser(key, now)).catch((error: unknown) =>
      maintenanceFailed(log, error),
    );
  };
}
