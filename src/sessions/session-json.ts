import { z } from "zod";
import { toIsoTime } from "../foundation/clock.ts";
import type { Session } from "./session.ts";

/** A session as every JSON output shows it. */
export const sessionShape = z.strictObject({
  id: z.string(),
  created_at: z.string(),
  seen_at: z.string(),
  user_agent: z.string(),
  ip_address: z.string().nullable(),
});

export function sessionJson({
  id,
  createdAt,
  seenAt,
  userAgent,
  ipAddress,
}: Session): z.output<typeof sessionShape> {
  return {
    id,
    created_at: toIsoTime(createdAt),
    seen_at: toIsoTime(seenAt),
    user_agent: userAgent,
    ip_address: ipAddress,
  };
}
