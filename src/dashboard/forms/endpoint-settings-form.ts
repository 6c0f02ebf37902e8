import {
  checkSettings,
  DEFAULT_HONEYPOTS,
  defaultEndpointSettings,
  type Endpoint,
  namedOrigins,
  type PlainSettings,
  type StoreAddress,
} from "../../endpoints/endpoint.ts";
import { FormsvcError } from "../../foundation/errors.ts";
import { findLanguage } from "../../languages/language.ts";
import type { UnknownFields } from "../../schemas/compile-schema.ts";
import { checkName } from "../../workspaces/workspace.ts";
import { GIVE_NAME } from "./form-name.ts";
import { readLines, readNumber } from "../kit/typed-text.ts";
import { sentence } from "../kit/sentence.ts";

/** The content of the settings form, as it was typed. */
export type TypedSettings = Readonly<Record<"name" | keyof PlainSettings, string>>;

/** A name and settings as they are stored. */
export interface NamedSettings {
  readonly name: string;
  readonly settings: PlainSettings;
}

/** The names of the inputs, which are the names of the members in an endpoint's JSON. */
export const INPUT_NAMES: TypedSettings = {
  name: "name",
  allowedOrigins: "allowed_origins",
  unknownFields: "unknown_fields",
  honeypots: "honeypots",
  successUrl: "success_url",
  errorUrl: "error_url",
  language: "language",
  keepDays: "keep_days",
  storeAddress: "store_address",
};

export const SETTING_LABELS: TypedSettings = {
  name: "Name",
  allowedOrigins: "Sites that may post",
  unknownFields: "Inputs that are not among the fields",
  honeypots: "Names of hidden inputs",
  successUrl: "Page after success",
  errorUrl: "Page after an error",
  language: "Language for visitors",
  keepDays: "Days that posts are kept",
  storeAddress: "Network address of visitors",
};

/** The label of a choice, and its consequence. */
type Choices<Value extends string> = Readonly<
  Record<Value, { readonly label: string; readonly about: string }>
>;

export const UNKNOWN_FIELDS: Choices<UnknownFields> = {
  "set-aside": {
    label: "Set aside and show",
    about: "Below the post, under “Not among the fields of the form”. Searched and exported too.",
  },
  drop: { label: "Leave out", about: "Gone for good; nobody is told." },
  keep: { label: "Keep among the fields", about: "As if the form had them. Nothing checks what they hold." },
  reject: { label: "Refuse the post", about: "The visitor reads that something is wrong." },
};

export const STORE_ADDRESS: Choices<StoreAddress> = {
  full: { label: "Whole", about: "Like 203.0.113.24" },
  short: { label: "Shortened", about: "Like 203.0.113.0: enough to see floods, not a person" },
  none: { label: "Not at all", about: "Limits still work; they need it for a moment only" },
};

export function settingsForm({ name, settings }: NamedSettings): TypedSettings {
  return {
    name,
    allowedOrigins: settings.allowedOrigins.join("\n"),
    unknownFields: settings.unknownFields,
    honeypots: (settings.honeypots ?? []).join("\n"),
    successUrl: settings.successUrl ?? "",
    errorUrl: settings.errorUrl ?? "",
    language: settings.language ?? "",
    keepDays: settings.keepDays === null ? "" : String(settings.keepDays),
    storeAddress: settings.storeAddress,
  };
}

export function readSettingsForm(form: URLSearchParams): TypedSettings {
  const names = Object.keys(SETTING_LABELS) as (keyof TypedSettings)[];
  return Object.fromEntries(names.map((name) => [name, form.get(INPUT_NAMES[name]) ?? ""])) as TypedSettings;
}

/** The labels of the settings by the names of their inputs, but of the name: its problems say what it is. */
export const INPUT_LABELS: Readonly<Record<string, string>> = Object.fromEntries(
  (Object.keys(SETTING_LABELS) as (keyof TypedSettings)[])
    .filter((name) => name !== "name")
    .map((name) => [INPUT_NAMES[name], SETTING_LABELS[name]]),
);

/** The settings in the form that is stored, or their problems. */
export function checkSettingsForm(
  typed: TypedSettings,
): { readonly checked: NamedSettings } | { readonly checked: null; readonly problems: Map<string, string> } {
  const problems = new Map<string, string>();
  const settings = toSettings(typed);
  if (typed.name.trim() === "") problems.set(INPUT_NAMES.name, GIVE_NAME);
  else noting(problems, "name", () => checkName(typed.name));
  for (const name of Object.keys(settings) as (keyof PlainSettings)[])
    noting(problems, name, () => checkSettings({ ...defaultEndpointSettings, [name]: settings[name] }));
  if (problems.size > 0) return { checked: null, problems };
  return {
    checked: {
      name: checkName(typed.name),
      settings: checkSettings({ ...defaultEndpointSettings, ...settings }),
    },
  };
}

function toSettings(typed: TypedSettings): PlainSettings {
  const honeypots = readLines(typed.honeypots);
  const keepDays = readNumber(typed.keepDays);
  return {
    allowedOrigins: namedOrigins(readLines(typed.allowedOrigins)),
    unknownFields: oneOf(UNKNOWN_FIELDS, typed.unknownFields),
    honeypots: honeypots.length === 0 ? null : honeypots,
    successUrl: typed.successUrl.trim() || null,
    errorUrl: typed.errorUrl.trim() || null,
    language: findLanguage(typed.language),
    keepDays: keepDays === "" ? null : typeof keepDays === "number" ? keepDays : Number.NaN,
    storeAddress: oneOf(STORE_ADDRESS, typed.storeAddress),
  };
}

/** The typed value if the page offers it; any other value becomes the first one. */
function oneOf<Value extends string>(known: Readonly<Record<Value, unknown>>, typed: string): Value {
  const values = Object.keys(known) as Value[];
  return values.find((value) => value === typed) ?? (values[0] as Value);
}

function noting(problems: Map<string, string>, name: keyof TypedSettings, check: () => unknown): void {
  try {
    check();
  } catch (error) {
    if (!(error instanceof FormsvcError) || error.code !== "usage") throw error;
    problems.set(INPUT_NAMES[name], sentence(error.message));
  }
}

/** Identifies the settings that a form showed, for a hidden input. When it is saved later, the page can say what changed meanwhile. */
export function fingerprintOf({ name, settings }: NamedSettings): string {
  return JSON.stringify(settingsForm({ name, settings }));
}

/** The values that the inputs have for the stored settings, for the script that counts unsaved changes. */
export function savedInputs(endpoint: NamedSettings): Readonly<Record<string, string>> {
  const stored = Object.entries(settingsForm(endpoint)) as [keyof TypedSettings, string][];
  return Object.fromEntries(stored.map(([name, value]) => [INPUT_NAMES[name], value]));
}

/** The settings that differ from those that a form showed, with their present values; null if none does. */
export function changedSince(fingerprint: string, endpoint: Endpoint): readonly string[] | null {
  if (fingerprint === fingerprintOf(endpoint)) return null;
  const shown = tryParse(fingerprint);
  const now = Object.entries(settingsForm(endpoint)) as [keyof TypedSettings, string][];
  return now
    .filter(([name, value]) => shown[name] !== value)
    .map(([name, value]) => `${SETTING_LABELS[name]}: ${value.replaceAll("\n", ", ") || "empty"}`);
}

function tryParse(text: string): Partial<TypedSettings> {
  try {
    return Object(JSON.parse(text)) as Partial<TypedSettings>;
  } catch {
    return {};
  }
}

export const BUILT_IN_HONEYPOTS = DEFAULT_HONEYPOTS.join(", ");
