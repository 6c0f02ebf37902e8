import { mkdirSync, writeFileSync } from "node:fs";
import { defaultConfig } from "../src/config/config.ts";
import { renderGuarantees } from "./docs/access-table.ts";
import { renderCommands } from "./docs/commands-page.ts";
import { renderConfiguration } from "./docs/configuration-page.ts";
import { renderErrors } from "./docs/errors-page.ts";
import { renderNpmRecipe } from "./docs/module-types.ts";
import { renderTerraformRecipe } from "./docs/terraform-generator.ts";

const root = new URL("../", import.meta.url);

/** Renders every page that is made from the code, by its path in the repository. `npm run fix` writes them all. */
export async function renderDocs(): Promise<Readonly<Record<string, string>>> {
  return {
    "docs/commands.md": await renderCommands(),
    "docs/configuration.md": renderConfiguration(),
    "docs/errors.md": renderErrors(),
    "docs/guarantees.md": renderGuarantees(root),
    "docs/recipes/npm.md": renderNpmRecipe(root),
    "docs/recipes/terraform.md": renderTerraformRecipe(root),
    "formsvc.config.example.json": `${JSON.stringify(defaultConfig, null, 2)}\n`,
  };
}

if (import.meta.main) {
  mkdirSync(new URL("docs/", root), { recursive: true });
  for (const [path, content] of Object.entries(await renderDocs()))
    writeFileSync(new URL(path, root), content);
}
