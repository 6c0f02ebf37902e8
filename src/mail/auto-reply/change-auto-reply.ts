import { hash } from "node:crypto";
import { type Actor, recordChange } from "../../audit/audit-store.ts";
import type { Database } from "../../database/database.ts";
import type { Steps } from "../../database/steps.ts";
import type { Endpoint } from "../../endpoints/endpoint.ts";
import { FormsvcError } from "../../foundation/errors.ts";
import { plainText } from "../../foundation/plain-text.ts";
import { dropWaiting } from "../../outbox/queue/drop-waiting.ts";
import { setConfirmed, setRecipientEnabled } from "../../outbox/queue/recipient-store.ts";
import { listMailFields } from "../mail-fields.ts";
import type { MailRecipient } from "../mail-recipient.ts";
import { stateOf } from "../mail-recipient-state.ts";
import { listMailRecipients } from "../mail-recipient-store.ts";
import type { AutoReply, AutoReplySettings } from "./auto-reply.ts";
import { findAutoReplyOf, insertAutoReply, updateAutoReply } from "./auto-reply-store.ts";
import { checkReplyWords } from "./check-auto-reply.ts";

/** What commands and pages do to an automatic reply. Each is recorded with who asked for it; null is the command line. */

export interface AutoReplyChange {
  readonly endpoint: Endpoint;
  readonly change: {
    readonly field?: string;
    readonly subject?: string | null;
    readonly text?: string | null;
    /** The address of a recipient of the endpoint. */
    readonly replyTo?: string | null;
  };
  readonly actor: Actor | null;
  /** {@link fingerprintOf} what is changed, as somebody saw it; null changes whatever there is. */
  readonly basedOn?: string | null;
}

/** Changes with every setting, so that two people do not overwrite each other. */
export function fingerprintOf(reply: AutoReply | undefined): string {
  return hash("sha256", JSON.stringify(reply?.settings ?? null), "base64url").slice(0, 22);
}

/**
 * Turns the automatic reply on, with what was not given as it was before. Replies that wait keep their address: with another field they
 * are dropped.
 *
 * @throws usage when a setting is out of its bounds, or no field or several could have the address; not_found when no recipient of the
 *   endpoint has the address for answers; conflict when that one gets no e-mail, or somebody else changed the settings meanwhile
 */
export async function setAutoReply(
  db: Database,
  { endpoint, change, actor, basedOn = null }: AutoReplyChange,
  now: number,
): Promise<AutoReply> {
  const before = await db.transaction(function* () {
    const known = yield* findBase(endpoint, basedOn);
    const settings = yield* settingsFrom(endpoint, known?.settings, change);
    if (known !== undefined && known.settings.field !== settings.field) yield* stop(known.id);
    return known;
  });
  // It is off, or was turned off just now: nothing of another time or field may be sent.
  if (before !== undefined) await dropIfOff(db, endpoint.id, now);
  return db.transaction(function* () {
    const known = yield* findBase(endpoint, basedOn);
    const settings = yield* settingsFrom(endpoint, known?.settings, change);
    const id = known?.id ?? (yield* insertAutoReply(endpoint.id, settings, now));
    yield* updateAutoReply(id, settings);
    if (known === undefined || known.onSince === null) {
      yield* setRecipientEnabled(id, true);
      yield* setConfirmed(id, now);
    }
    yield* recordAutoReplyChange(actor, "set", endpoint, now);
    return yield* getAutoReplyOf(endpoint.id);
  });
}

function* findBase(endpoint: Endpoint, basedOn: string | null): Steps<AutoReply | undefined> {
  const known = yield* findAutoReplyOf(endpoint.id);
  if (basedOn === null || basedOn === fingerprintOf(known)) return known;
  throw new FormsvcError("conflict", "the automatic reply was changed by somebody else meanwhile");
}

