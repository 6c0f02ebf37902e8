import { type Challenge, isVendor, type Vendor } from "../../endpoints/challenge.ts";
import { html, type Html } from "../../foundation/html.ts";
import type { Wording } from "../../languages/wording.ts";

/** What one of our pages does for a form's challenge. */
export type PageChallenge =
  /** `address` is relative to the page's own: `/p/…` and `/f/…` are one folder deep. */
  | { readonly kind: "pow"; readonly address: string; readonly isRequired: boolean }
  | { readonly kind: Vendor; readonly siteKey: string; readonly isRequired: boolean };

/** Null if there is nothing to do, or if it cannot be done. @param asked the parameter that names the form at `/challenge` */
export function pageChallenge(
  { kind, siteKey, isRequired }: Challenge,
  asked: Readonly<Record<string, string>>,
): PageChallenge | null {
  if (kind === "pow") {
    return { kind, address: `../challenge?${new URLSearchParams(asked).toString()}`, isRequired };
  }
  return isVendor(kind) && siteKey !== null ? { kind, siteKey, isRequired } : null;
}

const VENDORS = {
  turnstile: {
    script: "https://challenges.cloudflare.com/turnstile/v0/api.js",
    mark: "cf-turnstile",
    policy: "script-src https://challenges.cloudflare.com; frame-src https://challenges.cloudflare.com",
    style: "",
  },
  hcaptcha: {
    script: "https://js.hcaptcha.com/1/api.js",
    mark: "h-captcha",
    policy:
      "script-src https://hcaptcha.com https://*.hcaptcha.com; frame-src https://hcaptcha.com https://*.hcaptcha.com; connect-src https://hcaptcha.com https://*.hcaptcha.com",
    style: " https://hcaptcha.com https://*.hcaptcha.com",
  },
} as const;

/**
 * The content policy of a page. Only a page of a form with a challenge may run a script: ours, or the script of the service that the owner
 * chose.
 */
export function withChallenge(policy: string, challenge: PageChallenge | null): string {
  if (challenge === null) return policy;
  if (challenge.kind === "pow") return `script-src 'self'; connect-src 'self'; ${policy}`;
  const { policy: more, style } = VENDORS[challenge.kind];
  return `${more}; ${policy.replace(/style-src [^;]*/, (given) => given + style)}`;
}

/** The attribute of the form that has the challenge's address; null if it needs none. */
export function challengeMark(challenge: PageChallenge | null): Html | null {
  return challenge?.kind === "pow" ? html` data-formsvc-challenge="${challenge.address}"` : null;
}

/** The markup that stands in the form before its button. */
export function challengeHtml(challenge: PageChallenge | null, wording: Wording): Html | null {
  if (challenge === null) return null;
  const { isRequired } = challenge;
  const without =
    isRequired && html`<noscript><p class="problem">${wording.text("challengeRequired")}</p></noscript>`;
  if (challenge.kind === "pow") return html`${without}<script src="../formsvc-page.js" defer></script>`;
  const { script, mark } = VENDORS[challenge.kind];
  return html`${without}<div class="${mark}" data-sitekey="${challenge.siteKey}"></div><script src="${script}" async defer></script>`;
}
