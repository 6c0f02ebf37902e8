import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";

const source = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** Tabs whose documents come with axe. */
const tabs = new WeakSet<Page>();

/** Which rules axe applies: some alone, or all without some. */
interface Rules {
  readonly only?: readonly string[];
  readonly without?: readonly string[];
}

/** What axe finds wrong on a page, also on one whose own scripts are off: a rule and the first element that breaks it. */
export async function axeViolations(page: Page, { only, without = [] }: Rules = {}): Promise<string[]> {
  await bringAxe(page);
  const left = without.map((rule) => [rule, { enabled: false }]);
  // Controls must be large enough to touch; axe leaves that out unless it is asked for.
  const everything = { rules: { "target-size": { enabled: true }, ...Object.fromEntries(left) } };
  const options = only === undefined ? everything : { runOnly: { type: "rule", values: only } };
  const run = `axe.run(document, ${JSON.stringify({ ...options, resultTypes: ["violations"], selectors: false })})`;
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

/**
 * Axe takes the letters of Arabic, which join, for an icon of a font of icons, and looks at no contrast of theirs. While it looks, letters
 * stand there that do not join, and run in the same direction.
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

/** A browser compiles a script for all documents of a tab once, and one that is sent to a document each time. */
async function bringAxe(page: Page): Promise<void> {
  if (!tabs.has(page)) {
    tabs.add(page);
    await page.addInitScript(source);
  }
  if ((await page.evaluate("typeof axe")) === "undefined") await page.evaluate(source);
}