/** Turns it off; replies that wait are dropped. Its settings stay for the next time. Undefined if there never was one. */
export async function turnOffAutoReply(
  db: Database,
  endpoint: Endpoint,
  actor: Actor | null,
  now: number,
): Promise<AutoReply | undefined> {
  const known = await db.transaction(function* () {
    const before = yield* findAutoReplyOf(endpoint.id);
    if (before === undefined || before.onSince === null) return before;
    yield* stop(before.id);
    yield* recordAutoReplyChange(actor, "off", endpoint, now);
    return yield* getAutoReplyOf(endpoint.id);
  });
  if (known !== undefined) await dropWaiting(db, known.id, now);
  return known;
}

/** Nothing is queued any more. */
function* stop(id: string): Steps<void> {
  yield* setRecipientEnabled(id, false);
  yield* setConfirmed(id, null);
}

async function dropIfOff(db: Database, endpointId: string, now: number): Promise<void> {
  const known = await db.read(() => findAutoReplyOf(endpointId));
  if (known !== undefined && known.onSince === null) await dropWaiting(db, known.id, now);
}

function* getAutoReplyOf(endpointId: string): Steps<AutoReply> {
  const found = yield* findAutoReplyOf(endpointId);
  if (found === undefined) throw new Error(`endpoint ${endpointId} has no automatic reply`);
  return found;
}

function* settingsFrom(
  endpoint: Endpoint,
  before: AutoReplySettings | undefined,
  { field, replyTo, ...words }: AutoReplyChange["change"],
): Steps<AutoReplySettings> {
  const { subject = before?.subject ?? null, text = before?.text ?? null } = checkReplyWords(words);
  const replyToId =
    replyTo === undefined ? (before?.replyToId ?? null) : yield* recipientOf(endpoint, replyTo);
  return { field: yield* chooseField(endpoint, field ?? before?.field), subject, text, replyToId };
}

/** @param wanted a field's name; undefined takes the only one that there is. */
function* chooseField(endpoint: Endpoint, wanted: string | undefined): Steps<string> {
  const names = yield* listMailFields(endpoint);
  const listed = names.map((name) => JSON.stringify(name)).join(", ");
  if (names.length === 0)
    throw new FormsvcError(
      "usage",
      `${plainText(endpoint.name)} has no field of format email, so nobody can be replied to; give its field for the address that format in the schema.`,
    );
  if (wanted !== undefined) {
    if (names.includes(wanted)) return wanted;
    const why = `${JSON.stringify(wanted)} is not a field of format email`;
    throw new FormsvcError("usage", `${why}; ${plainText(endpoint.name)} has: ${listed}.`);
  }
  const [only = "", ...others] = names;
  if (others.length === 0) return only;
  throw new FormsvcError(
    "usage",
    `Several fields could have the address of the reply: ${listed}; choose one of them as the field.`,
  );
}

/** A stranger's address must not get the answers: so it is one that agreed to e-mail about this endpoint. */
function* recipientOf(endpoint: Endpoint, address: string | null): Steps<string | null> {
  if (address === null) return null;
  const others = yield* listMailRecipients(endpoint.id);
  const found = others.find(({ settings }) => settings.address.toLowerCase() === address.toLowerCase());
  if (found === undefined)
    throw new FormsvcError(
      "not_found",
      `${plainText(address)} is no recipient of ${plainText(endpoint.name)}; only its recipients of e-mail can get the answers`,
      { hint: { kind: "list_recipients" } },
    );
  if (getsAnswers(found)) return found.id;
  throw new FormsvcError("conflict", `${found.settings.address} is ${stateOf(found)}, so it gets no answers`);
}

/** Whether its holder agreed to e-mail and it arrives; one that is only paused gets answers too. */
export function getsAnswers(recipient: MailRecipient): boolean {
  return ["enabled", "disabled"].includes(stateOf(recipient));
}

function* recordAutoReplyChange(
  actor: Actor | null,
  verb: "set" | "off",
  { id: subject, workspaceId }: Endpoint,
  now: number,
): Steps<void> {
  yield* recordChange(actor, { action: `autoreply.${verb}`, subject, workspaceId, detail: null }, now);
}
