import type { Database } from "../../src/database/database.ts";
import type { Endpoint } from "../../src/endpoints/endpoint.ts";
import type { AutoReply } from "../../src/mail/auto-reply/auto-reply.ts";
import { setReply, turnOffReply } from "../../src/mail/auto-reply/auto-reply-operations.ts";
import { findAutoReplyOf } from "../../src/mail/auto-reply/auto-reply-store.ts";
import type { ReplyChange } from "../../src/mail/auto-reply/check-auto-reply-settings.ts";
import { performOn } from "./terminal.ts";

async function readReply(db: Database, { id }: Endpoint): Promise<AutoReply> {
  const reply = await db.read(() => findAutoReplyOf(id));
  if (reply === undefined) throw new Error("there is no automatic reply");
  return reply;
}

/** Turns on the automatic reply, or changes it, as the command line does. */
export async function setAutoReply(
  db: Database,
  { endpoint, change }: { readonly endpoint: Endpoint; readonly change: ReplyChange },
  now: number,
): Promise<AutoReply> {
  const { replyTo, ...rest } = change;
  const input = { endpoint: endpoint.id, ...rest, ...(replyTo !== undefined && { reply_to: replyTo }) };
  await performOn(db, setReply, input, { now });
  return readReply(db, endpoint);
}

/** Turns off the automatic reply, as the command line does. */
export async function turnOffAutoReply(db: Database, endpoint: Endpoint, now: number): Promise<AutoReply> {
  await performOn(db, turnOffReply, { endpoint: endpoint.id }, { now });
  return readReply(db, endpoint);
}
