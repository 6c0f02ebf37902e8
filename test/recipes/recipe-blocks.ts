import { readdirSync, readFileSync } from "node:fs";

/** A fenced block of a recipe. */
export interface Block {
  readonly language: string;
  /** The file that the block shows; empty if it shows none. */
  readonly file: string;
  readonly text: string;
}

/** What a reader puts in the place of the examples' server and key. */
export interface Own {
  readonly url: string;
  readonly publishable: string;
}

const folder = new URL("../../docs/recipes/", import.meta.url);

export const recipeNames: readonly string[] = readdirSync(folder)
  .filter((name) => name.endsWith(".md") && name !== "README.md")
  .map((name) => name.slice(0, -3));

/** A recipe's blocks as they stand in the document, but for the server's address and the publishable key. */
export function readRecipe(name: string, own: Own): Block[] {
  const text = readFileSync(new URL(`${name}.md`, folder), "utf8")
    .replaceAll("https://forms.example.com", own.url)
    .replaceAll("fpk_YOUR_PUBLISHABLE_KEY", own.publishable);
  return blocksOf(text);
}

/** The fenced blocks of a document, in their order. */
export function blocksOf(text: string): Block[] {
  const fences = text.matchAll(/^```(\w+)(?: (\S+))?\n([\s\S]*?)^```$/gm);
  return [...fences].map(([, language = "", file = "", block = ""]) => ({ language, file, text: block }));
}
