import type { AttemptResult } from "../../outbox/sending/transport.ts";
import { RETRY_AFTER_LIMIT_MS } from "../retry-after.ts";
import type { SendResult } from "../send.ts";
import type { ChatFormatName } from "./format.ts";

/** The answer of a service. A member that the answer lacks is undefined. */
interface Answer {
  readonly status: number;
  /** The start of the body. */
  readonly text: string;
  readonly json: Readonly<Record<string, unknown>>;
}

interface Habit {
  /** Whether an answer with a status of success is a refusal all the same. */
  readonly refuses?: (answer: Answer) => boolean;
  /** Whether the service says that messages to this chat are no longer possible. */
  readonly isGone?: (answer: Answer) => boolean;
  /** Whether the service refuses our token, whatever the message is. */
  readonly locksOut?: (answer: Answer) => boolean;
  /** The wait that the body of the answer asks for, in milliseconds; undefined if it asks for none. */
  readonly waitMs?: (answer: Answer) => unknown;
  /** The service's own message about a failure. */
  readonly words?: (answer: Answer) => unknown;
}

const HABITS: Readonly<Record<ChatFormatName, Habit>> = {
  // https://api.slack.com/changelog/2016-05-17-changes-to-errors-for-incoming-webhooks; Rocket.Chat answers {"success":true}.
  slack: {
    refuses: ({ text, json }) => text.trim() !== "ok" && json["success"] !== true,
    isGone: ({ status }) => status === 404 || status === 410,
    words: ({ text }) => text,
  },
  discord: {
    isGone: ({ status }) => status === 404,
    waitMs: ({ json }) => seconds(json["retry_after"]),
    words: ({ json }) => json["message"],
  },
  telegram: {
    // An accepted message is answered with all of its text, so only the start of the answer may be there, which is no JSON.
    refuses: ({ text, json }) => json["ok"] !== true && !/^\s*\{\s*"ok"\s*:\s*true\s*,/.test(text),
    isGone: ({ status, json }) =>
      status === 403 || /chat not found|bot was (?:blocked|kicked)/i.test(String(json["description"])),
    waitMs: ({ json }) => seconds(parametersOf(json)["retry_after"]),
    words: ({ json }) => json["description"],
  },
  teams: {},
  "google-chat": { words: ({ json }) => (json["error"] as { message?: unknown } | undefined)?.message },
  ntfy: { words: ({ json }) => json["error"] },
  // https://gotify.net/api-docs: 401 means a token that is unknown or was withdrawn.
  gotify: { locksOut: ({ status }) => status === 401, words: ({ json }) => json["errorDescription"] },
  matrix: { waitMs: ({ json }) => json["retry_after_ms"], words: ({ json }) => json["error"] },
  apprise: { words: ({ json }) => json["error"] },
};

const MAX_WORDS_LENGTH = 200;

/** Classifies the answer of a service by its body too. @param classified the result by the status alone. */
export function classifyChat(
  format: ChatFormatName,
  result: SendResult,
  classified: AttemptResult,
): AttemptResult {
  if (result.kind !== "answer") return classified;
  const habit = HABITS[format];
  const answer = { status: result.status, text: result.bodyStart, json: readJson(result.bodyStart) };
  const said = sayings(habit.words?.(answer));
  if (classified.outcome === "delivered") {
    if (habit.refuses?.(answer) !== true) return { ...classified, answer: null };
    return {
      ...classified,
      outcome: "refused_by_receiver",
      blame: "recipient",
      message: `${classified.message}${said}`,
    };
  }
  if (habit.isGone?.(answer) === true) {
    const message = `Answered ${answer.status}: the chat does not take messages at this address any more.${said} Another such answer, a minute later or more, stops the webhook.`;
    return { ...classified, outcome: "gone", message };
  }
  return {
    ...classified,
    blame: habit.locksOut?.(answer) === true ? "access" : classified.blame,
    message: `${classified.message}${said}`,
    retryAfterMs: classified.retryAfterMs ?? bounded(habit.waitMs?.(answer)),
  };
}

/** The chat that replaced a Telegram group, if the answer names it (https://core.telegram.org/bots/api#responseparameters); null if not. */
export function findNewChat(result: SendResult): string | null {
  if (result.kind !== "answer" || result.status !== 400) return null;
  const id = parametersOf(readJson(result.bodyStart))["migrate_to_chat_id"];
  return typeof id === "number" && Number.isSafeInteger(id) ? String(id) : null;
}

function readJson(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

function parametersOf(json: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const parameters = json["parameters"];
  return typeof parameters === "object" && parameters !== null ? (parameters as Record<string, unknown>) : {};
}

function sayings(words: unknown): string {
  if (typeof words !== "string" || words.trim() === "") return "";
  return ` The service says: ${words.replace(/\s+/g, " ").trim().slice(0, MAX_WORDS_LENGTH)}.`;
}

function seconds(value: unknown): number | null {
  return typeof value === "number" ? value * 1000 : null;
}

function bounded(ms: unknown): number | null {
  return typeof ms === "number" && ms > 0 ? Math.ceil(Math.min(ms, RETRY_AFTER_LIMIT_MS)) : null;
}
