import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const folder = new URL("../src/browser/", import.meta.url);
const target = new URL("../src/http/browser-client.generated.ts", import.meta.url);

/** What the executable carries for browsers: one script, and its types. */
export async function bundleBrowserClient(): Promise<{ script: string; types: string }> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL("formsvc.ts", folder))],
    bundle: true,
    minify: true,
    write: false,
    platform: "browser",
    format: "iife",
    target: "es2020",
    charset: "utf8",
    logLevel: "warning",
  });
  const types = readFileSync(new URL("client-api.ts", folder), "utf8");
  return { script: outputFiles[0]?.text ?? "", types };
}

/** The source of the module that hands it to the server. */
export async function renderBrowserClient(): Promise<string> {
  const { script, types } = await bundleBrowserClient();
  const lines = [
    "// Made by scripts/embed-browser-client.ts from src/browser/.",
    `export const script = ${JSON.stringify(script)};`,
    `export const types = ${JSON.stringify(types)};`,
  ];
  return `${lines.join("\n")}\n`;
}

if (import.meta.main) writeFileSync(target, await renderBrowserClient());
