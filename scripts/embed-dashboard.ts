import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build, transform } from "esbuild";

const entry = new URL("../src/browser/dashboard/dashboard.ts", import.meta.url);
const sheet = new URL("../src/dashboard/assets/style.css", import.meta.url);
const target = new URL("../src/dashboard/assets/assets.generated.ts", import.meta.url);

/** Bundles what the dashboard's pages load: one script and one style sheet. */
async function bundleDashboard(): Promise<{ script: string; style: string }> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(entry)],
    bundle: true,
    minify: true,
    write: false,
    platform: "browser",
    format: "esm",
    target: "es2022",
    charset: "utf8",
    logLevel: "warning",
  });
  const { code } = await transform(readFileSync(sheet, "utf8"), { loader: "css", minify: true });
  return { script: outputFiles[0]?.text ?? "", style: code };
}

/** Writes the source of the module from which the server takes them. */
export async function renderDashboardAssets(): Promise<string> {
  const { script, style } = await bundleDashboard();
  const lines = [
    "// Made by scripts/embed-dashboard.ts from src/browser/dashboard/ and src/dashboard/assets/style.css.",
    `export const script = ${JSON.stringify(script)};`,
    `export const style = ${JSON.stringify(style)};`,
  ];
  return `${lines.join("\n")}\n`;
}

if (import.meta.main) writeFileSync(target, await renderDashboardAssets());
