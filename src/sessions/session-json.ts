import { toIsoTime } from "../foundation/clock.ts";
import type { Session } from "./session.ts";

/** A session as every JSON output shows it. */
export function sessionJson({ id, createdAt, seenAt, userAgent, ipAddress }: Session) {
  return {
    id,
    created_at: toIsoTime(createdAt),
    seen_at: toIsoTime(seenAt),
    user_agent: userAgent,
    ip_address: ipAddress,
  };
}
