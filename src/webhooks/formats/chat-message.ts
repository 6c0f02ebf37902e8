import { shorten } from "../../foundation/shorten.ts";
import { valueIn } from "../../languages/value-in-words.ts";
import { type Wording, wordingIn } from "../../languages/wording.ts";
import type { FormWords } from "../form-words.ts";

/** The content of a message to a chat. The texts come from a stranger: each format makes them harmless in its own way. */
export interface ChatMessage {
  readonly title: string;
  readonly lines: readonly ChatLine[];
  /** The submission's page in the dashboard; null if the address of the dashboard is not known. */
  readonly link: string | null;
  /** The text of the link. */
  readonly linkText: string;
}

interface ChatLine {
  readonly label: string;
  readonly value: string;
}

/** The largest numbers of characters of one field, and of the whole message. The submission's page in the dashboard has the rest. */
const MAX_FIELD_LENGTH = 1000;
export const MAX_MESSAGE_LENGTH = 3500;
const MAX_LABEL_LENGTH = 100;

/** The members of an event that a message shows. */
interface ShownEvent {
  readonly endpoint: { readonly name: string };
  readonly submission: {
    readonly id: string;
    readonly data: Readonly<Record<string, unknown>>;
    readonly unknown_fields?: Readonly<Record<string, unknown>>;
  };
}

/** What is known about a submission besides its event. */
export interface ChatContext extends FormWords {
  /** The address of the dashboard; null if it is not known. */
  readonly dashboardUrl: string | null;
}

/** Reads a message from an event. @param body the event as it is stored. */
export function readChatMessage(body: string, { dashboardUrl, labels, language }: ChatContext): ChatMessage {
  const wording = wordingIn(language);
  const { endpoint, submission } = JSON.parse(body) as ShownEvent;
  const labelled = Object.entries(submission.data).map(
    ([name, value]) => [Object.hasOwn(labels, name) ? (labels[name] ?? name) : name, value] as const,
  );
  return {
    title: shorten(wording.text("newSubmission", { form: oneLine(endpoint.name) }), MAX_LABEL_LENGTH),
    lines: linesOf([...labelled, ...besideOf(submission.unknown_fields, wording)], wording),
    link: dashboardUrl === null ? null : `${dashboardUrl}/submissions/${submission.id}`,
    linkText: wording.text("openSubmission"),
  };
}

/** Values that the form has no field for, each marked as such. */
function besideOf(fields: Readonly<Record<string, unknown>> = {}, wording: Wording): [string, unknown][] {
  return Object.entries(fields).map(([path, value]) => [`${path} (${wording.text("beside")})`, value]);
}

function linesOf(members: readonly (readonly [string, unknown])[], wording: Wording): ChatLine[] {
  const lines: ChatLine[] = [];
  let length = 0;
  for (const [name, value] of members) {
    if (length > MAX_MESSAGE_LENGTH) break;
    const text = valueIn(value, wording);
    const line = {
      label: shorten(oneLine(name), MAX_LABEL_LENGTH),
      value: shorten(visible(text), MAX_FIELD_LENGTH),
    };
    lines.push(line);
    length += line.label.length + line.value.length;
  }
  return lines;
}

/**
 * The message as text, shortened to the given size.
 *
 * @param escape makes one character harmless.
 * @param sizeOf measures a text as the service does; counts characters unless given.
 */
export function chatText(
  { title, lines, link }: ChatMessage,
  escape: (char: string) => string,
  maxSize: number,
  sizeOf: (text: string) => number = (text) => text.length,
): string {
  const end = link === null ? "" : `\n${link}`;
  const room = maxSize - sizeOf(end);
  const body = [title, ...lines.map(({ label, value }) => `${label}: ${value}`)].join("\n");
  return fit(body, escape, room, sizeOf) + end;
}

const CUT = "…";

function fit(
  text: string,
  escape: (char: string) => string,
  room: number,
  sizeOf: (text: string) => number,
): string {
  let out = "";
  let size = 0;
  for (const char of text) {
    const escaped = escape(char);
    size += sizeOf(escaped);
    if (size > room - sizeOf(CUT)) return out + CUT;
    out += escaped;
  }
  return out;
}

/**
 * Control characters, and characters that are not shown or turn the direction of text: they can hide what a message says, or keep a name of
 * a host from being seen as one. The two that choose how an emoji looks (U+FE0E, U+FE0F) stay.
 */
const INVISIBLE = /(?!\n|\t|\ufe0e|\ufe0f)[\p{Cc}\p{Default_Ignorable_Code_Point}\ufff9-\ufffb]/gu;

function visible(text: string): string {
  return text
    .toWellFormed()
    .replace(/\r\n?|[\u0085\u2028\u2029]/g, "\n")
    .replace(INVISIBLE, "");
}

function oneLine(text: string): string {
  return visible(text).replace(/\s+/g, " ").trim();
}
