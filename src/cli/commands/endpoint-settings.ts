import type { z } from "zod";
import { checkChallengeSecret } from "../../endpoints/challenge.ts";
import { namedOrigins } from "../../endpoints/endpoint.ts";
import type { settingsInput } from "../../endpoints/endpoint-json.ts";
import { countOf } from "../../foundation/count-of.ts";
import { readLines } from "../flags/arguments.ts";
import { refuse } from "../command.ts";
import type { OptionValues } from "../flags/option-values.ts";

export const originOption = {
  flags: "--allow-origin <origin>",
  summary:
    "a page's origin that may post with the publishable key, like https://example.com or https://*.example.com; repeatable",
  repeatable: true,
} as const;

export const languageOption = {
  flags: "--language <tag>",
  summary:
    "language of what visitors read, like de, if their post names none; '' takes it from their browser",
} as const;

export const settingOptions = [
  { ...originOption, summary: `${originOption.summary}; '*' alone allows every origin` },
  {
    flags: "--unknown-fields <what>",
    summary:
      "what to do with members that the schema does not declare: set them aside, drop them, keep them among the data, or reject the post",
    choices: ["set-aside", "drop", "keep", "reject"],
  },
  {
    flags: "--honeypot <name>",
    summary: "a field that must stay empty; repeatable; 'default' alone restores the built-in list",
    repeatable: true,
  },
  {
    flags: "--success-url <url>",
    summary: "address of the page after a plain form was accepted; '' restores the built-in page",
  },
  {
    flags: "--keep-days <days>",
    summary: "delete submissions after this number of days; 'forever' keeps them",
    parse: parseKeepDays,
  },
  {
    flags: "--store-address <how>",
    summary: "how much of a submitter's address is stored from now on: all, its network only, or nothing",
    choices: ["full", "short", "none"],
  },
  {
    flags: "--ignore-origin <origin>",
    summary:
      "an origin that is none of yours and whose posts were refused: do not hold them any more; repeatable",
    repeatable: true,
  },
  {
    flags: "--heed-origin <origin>",
    summary: "undo --ignore-origin for this origin; repeatable",
    repeatable: true,
  },
  {
    flags: "--error-url <url>",
    summary:
      "address of the page after a plain form was refused, called with ?error=held|invalid|refused|later; '' restores the built-in page",
  },
  languageOption,
  {
    flags: "--page <on|off>",
    summary:
      "whether the form has a page of its own, at /p/ and its id, or its name if no other form had a page under that before",
    choices: ["on", "off"],
  },
  { flags: "--page-title <text>", summary: "title of that page; '' is the name of the form" },
  { flags: "--page-intro <text>", summary: "text above the fields of that page; '' leaves it out" },
  {
    flags: "--page-colour <colour>",
    summary: "colour of its button and edge, like #0b6e5f; '' is the built-in colour",
  },
  {
    flags: "--page-logo <url>",
    summary: "logo on that page: an https address on one of the allowed origins; '' leaves it out",
  },
  {
    flags: "--page-thanks <text>",
    summary: "text that is shown after the form was sent; '' is the built-in sentence",
  },
  {
    flags: "--challenge <kind>",
    summary: "what visitors' browsers must solve: a proof of work, or the task of Turnstile or hCaptcha",
    choices: ["off", "pow", "turnstile", "hcaptcha"],
  },
  {
    flags: "--challenge-required <on|off>",
    summary: "whether posts without a solved challenge are refused; off only raises their spam score",
    choices: ["on", "off"],
  },
  {
    flags: "--challenge-site-key <key>",
    summary: "public key by which Turnstile or hCaptcha knows the page; '' removes it",
  },
  {
    flags: "--challenge-secret-file <file>",
    summary: "a file with the secret of that service; - reads standard input; '' removes it",
  },
] as const;

function parseKeepDays(value: string): number | "forever" {
  if (value === "forever") return value;
  return /^\d{1,6}$/.test(value) ? Number(value) : refuse("expected a number of days, or forever");
}

/** The honeypots that the options name; null restores the built-in list. @throws usage */
function namedHoneypots(names: readonly string[]): readonly string[] | null {
  if (!names.includes("default")) return names;
  return names.length === 1
    ? null
    : refuse("default restores the built-in list of honeypots; give it alone, or leave it out and list them");
}

export function readSettings({
  allowOrigin,
  unknownFields,
  honeypot,
  successUrl,
  errorUrl,
  language,
  keepDays,
  storeAddress,
  ...page
}: OptionValues<typeof settingOptions>): z.input<typeof settingsInput> {
  return {
    ...(allowOrigin !== null && { allowed_origins: namedOrigins(allowOrigin) }),
    ...(unknownFields !== null && { unknown_fields: unknownFields }),
    ...(honeypot !== null && { honeypots: namedHoneypots(honeypot) }),
    ...(successUrl !== null && { success_url: successUrl || null }),
    ...(errorUrl !== null && { error_url: errorUrl || null }),
    ...(language !== null && { language: language || null }),
    ...(keepDays !== null && { keep_days: keepDays === "forever" ? null : keepDays }),
    ...(storeAddress !== null && { store_address: storeAddress }),
    ...(page.page !== null && { page: page.page }),
    ...(page.pageTitle !== null && { page_title: page.pageTitle || null }),
    ...(page.pageIntro !== null && { page_intro: page.pageIntro || null }),
    ...(page.pageColour !== null && { page_colour: page.pageColour || null }),
    ...(page.pageLogo !== null && { page_logo: page.pageLogo || null }),
    ...(page.pageThanks !== null && { page_thanks: page.pageThanks || null }),
    ...(page.challenge !== null && { challenge: page.challenge }),
    ...(page.challengeRequired !== null && { challenge_required: page.challengeRequired }),
    ...(page.challengeSiteKey !== null && { challenge_site_key: page.challengeSiteKey || null }),
  };
}

/** The secret in the only line of a file; null removes the secret. @throws usage */
export function readChallengeSecretFile(file: string): string | null {
  if (file === "") return null;
  const lines = readLines(file);
  const [line] = lines;
  if (line === undefined || lines.length > 1)
    return refuse(`${file}: expected the secret in one line; there are ${countOf(lines.length, "line")}`);
  return checkChallengeSecret(line.trim());
}
