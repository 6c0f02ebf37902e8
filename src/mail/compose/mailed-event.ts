import type { FieldLabels } from "../../endpoints/field-labels.ts";
import { plainLines } from "../../foundation/plain-text.ts";
import { valueIn } from "../../languages/value-in-words.ts";
import type { Wording } from "../../languages/wording.ts";
import { type MailBlock, type MailField, paragraph } from "./mail-parts.ts";
import { oneLine } from "./mail-text.ts";
import { shorten } from "../../foundation/shorten.ts";

/** The part of an event that an e-mail shows. Its texts come from a stranger. */
export interface MailedEvent {
  readonly endpointName: string;
  readonly submissionId: string;
  readonly spamScore: number;
  /** The time and its zone, like `2026-11-22 09:41 UTC`. */
  readonly receivedAt: string;
  readonly data: Readonly<Record<string, unknown>>;
  /** Values that the form has no field for, by path. */
  readonly beside: Readonly<Record<string, unknown>>;
  /** The number of such values that were dropped. */
  readonly dropped: number;
}

interface StoredEvent {
  readonly endpoint: { readonly name: string };
  readonly submission: {
    readonly id: string;
    readonly data: Readonly<Record<string, unknown>>;
    readonly unknown_fields?: Readonly<Record<string, unknown>>;
    readonly unknown_fields_dropped?: number;
    readonly spam_score: number;
    readonly created_at: string;
  };
}

/**
 * Reads an event.
 *
 * @param body the event as the outbox stores it.
 * @param timeZone the name of the zone for the time, as in the IANA database.
 */
export function readEvent(body: string, timeZone: string): MailedEvent {
  const { endpoint, submission } = JSON.parse(body) as StoredEvent;
  return {
    endpointName: endpoint.name,
    submissionId: submission.id,
    spamScore: submission.spam_score,
    receivedAt: zonedTime(submission.created_at, timeZone),
    data: submission.data,
    beside: submission.unknown_fields ?? {},
    dropped: submission.unknown_fields_dropped ?? 0,
  };
}

/**
 * A time with the name of its zone, like `2026-11-22 10:41 Europe/Berlin`: the same digits in every language. @param time ISO 8601 in UTC.
 */
export function zonedTime(time: string, timeZone: string): string {
  if (timeZone === UTC) return `${time.slice(0, 16).replace("T", " ")} UTC`;
  return `${minutesIn(timeZone).format(new Date(time)).replace(",", "")} ${timeZone}`;
}

/** The time zone of a workspace that has not chosen one. */
export const UTC = "UTC";

/** The Swedish format of a date is that of ISO 8601. */
const minutesIn = (timeZone: string): Intl.DateTimeFormat =>
  new Intl.DateTimeFormat("sv", { timeZone, dateStyle: "short", timeStyle: "short" });

/** The largest numbers of characters: of one value, and of all labels and values together. */
export interface FieldLimits {
  readonly value: number;
  readonly all: number;
}

const MAX_LABEL_LENGTH = 100;

/** The number of characters that each field costs besides its own, so that the markup of thousands of short fields is bounded too. */
const FIELD_COST = 16;

/** The fields as long as they fit, and whether something is missing. */
export function fieldsOf(
  data: Readonly<Record<string, unknown>>,
  limits: FieldLimits,
  { labels = {}, wording }: { readonly labels?: FieldLabels; readonly wording: Wording },
): { readonly fields: readonly MailField[]; readonly isCut: boolean } {
  const fields: MailField[] = [];
  let room = limits.all;
  let isCut = false;
  for (const [name, given] of Object.entries(data)) {
    const label = oneLine(Object.hasOwn(labels, name) ? (labels[name] ?? name) : name, MAX_LABEL_LENGTH);
    const whole = plainLines(valueIn(given, wording));
    const most = Math.min(limits.value, room - label.length);
    if (most < 2) return { fields, isCut: true };
    const value = shorten(whole, most);
    isCut ||= whole.length > most;
    fields.push({ label, value });
    room -= label.length + value.length + FIELD_COST;
  }
  return { fields, isCut };
}

/** The values that the form has no field for, under a heading; empty if there are none. */
export function besideBlocks(
  { beside, dropped }: MailedEvent,
  limits: FieldLimits,
  wording: Wording,
): MailBlock[] {
  if (dropped === 0 && Object.keys(beside).length === 0) return [];
  const { fields, isCut } = fieldsOf(beside, limits, { wording });
  return [
    { kind: "heading", text: wording.text("beside") },
    ...(fields.length === 0 ? [] : [{ kind: "fields", fields } as const]),
    ...(isCut ? [paragraph(wording.text("partOfItShown"))] : []),
    ...(dropped === 0 ? [] : [paragraph(wording.amount("valuesLost", dropped))]),
  ];
}
