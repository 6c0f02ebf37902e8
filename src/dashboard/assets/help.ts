import type { Html } from "../../foundation/html.ts";
import { findPage } from "../../manual/manual.ts";
import { pageMarkup } from "../../manual/page-markup.ts";

/** The pages of docs/ as this version has them, and which of them belongs to a page of the dashboard. */

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
  [/^\/dashboard\/invitations?/, "people#invitations"],
  [/^\/dashboard\/(?:members|workspaces\/[^/]+\/(?:members|leave))/, "people#members"],
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
  return ROOT + topic;
}
