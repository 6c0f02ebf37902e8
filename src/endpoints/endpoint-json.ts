import { z } from "zod";
import { toIsoTime } from "../foundation/clock.ts";
import { type Challenge, CHALLENGE_KINDS, NO_CHALLENGE } from "./challenge.ts";
import { NO_PAGE, type OwnPage } from "./own-page.ts";
import {
  DEFAULT_HONEYPOTS,
  type Endpoint,
  type EndpointSettings,
  namedLanguage,
  type PlainSettings,
  type TaskSettings,
} from "./endpoint.ts";

const origins = z
  .array(z.string())
  .readonly()
  .describe(
    "The origins of pages that may post with the publishable key, like https://example.com; an empty list allows every origin.",
  );
const unknownFields = z
  .enum(["set-aside", "drop", "keep", "reject"])
  .describe("What is done with members of a post that the schema does not declare.");
const successUrl = z
  .string()
  .nullable()
  .describe(
    "Address of the page that a visitor sees after a plain form was accepted; null is the built-in page.",
  );
const errorUrl = z
  .string()
  .nullable()
  .describe(
    "Address of the page that a visitor sees after a plain form was refused; null is the built-in page.",
  );
const language = z
  .string()
  .nullable()
  .describe(
    "The language of what visitors read, a tag like de, if their post names none; null is the language of their browser.",
  );
const keepDays = z.number().nullable().describe("Days that submissions are kept; null is for ever.");
const storeAddress = z
  .enum(["full", "short", "none"])
  .describe("How much of the IP address of a submitter is stored: all of it, its network only, or nothing.");
const page = z
  .enum(["on", "off"])
  .describe(
    "Whether the form has a page of its own. Its address is /p/ and the id of the form, or its name if no other form had a page under that before.",
  );
const pageText = (what: string) => z.string().nullable().describe(what);
const pageMembers = {
  page,
  page_title: pageText("The title of the page of its own; null is the name of the form."),
  page_intro: pageText("The text above the fields on that page; null is none."),
  page_colour: pageText(
    "The colour of the button and the edge of that page, like #0b6e5f; null is the built-in colour.",
  ),
  page_logo: pageText(
    "The address of a logo on that page: https, and on one of the allowed origins; null is none.",
  ),
  page_thanks: pageText("The text that is shown after the form was sent; null is the built-in sentence."),
};
const challengeMembers = {
  challenge: z
    .enum(CHALLENGE_KINDS)
    .describe(
      "The challenge that visitors' browsers must solve: none, a proof of work, or the one of Turnstile or hCaptcha.",
    ),
  challenge_required: z
    .enum(["on", "off"])
    .describe("Whether posts without a solved challenge are refused; `off` only raises their spam score."),
  challenge_site_key: z
    .string()
    .nullable()
    .describe("The public key by which Turnstile or hCaptcha knows the page; null is none."),
};
const honeypots = z.array(z.string()).readonly();

/** An endpoint as every JSON output shows it. */
export const endpointShape = z.strictObject({
  id: z.string(),
  name: z.string(),
  workspace_id: z.string(),
  state: z.enum(["active", "paused"]).describe("A paused endpoint refuses every post."),
  allowed_origins: origins,
  unknown_fields: unknownFields,
  honeypots: honeypots.describe(
    "Names of hidden fields that must stay empty: a post in which one is filled gets a higher spam score.",
  ),
  success_url: successUrl,
  error_url: errorUrl,
  language,
  keep_days: keepDays,
  store_address: storeAddress,
  ...pageMembers,
  ...challengeMembers,
  schema_version: z.number(),
  created_at: z.string(),
});

export function endpointJson(endpoint: Endpoint): z.output<typeof endpointShape> {
  const { settings } = endpoint;
  return {
    id: endpoint.id,
    name: endpoint.name,
    workspace_id: endpoint.workspaceId,
    state: endpoint.state,
    ...settingsJson(settings),
    honeypots: settings.honeypots ?? DEFAULT_HONEYPOTS,
    schema_version: endpoint.schemaVersion,
    created_at: toIsoTime(endpoint.createdAt),
  };
}

