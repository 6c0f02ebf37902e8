import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";

const source = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

interface Violation {
  readonly id: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
}

/** What axe finds wrong on a page, also on one whose own scripts are off: a rule and the first element that breaks it. */
export async function axeViolations(page: Page, rules: readonly string[] | null = null): Promise<string[]> {
  if ((await page.evaluate("typeof axe")) === "undefined") await page.evaluate(source);
  // Controls must be large enough to touch; axe leaves that out unless it is asked for.
  const everything = { rules: { "target-size": { enabled: true } } };
  const options = rules === null ? everything : { runOnly: { type: "rule", values: rules } };
  const run = `axe.run(document, ${JSON.stringify({ ...options, resultTypes: ["violations"] })})`;
  const { violations } = (await page.evaluate(run)) as { violations: readonly Violation[] };
  return violations.map(
    ({ id, nodes: [node] }) => `${id}: ${node?.html ?? ""} ${node?.failureSummary ?? ""}`,
  );
}
