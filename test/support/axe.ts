import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";

const source = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** The tabs in which every new document already contains axe. */
const tabs = new WeakSet<Page>();

/** The rules that axe applies: only some, or all without some. */
interface Rules {
  readonly only?: readonly string[];
  readonly without?: readonly string[];
  /** A script that lists the elements that axe looks at, with what they hold; the whole document if it is absent. */
  readonly within?: string;
}

/**
 * Lists what axe finds wrong on a page: each rule with the first element that breaks it. It also works if the page's own scripts are off.
 */
export async function axeViolations(
  page: Page,
  { only, without = [], within = "document" }: Rules = {},
): Promise<string[]> {
  await bringAxe(page);
  const left = without.map((rule) => [rule, { enabled: false }]);
  // Controls must be large enough to touch. Axe checks this only if it is asked to.
  const everything = { rules: { "target-size": { enabled: true }, ...Object.fromEntries(left) } };
  const options = only === undefined ? everything : { runOnly: { type: "rule", values: only } };
  const run = `axe.run(${within}, ${JSON.stringify({ ...options, resultTypes: ["violations"], selectors: false })})`;
  return (await page.evaluate(`(async () => {
    const restore = ${REPLACE_ARABIC};
    try {
      const { violations } = await ${run};
      return violations.map(({ id, nodes: [node] }) => id + ": " + node.html + " " + node.failureSummary);
    } finally {
      restore();
    }
  })()`)) as string[];
}

/** The rules that colours decide. */
const OF_COLOURS = ["color-contrast", "link-in-text-block"];

/** Runs in a page: where each element lies, and whether it is shown. */
const PLACES = `JSON.stringify([...document.querySelectorAll("*")].map((each) => {
  const { x, y, width, height } = each.getBoundingClientRect();
  return [x, y, width, height, each.checkVisibility({ visibilityProperty: true })];
}))`;

/** Lists what axe finds wrong on a page in light, and what changes in dark. Leaves it dark. */
export async function axeInColours(page: Page): Promise<string[]> {
  // Colours that are on their way to others have a contrast of neither.
  await page.emulateMedia({ colorScheme: "light", reducedMotion: "reduce" });
  const found = (await axeViolations(page)).map((each) => `light: ${each}`);
  const places = await page.evaluate(PLACES);
  await page.emulateMedia({ colorScheme: "dark" });
  // Only colours change, so that the other rules find in dark what they find in light.
  if ((await page.evaluate(PLACES)) !== places) found.push("dark: something lies elsewhere");
  const inDark = await axeViolations(page, { only: OF_COLOURS });
  return [...found, ...inDark.map((each) => `dark: ${each}`)];
}

/**
 * Axe takes Arabic letters, which join, for an icon font, and then does not check their contrast. Therefore each Arabic letter is replaced
 * during the check by a Hebrew one, which does not join and also runs from right to left.
 */
const REPLACE_ARABIC = String.raw`(() => {
  const replaced = [];
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let text = texts.nextNode(); text !== null; text = texts.nextNode()) {
    const { data } = text;
    if (!/\p{Script=Arabic}/u.test(data)) continue;
    replaced.push([text, data]);
    text.data = data.replaceAll(/\p{Script=Arabic}/gu, "\u05d0");
  }
  return () => replaced.forEach(([text, data]) => (text.data = data));
})()`;

/**
 * Adds axe to the page and to later documents of its tab. A browser compiles such a script once for all documents of a tab, but it compiles
 * a script that is sent to a document each time.
 */
async function bringAxe(page: Page): Promise<void> {
  if (!tabs.has(page)) {
    tabs.add(page);
    await page.addInitScript(source);
  }
  if ((await page.evaluate("typeof axe")) === "undefined") await page.evaluate(source);
}
