import { brotliDecompressSync } from "node:zlib";
import { nearestName } from "../foundation/nearest-name.ts";
import type { ManualPage } from "./page.ts";
import { packedPages } from "./pages.generated.ts";

/** The pages of docs/, as they are in this version. */

export interface Topic {
  /** The path without `.md`, with `-` for `/`: `spam`, `recipes-hugo`. */
  readonly name: string;
  /** A few words about the page. */
  readonly summary: string;
}

/** In the order of docs/llms.txt. */
export const topics: readonly Topic[] = packedPages.map(([name, summary]) => ({ name, summary }));

/** The page of this name; null if there is none. */
export function findPage(name: string): ManualPage | null {
  const packed = packedPages.find(([each]) => each === name)?.[2];
  if (packed === undefined) return null;
  return JSON.parse(brotliDecompressSync(Buffer.from(packed, "base64")).toString("utf8")) as ManualPage;
}

/** The page's name if somebody wrote it in another case or as a path: `docs/SPAM.md`, `recipes/hugo`. */
export function topicName(given: string): string {
  const plain = given
    .replace(/^(?:\.\/)?docs\//, "")
    .replace(/\.md$/i, "")
    .replace(/\/README$/i, "")
    .replaceAll("/", "-");
  return topics.find(({ name }) => name.toLowerCase() === plain.toLowerCase())?.name ?? plain;
}

/** The largest number of topics that are offered in place of an unknown one. */
const MAX_NEAR = 3;

/** The topics that are similar to an unknown name: their names contain its words, or are nearly equal. */
export function nearTopics(given: string): readonly string[] {
  const plain = topicName(given).toLowerCase();
  const names = topics.map(({ name }) => name);
  const nearest = nearestName(plain, names);
  const alike = names.filter((name) => plain.length > 2 && name.toLowerCase().includes(plain));
  return [...new Set([...(nearest === undefined ? [] : [nearest]), ...alike])].slice(0, MAX_NEAR);
}
