import { z } from "zod";
import { toIsoTime } from "../foundation/clock.ts";
import { DEFAULT_HONEYPOTS, type Endpoint, type EndpointSettings, namedLanguage } from "./endpoint.ts";

const origins = z
  .array(z.string())
  .readonly()
  .describe(
    "Origins that may post with the publishable key, like https://example.com; none allows every one.",
  );
const unknownFields = z
  .enum(["set-aside", "drop", "keep", "reject"])
  .describe("What is done with members that the schema does not declare.");
const successUrl = z
  .string()
  .nullable()
  .describe("Page after a plain form's success; null is the built-in one.");
const errorUrl = z.string().nullable().describe("Page after a plain form's error; null is the built-in one.");
const language = z
  .string()
  .nullable()
  .describe("Language of what visitors read, like de, if their post names none; null is their browser's.");
const keepDays = z.number().nullable().describe("Days that submissions are kept; null is for ever.");
const storeAddress = z
  .enum(["full", "short", "none"])
  .describe("How much of a submitter's address is stored: all, its network only, or nothing.");
const honeypots = z.array(z.string()).readonly();

/** An endpoint as every JSON output shows it. */
export const endpointShape = z.strictObject({
  id: z.string(),
  name: z.string(),
  workspace_id: z.string(),
  state: z.enum(["active", "paused"]).describe("A paused endpoint refuses every post."),
  allowed_origins: origins,
  unknown_fields: unknownFields,
  honeypots: honeypots.describe("Fields that must stay empty."),
  success_url: successUrl,
  error_url: errorUrl,
  language,
  keep_days: keepDays,
  store_address: storeAddress,
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

/** The settings as an operation takes them; each replaces the whole setting. */
export const settingsInput = z.strictObject({
  allowed_origins: origins.optional(),
  unknown_fields: unknownFields.optional(),
  honeypots: honeypots
    .nullable()
    .describe("Fields that must stay empty; null is the built-in list.")
    .optional(),
  success_url: successUrl.optional(),
  error_url: errorUrl.optional(),
  language: language.optional(),
  keep_days: keepDays.optional(),
  store_address: storeAddress.optional(),
});

/** The same settings in the names of the input. */
export function settingsJson(settings: EndpointSettings) {
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

/** The settings that are given. */
export function settingsOf(input: z.output<typeof settingsInput>): Partial<EndpointSettings> {
  return {
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
