import type { CDPSession, Page } from "playwright-core";
import { expect } from "vitest";

/** Pages whose script is left out, with what tells their browser so. */
const sessions = new WeakMap<Page, CDPSession>();

/**
 * Opens a page of the dashboard as a browser without script shows it. Really switched off, axe could not run either: so our script is not
 * loaded, and the style sheet's rules for a browser without script are made to hold. {@link startScript} makes it a page with script.
 */
export async function openWithoutScript(page: Page, address: string): Promise<void> {
  const session = sessions.get(page) ?? (await page.context().newCDPSession(page));
  if (!sessions.has(page)) await session.send("Network.enable");
  sessions.set(page, session);
  await session.send("Network.setBlockedURLs", { urls: ["*/dashboard/assets/*.js"] });
  await page.goto(address);
  expect(await page.evaluate(STYLE_WITHOUT)).toBeGreaterThan(0);
}

/** Runs in a page whose script was left out: its style sheet takes the browser for one without script. Returns how many rules do. */
const STYLE_WITHOUT = `(() => {
  const rulesIn = ({ cssRules = [] }) => [...cssRules].flatMap((rule) => [rule, ...rulesIn(rule)]);
  globalThis.scriptingRules = [...document.styleSheets].flatMap(rulesIn)
    .filter(({ media }) => media?.mediaText.includes("scripting"))
    .map((rule) => ({ rule, text: rule.media.mediaText }));
  for (const { rule: { media }, text } of scriptingRules)
    media.mediaText = text.replace("(scripting: none)", "(min-width: 0px)").replace("(scripting: enabled)", "(max-width: 0px)");
  return scriptingRules.filter(({ rule: { media } }) => !media.mediaText.includes("scripting")).length;
})()`;

/** Lets the script of a page begin that was left out until now. */
export async function startScript(page: Page): Promise<void> {
  await sessions.get(page)?.send("Network.setBlockedURLs", { urls: [] });
  // The page keeps in mind that it did not get the first address.
  await page.evaluate(`(async () => {
    for (const { rule, text } of scriptingRules) rule.media.mediaText = text;
    await import(document.querySelector("script[type=module]").src + "?late");
    dispatchEvent(new PageTransitionEvent("pageshow"));
  })()`);
}

/**
 * Runs in a page. All that script and rules about it decide of what is shown at one size: the document, with what controls in sight hold. Null if
 * something is shown that such a rule is about.
 */
export const SHOWN = String.raw`(() => {
  const selectors = scriptingRules.flatMap(({ rule }) => [...rule.cssRules].map((each) => each.selectorText.replaceAll(/::[\w-]+/g, "")));
  if ([...document.querySelectorAll(selectors.join())].some((each) => each.checkVisibility())) return null;
  const held = [...document.querySelectorAll("input, textarea, select, option, button")].filter((each) => each.checkVisibility())
    .map(({ value, checked, indeterminate, selected, disabled }) => [value, checked, indeterminate, selected, disabled]);
  return JSON.stringify([document.documentElement.outerHTML, held, document.adoptedStyleSheets.length]);
})()`;
