import { z } from "zod";
import { httpUrl } from "./addresses.ts";

/** The settings of the services that check challenges of forms. */
export const challengeSection = z.strictObject({
  turnstileUrl: httpUrl.describe("The address at which Turnstile checks tokens."),
  hcaptchaUrl: httpUrl.describe("The address at which hCaptcha checks tokens."),
  timeoutMs: z
    .int()
    .min(100)
    .max(10_000)
    .describe(
      "Longest time that a post waits for such a service, in milliseconds; then the post is taken without its verdict.",
    ),
});

export const defaultChallenge: z.output<typeof challengeSection> = {
  turnstileUrl: "https://challenges.cloudflare.com/turnstile/v0/siteverify",
  hcaptchaUrl: "https://api.hcaptcha.com/siteverify",
  timeoutMs: 3000,
};
