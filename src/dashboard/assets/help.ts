import type { Html } from "../../foundation/html.ts";
import { findPage } from "../../manual/manual.ts";
import { pageMarkup } from "../../manual/page-markup.ts";

/** The pages of docs/ as they are in this version, and the one that belongs to each page of the dashboard. */

export interface HelpPage {
  readonly title: string;
  readonly content: Html;
}

const ROOT = "/dashboard/help/";

/** The page of this name, like `spam`; null if there is none. */
export function findHelp(name: string): HelpPage | null {
  const found = findPage(name);
  return found === null ? null : { title: found.title, content: pageMarkup(found.blocks, ROOT) };
}

/** The help topics by page. The first one counts whose path is the beginning of the page's path, or all of it if it ends with `$`. */
const TOPICS: readonly (readonly [path: RegExp, topic: string])[] = [
  [/^\/dashboard\/held/, "spam#a-real-person-was-blocked"],
  [/^\/dashboard\/spam/, "spam#your-own-settings"],
  [/^\/dashboard\/endpoints\/(?:new$|[^/]+\/fields)/, "schemas"],
  [/^\/dashboard\/endpoints\/[^/]+\/reply/, "notifications#automatic-reply"],
  [/^\/dashboard\/endpoints\/[^/]+\/try/, "recipes"],
  [/^\/dashboard\/(?:notifications|recipients|replies)/, "notifications"],
  [/^\/dashboard\/webhooks\/new/, "notifications#in-a-chat"],
  [/^\/dashboard\/webhooks/, "webhooks#when-it-does-not-work"],
  [/^\/dashboard\/invitations?/, "people#invitations"],
  [/^\/dashboard\/(?:members|workspaces\/[^/]+\/(?:members|leave))/, "people#members"],
  [/^\/dashboard\/account/, "dashboard#passwords-the-second-factor-sessions"],
  [/^\/dashboard\/submissions/, "spam#read-an-explanation"],
];

/** The topics of pages for operators only. */
const OPERATORS_TOPICS: typeof TOPICS = [
  [/^\/dashboard\/system\/(?:accounts|workspaces)/, "dashboard#who-sees-what"],
  [/^\/dashboard\/system/, "monitoring#what-doctor-checks"],
];

/** The address of the help for a page. For an owner, an operators' page is like a page that does not exist, in its help too. */
export function helpFor(path: string, isOperator: boolean): string {
  const topics = isOperator ? [...OPERATORS_TOPICS, ...TOPICS] : TOPICS;
  const topic = topics.find(([pattern]) => pattern.test(path))?.[1] ?? "dashboard#the-pages";
  return ROOT + topic;
}
