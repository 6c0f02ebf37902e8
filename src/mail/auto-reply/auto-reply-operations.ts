import { hash } from "node:crypto";
import { z } from "zod";
import type { Steps } from "../../database/steps.ts";
import { endpointReference } from "../../endpoints/endpoint-operations.ts";
import { reachEndpoint } from "../../endpoints/endpoint-store.ts";
import type { Endpoint } from "../../endpoints/endpoint.ts";
import { FormsvcError } from "../../foundation/errors.ts";
import type { Access } from "../../operations/access.ts";
import { changed, type Context, type OwnChange, operation } from "../../operations/operation.ts";
import { dropWaiting } from "../../outbox/queue/drop-waiting.ts";
import { setConfirmed, setRecipientEnabled } from "../../outbox/queue/recipient-store.ts";
import { requireAlso } from "../../workspaces/reach.ts";
import type { AutoReply, AutoReplySettings } from "./auto-reply.ts";
import { autoReplyJson, autoReplyShape } from "./auto-reply-json.ts";
import { findAutoReplyOf, insertAutoReplyRows, updateAutoReplyRow } from "./auto-reply-store.ts";
import { type ReplyChange, settingsFrom } from "./check-auto-reply-settings.ts";
import { replyLimitsOf } from "./reply-limits.ts";
import { showAutoReply } from "./show-auto-reply.ts";

/** The access that is also needed to turn the reply on, or to change who gets the reply or the answers. */
const furtherAccess: readonly Access[] = ["recipients:direct"];

const output = z.strictObject({ auto_reply: autoReplyShape });

export const showReply = operation({
  name: "autoreply.show",
  summary: "Show an endpoint's automatic reply",
  kind: "read",
  access: "recipients:read",
  input: z.strictObject(endpointReference),
  output,
  *run(context, reference) {
    return yield* shown(context, yield* reachEndpoint(context, reference));
  },
});

/** Sets the reply. Waiting replies were addressed by the old field, so they are dropped when the field changes. */
export const setReply = operation({
  name: "autoreply.set",
  summary: "Turn on an endpoint's automatic reply, or change it; what is not named stays",
  kind: "write",
  access: "recipients:write",
  furtherAccess,
  input: z.strictObject({
    ...endpointReference,
    field: z
      .string()
      .optional()
      .describe("The name of the field, of format email, with the address that gets the reply."),
    subject: z
      .string()
      .nullable()
      .optional()
      .describe("The template of the subject; null is the built-in one."),
    text: z.string().nullable().optional().describe("The template of the text; null is the built-in one."),
    reply_to: z
      .string()
      .nullable()
      .optional()
      .describe(
        "The address of a recipient of the endpoint that gets answers to the reply; null is `mail.from`.",
      ),
  }),
  output,
  async run(context, { field, subject, text, reply_to: replyTo, ...reference }) {
    const { db, now } = context;
    const change: ReplyChange = {
      ...(field !== undefined && { field }),
      ...(subject !== undefined && { subject }),
      ...(text !== undefined && { text }),
      ...(replyTo !== undefined && { replyTo }),
    };
    const before = await context.transact(function* () {
      const endpoint = yield* reachEndpoint(context, reference);
      const known = yield* findAutoReplyOf(endpoint.id);
      const settings = yield* settingsFrom(endpoint, known?.settings, change);
      if (isLedElsewhere(known, settings))
        for (const access of furtherAccess) yield* requireAlso(context, access, endpoint.workspaceId);
      if (known !== undefined && known.settings.field !== settings.field) yield* stop(known.id);
      return changed(known);
    });
    // The reply is off, or was turned off just now. What still waits is dropped: nothing from before, or for another field, may be sent.
    if (before !== undefined) await dropIfOff(db, before.endpointId, now);
    return context.transact(function* () {
      const endpoint = yield* reachEndpoint(context, reference);
      const known = yield* findAutoReplyOf(endpoint.id);
      if (fingerprintOf(known) !== fingerprintOf(before)) throw changedMeanwhile();
      const settings = yield* settingsFrom(endpoint, known?.settings, change);
      yield* turnOn(endpoint, known, settings, now);
      return changed(yield* shown(context, endpoint), changeOf(endpoint));
    });
  },
});

export const turnOffReply = operation({
  name: "autoreply.off",
  summary:
    "Turn an endpoint's automatic reply off; what waits is not sent, and the text stays for the next time",
  kind: "write",
  access: "recipients:write",
  input: z.strictObject(endpointReference),
  output,
  async run(context, reference) {
    const { db, now } = context;
    const { id, done } = await context.transact(function* () {
      const endpoint = yield* reachEndpoint(context, reference);
      const known = yield* findAutoReplyOf(endpoint.id);
      const isOn = known !== undefined && known.onSince !== null;
      if (isOn) yield* stop(known.id);
      const outcome = { id: known?.id ?? null, done: yield* shown(context, endpoint) };
      return changed(outcome, ...(isOn ? [changeOf(endpoint)] : []));
    });
    if (id !== null) await dropWaiting(db, id, now);
    return done;
  },
});

/** A hash that changes with every setting, so that two people do not overwrite each other's changes. */
export function fingerprintOf(reply: AutoReply | undefined): string {
  return hash("sha256", JSON.stringify(reply?.settings ?? null), "base64url").slice(0, 22);
}

/** @throws conflict */
export function changedMeanwhile(): FormsvcError {
  return new FormsvcError("conflict", "the automatic reply was changed by somebody else meanwhile");
}

/** Whether the new settings send replies or answers to other addresses than before. */
function isLedElsewhere(known: AutoReply | undefined, { field, replyToId }: AutoReplySettings): boolean {
  if (known === undefined || known.onSince === null) return true;
  return known.settings.field !== field || known.settings.replyToId !== replyToId;
}

function* turnOn(
  { id: endpointId }: Endpoint,
  known: AutoReply | undefined,
  settings: AutoReplySettings,
  now: number,
): Steps<void> {
  const id = known?.id ?? (yield* insertAutoReplyRows(endpointId, settings, now));
  yield* updateAutoReplyRow(id, settings);
  if (known !== undefined && known.onSince !== null) return;
  yield* setRecipientEnabled(id, true);
  yield* setConfirmed(id, now);
}

/** Turns the reply off: nothing more is queued. */
function* stop(id: string): Steps<void> {
  yield* setRecipientEnabled(id, false);
  yield* setConfirmed(id, null);
}

async function dropIfOff(db: Context["db"], endpointId: string, now: number): Promise<void> {
  const known = await db.read(() => findAutoReplyOf(endpointId));
  if (known !== undefined && known.onSince === null) await dropWaiting(db, known.id, now);
}

function* shown({ config, now }: Context, endpoint: Endpoint): Steps<z.output<typeof output>> {
  return { auto_reply: autoReplyJson(yield* showAutoReply(endpoint, replyLimitsOf(config), now)) };
}

function changeOf({ id: subject, workspaceId }: Endpoint): OwnChange {
  return { subject, workspaceId, detail: null };
}
