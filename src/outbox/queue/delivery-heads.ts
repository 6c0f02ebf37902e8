import type { Head } from "../../database/database.ts";
import { LOST_MS } from "../../database/live-servers.ts";
import type { Deliverer } from "../sending/deliverer.ts";

/**
 * Gives a new value at each look while anything waits, so that a server always notices it. The newest row is found at once, however many
 * rows were deleted before it.
 */
const WAITING_SQL = `SELECT CASE WHEN (SELECT number FROM outbox ORDER BY number DESC LIMIT 1) IS NOT NULL
  THEN clock_timestamp() END`;
const SERVERS_SQL = `SELECT string_agg(id, ' ' ORDER BY id) FROM live_server
  WHERE seen_at > (extract(epoch FROM clock_timestamp()) * 1000)::bigint - ${LOST_MS}`;

/** The changes that a deliverer notices by the pulse: messages that other servers queued, and servers that come and go. */
export function deliveryHeads(deliverer: Pick<Deliverer, "look" | "reload">): readonly Head[] {
  return [
    { sql: WAITING_SQL, onChange: () => deliverer.look(), isNotified: true },
    { sql: SERVERS_SQL, onChange: () => deliverer.reload() },
  ];
}
