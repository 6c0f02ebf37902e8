import { html, type Html } from "../../foundation/html.ts";
import { jsonText, plainLines, plainText } from "../../foundation/plain-text.ts";
import type { SchemaDefinition } from "../../schemas/definition.ts";
import { labelAt } from "../../schemas/field-label.ts";
import { CLASS_SCORES } from "../../spam/spam-verdict.ts";
import type { Submission } from "../../submissions/stored/submission.ts";
import { browserOf } from "./sender-facts.ts";
import { exactTime } from "../kit/time.ts";

/** The largest number of fields with a line of their own, because a stranger's post may have thousands. */
const MAX_FIELDS = 200;
/** The largest number of characters of a reason that are shown. */
const MAX_REASON_LENGTH = 300;

/** Renders a value in a special way; null renders it like any other. */
export type ShowValue = (value: unknown) => Html | null;

/** The posted values. @param fields the form's fields in their order; other values follow them */
export function factsCard(
  { data, createdAt }: Pick<Submission, "data" | "createdAt">,
  formName: string,
  fields: SchemaDefinition,
  show: ShowValue = () => null,
): Html {
  const known = Object.keys(fields).filter((name) => Object.hasOwn(data, name));
  const names = [...known, ...Object.keys(data).filter((name) => !Object.hasOwn(fields, name))];
  const left = names.length - MAX_FIELDS;
  return html`<section class="card">
    <header>
      <h2><bdi>${formName}</bdi></h2>
      <span class="muted">${exactTime(createdAt)}</span>
    </header>
    <dl>
      ${names.slice(0, MAX_FIELDS).map((name) => fact(plainText(labelAt(fields, [name])), show(data[name]) ?? valueView(data[name])))}
    </dl>
    ${left > 0 && html`<p class="muted">${left} more fields are not shown.</p>`}
    ${names.length === 0 && html`<p class="empty">Nothing was filled in.</p>`}
  </section>`;
}

export function senderCard({
  id,
  ipAddress,
  userAgent,
}: Pick<Submission, "id" | "ipAddress" | "userAgent">): Html {
  const browser = browserOf(userAgent);
  return html`<section class="card">
    <header><h2>Where it came from</h2></header>
    <dl>
      ${fact("Network address", ipAddress === "" ? html`<span class="muted">not kept</span>` : html`${plainText(ipAddress)}`)}
      ${fact("Browser", browser === null ? html`<span class="muted">not told</span>` : html`${browser}`)}
      <div>
        <dt>Number</dt>
        <dd class="mono">${id}</dd>
      </div>
    </dl>
  </section>`;
}

/** The reasons with their points, which add up to the score like a bill. */
export function reasonList({ spamScore, spamReasons }: Pick<Submission, "spamScore" | "spamReasons">): Html {
  return html`<ul class="sum">
    ${spamReasons.length === 0 && html`<li><span>0</span><span>nothing looks like spam</span></li>`}
    ${spamReasons.map(({ points, field, detail }) => {
      const words = plainText(detail).slice(0, MAX_REASON_LENGTH).toWellFormed();
      const where =
        field === null
          ? null
          : html` <span class="muted">in <bdi>${plainText(field).slice(0, 100).toWellFormed()}</bdi></span>`;
      return html`<li>
        <span class="${points > 0 ? "plus" : "minus"}">${points > 0 ? `+${points}` : `−${-points}`}</span>
        <span><bdi>${words}</bdi>${where}</span>
      </li>`;
    })}
    <li class="total"><span>${spamScore}</span><span>of 100; from ${CLASS_SCORES.blocked[0]} on a post is held as spam</span></li>
  </ul>`;
}

export function fact(name: string, value: Html): Html {
  return html`<div>
    <dt><bdi>${name}</bdi></dt>
    <dd dir="auto">${value}</dd>
  </div>`;
}

export function valueView(value: unknown): Html {
  if (value === null || value === undefined || value === "") return html`<span class="muted">empty</span>`;
  if (typeof value === "boolean") return html`${value ? "yes" : "no"}`;
  if (Array.isArray(value) && value.every((each) => typeof each === "string"))
    return html`${plainLines(value.join("\n"))}`;
  return html`${typeof value === "string" ? plainLines(value) : prettyJson(value)}`;
}

/**
 * The largest number of levels that are indented. Each line of a post that nests a thousand levels deep would begin with thousands of
 * blanks.
 */
const MAX_INDENTED_DEPTH = 6;

export function prettyJson(value: unknown): string {
  return jsonText(value, isDeeperThan(MAX_INDENTED_DEPTH, value) ? undefined : 2);
}

function isDeeperThan(depth: number, value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  return depth === 0 || Object.values(value).some((member) => isDeeperThan(depth - 1, member));
}
