import { plainLines } from "../foundation/plain-text.ts";
import { oneLine, shorten } from "./render-mail.ts";

/** What an e-mail shows of an event of the outbox. The texts are a stranger's. */
export interface MailedEvent {
  readonly endpointName: string;
  readonly submissionId: string;
  /** ISO 8601. */
  readonly createdAt: string;
  readonly data: Readonly<Record<string, unknown>>;
}

export interface MailedField {
  readonly label: string;
  /** May have several lines. */
  readonly value: string;
}

const MAX_LABEL_LENGTH = 100;

interface StoredEvent {
  readonly endpoint: { readonly name: string };
  readonly submission: {
    readonly id: string;
    readonly data: Readonly<Record<string, unknown>>;
    readonly created_at: string;
  };
}

/** @param body the event as the outbox stores it. */
export function readEvent(body: Buffer): MailedEvent {
  const { endpoint, submission } = JSON.parse(body.toString()) as StoredEvent;
  const { id, data, created_at: createdAt } = submission;
  return { endpointName: endpoint.name, submissionId: id, createdAt, data };
}

/** The value of a field as text; anything but text is shown as JSON. */
export function fieldText(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** Limits in characters: of one value, and of all labels and values together. */
export interface FieldLimits {
  readonly value: number;
  readonly all: number;
}

/** The fields that fit, and whether anything of them is missing. */
export function fieldsOf(
  data: Readonly<Record<string, unknown>>,
  limits: FieldLimits,
): { readonly fields: readonly MailedField[]; readonly isCut: boolean } {
  const fields: MailedField[] = [];
  let room = limits.all;
  let isCut = false;
  for (const [name, given] of Object.entries(data)) {
    const label = oneLine(name, MAX_LABEL_LENGTH);
    const whole = plainLines(fieldText(given));
    const most = Math.min(limits.value, room - label.length);
    if (most <= 1) return { fields, isCut: true };
    const value = shorten(whole, most);
    isCut ||= whole.length > most;
    fields.push({ label, value });
    room -= label.length + value.length;
  }
  return { fields, isCut };
}