/** The settings as an operation takes them. Each one that is given replaces the whole setting. */
export const settingsInput = z.strictObject({
  allowed_origins: origins.optional(),
  unknown_fields: unknownFields.optional(),
  honeypots: honeypots
    .nullable()
    .describe("Names of hidden fields that must stay empty; null is the built-in list.")
    .optional(),
  success_url: successUrl.optional(),
  error_url: errorUrl.optional(),
  language: language.optional(),
  keep_days: keepDays.optional(),
  store_address: storeAddress.optional(),
  ...z.strictObject({ ...pageMembers, ...challengeMembers }).partial().shape,
});

/** The settings under the names of the input. */
export function settingsJson(settings: EndpointSettings) {
  return { ...plainSettingsJson(settings), ...pageJson(settings.page), ...challengeJson(settings.challenge) };
}

export function plainSettingsJson(settings: PlainSettings) {
  return {
    allowed_origins: settings.allowedOrigins,
    unknown_fields: settings.unknownFields,
    honeypots: settings.honeypots,
    success_url: settings.successUrl,
    error_url: settings.errorUrl,
    language: settings.language,
    keep_days: settings.keepDays,
    store_address: settings.storeAddress,
  };
}

function pageJson({ isOn, title, intro, colour, logo, thanks }: OwnPage) {
  return {
    page: isOn ? ("on" as const) : ("off" as const),
    page_title: title,
    page_intro: intro,
    page_colour: colour,
    page_logo: logo,
    page_thanks: thanks,
  };
}

function challengeJson({ kind, isRequired, siteKey }: Challenge) {
  return {
    challenge: kind,
    challenge_required: isRequired ? ("on" as const) : ("off" as const),
    challenge_site_key: siteKey,
  };
}

/** The challenge with the given members replaced. */
function challengeOf(input: z.output<typeof settingsInput>, before: Challenge): Challenge {
  const { challenge = before.kind, challenge_required: required, challenge_site_key: siteKey } = input;
  return {
    kind: challenge,
    isRequired: required === undefined ? before.isRequired : required === "on",
    siteKey: siteKey === undefined ? before.siteKey : siteKey,
  };
}

/** The own page with the given members replaced. */
function pageOf(input: z.output<typeof settingsInput>, before: OwnPage): OwnPage {
  return {
    isOn: input.page === undefined ? before.isOn : input.page === "on",
    title: input.page_title === undefined ? before.title : input.page_title,
    intro: input.page_intro === undefined ? before.intro : input.page_intro,
    colour: input.page_colour === undefined ? before.colour : input.page_colour,
    logo: input.page_logo === undefined ? before.logo : input.page_logo,
    thanks: input.page_thanks === undefined ? before.thanks : input.page_thanks,
  };
}

/** The given settings of own page and challenge. @param before the present settings */
export function taskSettingsOf(
  input: z.output<typeof settingsInput>,
  before: TaskSettings = { page: NO_PAGE, challenge: NO_CHALLENGE },
): TaskSettings {
  return { page: pageOf(input, before.page), challenge: challengeOf(input, before.challenge) };
}

/** The given settings. @param before the present settings; needed for those with several parts, because each part can be given alone */
export function settingsOf(
  input: z.output<typeof settingsInput>,
  before?: TaskSettings,
): Partial<EndpointSettings> {
  return {
    ...taskSettingsOf(input, before),
    ...(input.allowed_origins !== undefined && { allowedOrigins: input.allowed_origins }),
    ...(input.unknown_fields !== undefined && { unknownFields: input.unknown_fields }),
    ...(input.honeypots !== undefined && { honeypots: input.honeypots }),
    ...(input.success_url !== undefined && { successUrl: input.success_url }),
    ...(input.error_url !== undefined && { errorUrl: input.error_url }),
    ...(input.language !== undefined && {
      language: input.language === null ? null : namedLanguage(input.language),
    }),
    ...(input.keep_days !== undefined && { keepDays: input.keep_days }),
    ...(input.store_address !== undefined && { storeAddress: input.store_address }),
  };
}
