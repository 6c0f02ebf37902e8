import { z } from "zod";
import { toIsoTime } from "../../foundation/clock.ts";
import type { AutoReply } from "./auto-reply.ts";
import type { FullLimit, ReplyLimits } from "./reply-limits.ts";

/** What is shown of an endpoint's automatic reply. */
export interface ShownAutoReply {
  readonly endpointId: string;
  /** The automatic reply; undefined if the endpoint never had one. */
  readonly reply: AutoReply | undefined;
  readonly replyTo: string | null;
  /** The limits that hold for its workspace. */
  readonly limits: ReplyLimits;
  /** The limit that keeps the next reply back; null if none does, or if the reply is off. */
  readonly fullLimit: FullLimit | null;
}

export const autoReplyShape = z.strictObject({
  endpoint_id: z.string(),
  recipient_id: z.string().nullable(),
  state: z.enum(["on", "off"]),
  field: z
    .string()
    .nullable()
    .describe("The name of the field, of format email, with the address that gets the reply."),
  subject: z.string().nullable().describe("The template of the subject; null is the built-in one."),
  text: z.string().nullable().describe("The template of the text; null is the built-in one."),
  reply_to: z
    .string()
    .nullable()
    .describe("The address that gets answers to the reply; null is `mail.from`."),
  on_since: z.string().nullable(),
  last_sent_at: z.string().nullable(),
  limit_reached: z.enum(["endpoint", "workspace", "service"]).nullable(),
});

/** An automatic reply as every JSON output shows it. One that never existed is shown as off. */
export function autoReplyJson({
  endpointId,
  reply,
  replyTo,
  fullLimit,
}: ShownAutoReply): z.output<typeof autoReplyShape> {
  const { id = null, settings, onSince = null, sentAt = null } = reply ?? {};
  return {
    endpoint_id: endpointId,
    recipient_id: id,
    state: onSince === null ? "off" : "on",
    field: settings?.field ?? null,
    subject: settings?.subject ?? null,
    text: settings?.text ?? null,
    reply_to: replyTo,
    on_since: onSince === null ? null : toIsoTime(onSince),
    last_sent_at: sentAt === null ? null : toIsoTime(sentAt),
    limit_reached: fullLimit,
  };
}
