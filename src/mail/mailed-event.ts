import type { FieldLabels } from "../endpoints/field-labels.ts";
import { plainLines } from "../foundation/plain-text.ts";
import { valueIn } from "../languages/value-in-words.ts";
import type { Wording } from "../languages/wording.ts";
import { type MailBlock, type MailField, paragraph } from "./mail-parts.ts";
import { oneLine, shorten } from "./mail-text.ts";

/** What an e-mail shows of an event of the outbox. The texts are a stranger's. */
export interface MailedEvent {
  readonly endpointName: string;
  readonly submissionId: string;
  readonly spamScore: number;
  /** `2026-11-22 09:41 UTC`, in the zone that the reader is told. */
  readonly receivedAt: string;
  readonly data: Readonly<Record<string, unknown>>;
  /** What was sent beyond the form's fields, by path. */
  readonly beside: Readonly<Record<string, unknown>>;
  /** How many such values had no room. */
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
 * @param body the event as the outbox stores it.
 * @param timeZone by its name in the IANA database.
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

/** `2026-11-22 10:41 Europe/Berlin`: the same digits in every language. @param time as ISO 8601, in UTC. */
export function zonedTime(time: string, timeZone: string): string {
  if (timeZone === UTC) return `${time.slice(0, 16).replace("T", " ")} UTC`;
  return `${minutesIn(timeZone).format(new Date(time)).replace(",", "")} ${timeZone}`;
}

/** What a workspace has that chose no zone. */
export const UTC = "UTC";

/** Sweden writes a date as ISO 8601 does. */
const minutesIn = (timeZone: string): Intl.DateTimeFormat =>
  new Intl.DateTimeFormat("sv", { timeZone, dateStyle: "short", timeStyle: "short" });

/** Characters of one value, and of all labels and values together. */
export interface FieldLimits {
  readonly value: number;
  readonly all: number;
}

const MAX_LABEL_LENGTH = 100;

/** Characters that a field counts for besides its own, so that the markup of thousands of short ones is bounded too. */
const FIELD_COST = 16;

/** The fields as far as they fit, and whether anything of them is missing. */
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

/** What was sent beyond the form's fields, under a heading of its own; nothing if nothing was. */
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
