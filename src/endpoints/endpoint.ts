import { FormsvcError } from "../foundation/errors.ts";
import type { UnknownFields } from "../schemas/compile-schema.ts";
import { findLanguage, type Language, LANGUAGES } from "../languages/language.ts";
import { type Challenge, checkChallenge, isVendor, NO_CHALLENGE } from "./challenge.ts";
import { checkOrigin, MAX_ALLOWED_ORIGINS } from "./allowed-origin.ts";
import { checkPage, NO_PAGE, type OwnPage } from "./own-page.ts";

/** One form. */
export interface Endpoint {
  readonly id: string;
  readonly workspaceId: string;
  readonly name: string;
  /** A paused endpoint refuses every post with 403. */
  readonly state: "active" | "paused";
  readonly schemaVersion: number;
  readonly settings: EndpointSettings;
  readonly createdAt: number;
}

export interface EndpointSettings {
  /** An empty list allows every origin. */
  readonly allowedOrigins: readonly string[];
  readonly unknownFields: UnknownFields;
  /** Names of the fields that must stay empty; null means {@link DEFAULT_HONEYPOTS}. */
  readonly honeypots: readonly string[] | null;
  /** The page that the visitor of a plain HTML form sees after success; null means the built-in page. */
  readonly successUrl: string | null;
  readonly errorUrl: string | null;
  /** The language of what visitors read if their post names none; null means the language of their browser. */
  readonly language: Language | null;
  /** The number of days that submissions are kept; null means for ever. */
  readonly keepDays: number | null;
  /** How much of a submitter's address is stored: all of it, its network (IPv4 /24, IPv6 /48), or nothing. */
  readonly storeAddress: StoreAddress;
  readonly page: OwnPage;
  readonly challenge: Challenge;
}

/** The settings without those that have a page of the dashboard to themselves. */
export type PlainSettings = Omit<EndpointSettings, "page" | "challenge">;

export type StoreAddress = "full" | "short" | "none";

export const defaultEndpointSettings: EndpointSettings = {
  allowedOrigins: [],
  unknownFields: "set-aside",
  honeypots: null,
  successUrl: null,
  errorUrl: null,
  language: null,
  keepDays: null,
  storeAddress: "full",
  page: NO_PAGE,
  challenge: NO_CHALLENGE,
};

/** Hidden fields that people leave empty and robots fill, unless the schema declares them. */
export const DEFAULT_HONEYPOTS = ["_gotcha", "_honeypot", "_honey", "botcheck"] as const;

const MAX_HONEYPOTS = 20;
const MAX_HONEYPOT_LENGTH = 100;
/** A century. Somebody who wants more can say "for ever". */
const MAX_KEEP_DAYS = 36_500;
const MAX_URL_LENGTH = 2000;

/** Checks settings and returns them in the form that is stored and compared. @throws usage naming the value that is wrong */
export function checkSettings(settings: EndpointSettings): EndpointSettings {
  const allowedOrigins = checkOrigins(settings.allowedOrigins);
  return {
    allowedOrigins,
    unknownFields: settings.unknownFields,
    honeypots: settings.honeypots === null ? null : checkHoneypots(settings.honeypots),
    successUrl: settings.successUrl === null ? null : checkPageUrl(settings.successUrl),
    errorUrl: settings.errorUrl === null ? null : checkPageUrl(settings.errorUrl),
    language: settings.language,
    keepDays: settings.keepDays === null ? null : checkKeepDays(settings.keepDays),
    storeAddress: settings.storeAddress,
    page: checkPage(settings.page, allowedOrigins),
    challenge: checkChallenge(settings.challenge),
  };
}

/** The settings that decide whether the form's own page can show the task of a challenge. */
export type TaskSettings = Pick<EndpointSettings, "page" | "challenge">;

/**
 * Refuses a change after which the form's own page could not show a task that its posts need. If a form is in that state already, other
 * changes to it are still allowed.
 *
 * @param before null for a new endpoint
 * @throws usage
 */
export function checkTask(after: TaskSettings, before: TaskSettings | null): void {
  if (!lacksTask(after) || (before !== null && lacksTask(before))) return;
  throw new FormsvcError(
    "usage",
    `the form's own page cannot show the task of ${after.challenge.kind} without its site key, and every post from there would be refused; set the site key, do not require the challenge, or switch the page off`,
  );
}

function lacksTask({ page, challenge: { kind, isRequired, siteKey } }: TaskSettings): boolean {
  return page.isOn && isRequired && isVendor(kind) && siteKey === null;
}

/** The language of a tag that an owner gave. @throws usage */
export function namedLanguage(tag: string): Language {
  const language = findLanguage(tag);
  if (language !== null) return language;
  const given = JSON.stringify(tag.slice(0, MAX_SHOWN_TAG));
  throw new FormsvcError(
    "usage",
    `not a language that is spoken here: ${given}; choose from ${LANGUAGES.join(", ")}`,
  );
}

const MAX_SHOWN_TAG = 40;

/** The origins that an owner gave. `*` alone stands for every origin, which is an empty list. */
export function namedOrigins(texts: readonly string[]): readonly string[] {
  return texts.length === 1 && texts[0] === "*" ? [] : texts;
}

function checkKeepDays(days: number): number {
  if (Number.isInteger(days) && days >= 1 && days <= MAX_KEEP_DAYS) return days;
  throw new FormsvcError("usage", `expected 1 to ${MAX_KEEP_DAYS} days`);
}

function checkOrigins(origins: readonly string[]): string[] {
  if (origins.length > MAX_ALLOWED_ORIGINS) {
    throw new FormsvcError("usage", `more than ${MAX_ALLOWED_ORIGINS} allowed origins`);
  }
  return [...new Set(origins.map(checkOrigin))];
}

/** Members with information about the form, which is read whether or not a robot filled them. They cannot be honeypots. */
const CONTROL_MEMBERS: ReadonlySet<string> = new Set(["_elapsed_ms", "_language", "_pow"]);

function checkHoneypots(names: readonly string[]): string[] {
  if (names.length > MAX_HONEYPOTS) throw new FormsvcError("usage", `more than ${MAX_HONEYPOTS} honeypots`);
  for (const name of names) {
    if (
      name === "" ||
      name.length > MAX_HONEYPOT_LENGTH ||
      name === "__proto__" ||
      CONTROL_MEMBERS.has(name)
    ) {
      throw new FormsvcError("usage", `not a honeypot's name: ${JSON.stringify(name)}`);
    }
  }
  return [...new Set(names)];
}

function checkPageUrl(text: string): string {
  const isPage =
    text.length <= MAX_URL_LENGTH && URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
  if (!isPage) throw new FormsvcError("usage", `not an http or https address: ${JSON.stringify(text)}`);
  return new URL(text).href;
}
