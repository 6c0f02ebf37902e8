import { z } from "zod";
import { POLL_SECONDS } from "../tokens/login-store.ts";
import { tokenShape } from "../tokens/token-json.ts";
import { DEFAULT_SCOPES } from "../tokens/token.ts";

/** The encoding that OAuth's device flow (RFC 8628) uses; JSON is accepted too. */
export const FORM = "application/x-www-form-urlencoded";
const GRANT = "urn:ietf:params:oauth:grant-type:device_code";

export const beginning = z.strictObject({
  client_id: z.string().max(100).default("formsvc"),
  client_name: z
    .string()
    .min(1)
    .max(100)
    .default("a command line")
    .describe("The name of the token in lists."),
  scope: z
    .string()
    .max(1000)
    .default(DEFAULT_SCOPES.join(" "))
    .describe("The scopes that are asked for, separated by spaces."),
});

export const asking = z.strictObject({
  grant_type: z.literal(GRANT),
  device_code: z.string().max(200),
  client_id: z.string().max(100).default("formsvc"),
});

export const begun = z.strictObject({
  device_code: z
    .string()
    .describe("The code with which the program asks for the token; nobody else may know it."),
  user_code: z
    .string()
    .describe("The code that the program shows; the person compares it with the one on the page."),
  verification_uri: z.string(),
  verification_uri_complete: z
    .string()
    .describe("The address of the page at which the person approves the login."),
  expires_in: z.number().describe("Seconds until the codes expire."),
  interval: z.number().describe("Seconds to wait before asking for the token again."),
});

export const granted = z.strictObject({
  access_token: z.string().describe("The token, which is shown only now."),
  token_type: z.literal("Bearer"),
  expires_in: z.number().describe("Seconds until the token expires."),
  scope: z.string().describe("The scopes that were approved, separated by spaces."),
  token: tokenShape,
});

/** The errors of RFC 8628, with a sentence for each. */
export const PROBLEMS = {
  authorization_pending: "Nobody has approved it yet.",
  slow_down: `Ask every ${POLL_SECONDS} seconds.`,
  access_denied: "It was denied.",
  expired_token: "The code is unknown, was used, or is older than 10 minutes: begin again.",
} as const;
