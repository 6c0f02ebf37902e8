import { plainLines } from "../foundation/plain-text.ts";
import type { MailField } from "./mail-parts.ts";
import { oneLine, shorten } from "./mail-text.ts";

/** What an e-mail shows of an event of the outbox. The texts are a stranger's. */
export interface MailedEvent {
  readonly endpointName: string;
  readonly submissionId: string;
  readonly spamScore: number;
  /** `2026-11-22 09:41 UTC` */
  readonly receivedAt: string;
  readonly data: Readonly<Record<string, unknown>>;
}

interface StoredEvent {
  readonly endpoint: { readonly name: string };
  readonly submission: {
    readonly id: string;
    readonly data: Readonly<Record<string, unknown>>;
    readonly spam_score: number;
    readonly created_at: string;
  };
}

/** @param body the event as the outbox stores it. */
export function readEvent(body: string): MailedEvent {
  const { endpoint, submission } = JSON.parse(body) as StoredEvent;
  return {
    endpointName: endpoint.name,
    submissionId: submission.id,
    spamScore: submission.spam_score,
    receivedAt: `${submission.created_at.slice(0, 16).replace("T", " ")} UTC`,
    data: submission.data,
  };
}

/** The value of a field as text; anything but text as JSON. */
export function fieldText(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** Characters of one value, and of all labels and values together. */
export interface FieldLimits {
  readonly value: number;
  readonly all: number;
}

const MAX_LABEL_LENGTH = 100;

/** The fields as far as they fit, and whether anything of them is missing. */
export function fieldsOf(
  data: Readonly<Record<string, unknown>>,
  limits: FieldLimits,
): { readonly fields: readonly MailField[]; readonly isCut: boolean } {
  const fields: MailField[] = [];
  let room = limits.all;
  let isCut = false;
  for (const [name, given] of Object.entries(data)) {
    const label = oneLine(name, MAX_LABEL_LENGTH);
    const whole = plainLines(fieldText(given));
    const most = Math.min(limits.value, room - label.length);
    if (most < 2) return { fields, isCut: true };
    const value = shorten(whole, most);
    isCut ||= whole.length > most;
    fields.push({ label, value });
    room -= label.length + value.length;
  }
  return { fields, isCut };
}
