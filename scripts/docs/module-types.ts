import { readFileSync } from "node:fs";
import { moduleTypes } from "../../src/http/forms/browser-client.generated.ts";

const PAGE = "docs/recipes/npm.md";

/** Renders the page about npm projects, with the types that a server of this version serves. */
export function renderNpmRecipe(root: URL): string {
  const page = readFileSync(new URL(PAGE, root), "utf8");
  return page.replace(/(?<=^```ts formsvc\.d\.mts\n)[\s\S]*?(?=^```$)/m, () => moduleTypes);
}
