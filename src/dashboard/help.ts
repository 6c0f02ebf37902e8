import { brotliDecompressSync } from "node:zlib";
import { documentation, type Html } from "../foundation/html.ts";
import { packedHelp } from "./help.generated.ts";

/** The pages of docs/ as this version has them, and which of them belongs to a page of the dashboard. */

export interface HelpPage {
  readonly title: string;
  readonly content: Html;
}

type Packed = Readonly<Record<string, { readonly title: string; readonly markup: string }>>;

let pages: Packed | null = null;

/** The page of this name, like `spam`; null if there is none. The first one unpacks all of them, which takes some 5 ms. */
export function findHelp(name: string): HelpPage | null {
  pages ??= JSON.parse(brotliDecompressSync(Buffer.from(packedHelp, "base64")).toString("utf8")) as Packed;
  const found = Object.hasOwn(pages, name) ? pages[name] : undefined;
  return found === undefined ? null : { title: found.title, content: documentation(found.markup) };
}

/** The first one that a page's path begins with, or is if it ends with `$`. */
const TOPICS: readonly (readonly [path: RegExp, topic: string])[] = [
  [/^\/dashboard\/held/, "spam#a-real-person-was-blocked"],
  [/^\/dashboard\/spam/, "spam#your-own-settings"],
  [/^\/dashboard\/endpoints\/(?:new$|[^/]+\/fields)/, "schemas"],
  [/^\/dashboard\/endpoints\/[^/]+\/reply/, "notifications#automatic-reply"],
  [/^\/dashboard\/endpoints\/[^/]+\/try/, "recipes"],
  [/^\/dashboard\/(?:notifications|recipients|replies)/, "notifications"],
  [/^\/dashboard\/webhooks\/new/, "notifications#in-a-chat"],
  [/^\/dashboard\/webhooks/, "webhooks#when-it-does-not-work"],
  [/^\/dashboard\/account/, "dashboard#passwords-the-second-factor-sessions"],
  [/^\/dashboard\/submissions/, "spam#read-an-explanation"],
];

/** Of pages that are there for operators alone. */
const OPERATORS_TOPICS: typeof TOPICS = [
  [/^\/dashboard\/system\/(?:accounts|workspaces)/, "dashboard#who-sees-what"],
  [/^\/dashboard\/system/, "monitoring#what-doctor-checks"],
];

/** The address of the help that belongs to a page. For an owner a page of operators is like one that is not there, in its help too. */
export function helpFor(path: string, isOperator: boolean): string {
  const topics = isOperator ? [...OPERATORS_TOPICS, ...TOPICS] : TOPICS;
  const topic = topics.find(([pattern]) => pattern.test(path))?.[1] ?? "dashboard#the-pages";
  return `/dashboard/help/${topic}`;
}
