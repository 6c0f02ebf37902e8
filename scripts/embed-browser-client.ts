import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { LANGUAGES } from "../src/languages/language.ts";
import { wordingIn } from "../src/languages/wording.ts";

const folder = new URL("../src/browser/", import.meta.url);
const target = new URL("../src/http/forms/browser-client.generated.ts", import.meta.url);

/** The texts for browsers in the executable. */
interface BrowserClient {
  readonly script: string;
  readonly scriptTypes: string;
  /** The same client as a module that can be imported. */
  readonly module: string;
  readonly moduleTypes: string;
  /** The script of our own pages that have a form which asks for a proof of work. */
  readonly pageScript: string;
}

export async function bundleBrowserClient(): Promise<BrowserClient> {
  const api = sourceOf("client-api.ts");
  return {
    script: await bundle("formsvc.ts", "iife"),
    scriptTypes: `${api}\n${withoutImports(sourceOf("client-global.ts"))}`,
    module: await bundle("formsvc-module.ts", "esm"),
    moduleTypes: `${api}\n${["submit", "enhanceForms"].map(declaration).join("")}`,
    pageScript: await bundle("formsvc-page.ts", "iife"),
  };
}

async function bundle(file: string, format: "iife" | "esm"): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL(file, folder))],
    bundle: true,
    minify: true,
    write: false,
    platform: "browser",
    format,
    target: "es2020",
    charset: "utf8",
    logLevel: "warning",
    define: { UNREACHABLE: JSON.stringify(unreachable()) },
  });
  return outputFiles[0]?.text ?? "";
}

/** The only sentence that visitors can get without the server, by language. */
function unreachable(): Record<string, string> {
  return Object.fromEntries(LANGUAGES.map((language) => [language, wordingIn(language).text("unreachable")]));
}

function sourceOf(file: string): string {
  return readFileSync(new URL(file, folder), "utf8");
}

/** Removes the imports of types. Each text of types is one file that imports nothing. */
function withoutImports(source: string): string {
  return source.replace(/^import type .*\n+/gm, "");
}

function declaration(name: string): string {
  return `export declare const ${name}: FormsvcModule["${name}"];\n`;
}

/** Writes the source of the module from which the server takes these texts. */
export async function renderBrowserClient(): Promise<string> {
  const lines = Object.entries(await bundleBrowserClient()).map(
    ([name, text]) => `export const ${name} = ${JSON.stringify(text)};`,
  );
  return `// Made by scripts/embed-browser-client.ts from src/browser/.\n${lines.join("\n")}\n`;
}

if (import.meta.main) writeFileSync(target, await renderBrowserClient());
