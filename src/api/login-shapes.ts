import { z } from "zod";
import { POLL_SECONDS } from "../tokens/login-store.ts";
import { tokenShape } from "../tokens/token-json.ts";
import { DEFAULT_SCOPES } from "../tokens/token.ts";

/** The encoding that OAuth's device flow (RFC 8628) uses; JSON is accepted too. */
export const FORM = "application/x-www-form-urlencoded";
const GRANT = "urn:ietf:params:oauth:grant-type:device_code";

export const beginning = z.strictObject({
  client_id: z.string().max(100).default("formsvc"),
  client_name: z.string().min(1).max(100).default("a command line").describe("What lists of tokens show."),
  scope: z.string().max(1000).default(DEFAULT_SCOPES.join(" ")).describe("Scopes, separated by spaces."),
});

export const asking = z.strictObject({
  grant_type: z.literal(GRANT),
  device_code: z.string().max(200),
  client_id: z.string().max(100).default("formsvc"),
});

export const begun = z.strictObject({
  device_code: z.string().describe("For the program alone: it asks for the token with it."),
  user_code: z.string().describe("For the person, who compares it with the page."),
  verification_uri: z.string(),
  verification_uri_complete: z.string().describe("The page at which it is approved."),
  expires_in: z.number().describe("Seconds."),
  interval: z.number().describe("Seconds to wait between two questions."),
});

export const granted = z.strictObject({
  access_token: z.string().describe("The token, which is shown this once."),
  token_type: z.literal("Bearer"),
  expires_in: z.number().describe("Seconds."),
  scope: z.string().describe("What was approved, separated by spaces."),
  token: tokenShape,
});

/** The errors of RFC 8628, with a sentence for each. */
export const PROBLEMS = {
  authorization_pending: "Nobody has approved it yet.",
  slow_down: `Ask every ${POLL_SECONDS} seconds.`,
  access_denied: "It was denied.",
  expired_token: "The code is unknown, was used, or is older than 10 minutes: begin again.",
} as const;
