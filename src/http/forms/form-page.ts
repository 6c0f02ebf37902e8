import type { Brand } from "../../foundation/brand.ts";
import { escapeHtml, html, type Html, joinHtml } from "../../foundation/html.ts";
import type { TextKey, Wording } from "../../languages/wording.ts";
import type { FormEntry } from "../../submissions/receive/coerce-form.ts";
import { purposeOf } from "../../schemas/field-purpose.ts";
import { MAX_BOXES } from "../../schemas/form-inputs.ts";
import {
  asksForFiles,
  type FieldGroup,
  type FieldRules,
  isRepeated,
  type PageField,
  type PageForm,
} from "./form-fields.ts";
import { onceAddress } from "../posts/once.ts";
import { challengeHtml, challengeMark } from "./page-challenge.ts";
import type { VisitorProblem } from "../visitors/visitor-words.ts";
import { sealOf, visitorPage } from "../visitors/visitor-page.ts";

/** @param backTo the origin of the page with the form; null if it is not known. */
export function successPage(wording: Wording, backTo: string | null, brand: Brand): string {
  return visitorPage(
    wording.language,
    wording.text("thanks"),
    html`${sealOf("check")}
<h1>${wording.text("thanks")}</h1>
<p>${wording.text("received")}</p>
${backLink(wording, backTo)}`,
    brand,
  );
}

export interface ErrorPage {
  readonly wording: Wording;
  readonly heading: TextKey;
  /** The sentence for the visitor. */
  readonly sentence: TextKey;
  readonly problem: VisitorProblem;
  /** Whether the visitor sent something; false if the page itself was requested. */
  readonly isSent: boolean;
  /**
   * The error's name (`error` of its status), for somebody who looks for the reason; the page shows it with the id of the request, which
   * the log has.
   */
  readonly error: string;
  readonly requestId: string;
  readonly backTo: string | null;
  /** The form with the visitor's input, which can be sent again. */
  readonly form: PageForm;
  readonly brand: Brand;
}

export function errorPage(page: ErrorPage): string {
  const { wording, problem, isSent, error, requestId, backTo, form } = page;
  const [heading, sentence] = [wording.text(page.heading), wording.text(page.sentence)];
  const lost = isRepeated(form)
    ? formHtml(form, wording)
    : isSent && problem !== "held" && html`<p>${wording.text("goBack")}</p>`;
  return visitorPage(
    wording.language,
    heading,
    html`<h1>${heading}</h1>
<p>${sentence}</p>
${summary(form)}
${lost}
${backLink(wording, backTo)}
<p class="facts" lang="en" dir="ltr">${error} · request ${requestId}</p>`,
    page.brand,
  );
}

function backLink(wording: Wording, origin: string | null): Html | null {
  if (origin === null) return null;
  return html`<p><a href="${origin}/">${wording.text("backTo", { site: new URL(origin).host })}</a></p>`;
}

/** The list of problems, with a link to each input. It stands first, so a screen reader and the keyboard reach it first. */
function summary({ fields, problems }: PageForm): Html | null {
  const lines = [
    ...fields.flatMap((field, index) =>
      field.problems.map((text) => html`<li><a href="#i${index}">${text}</a></li>`),
    ),
    ...problems.map((text) => html`<li>${text}</li>`),
  ];
  return lines.length === 0 ? null : html`<ul class="problems">\n${joinHtml(lines, NEW_LINE)}\n</ul>`;
}

const NEW_LINE = html`\n`;

/**
 * Markup of the form with the visitor's input. The browser is told not to check it, because the server decides what is valid.
 */
function formHtml(form: PageForm, wording: Wording): Html {
  const { fields, others, hidden } = form;
  return html`<form ${sending(form)} novalidate>
${form.hasLostFiles === true && html`<p>${wording.text("chooseFilesAgain")}</p>`}
${joinHtml(hidden.map(hiddenHtml), NEW_LINE)}
${fieldsHtml(fields, wording)}
${joinHtml(others.map(otherHtml), NEW_LINE)}
${challengeHtml(form.challenge ?? null, wording)}
<button>${wording.text("sendAgain")}</button>
</form>`;
}

/** The attributes of a form that say how it is sent. */
function sending(form: PageForm): Html {
  const encoding = asksForFiles(form) ? html` enctype="multipart/form-data"` : null;
  return html`method="post" action="${onceAddress()}" accept-charset="utf-8"${encoding}${challengeMark(form.challenge ?? null)}`;
}

/** The number of bytes of the page that the visitor's input causes: everything except the schema's empty fields. */
export function repeatedBytes({ fields, others, hidden }: PageForm): number {
  const markup = [
    ...fields.flatMap((field) => [...field.values.map(escapeHtml), ...furtherValues(field).map(otherHtml)]),
    ...others.map(otherHtml),
    ...hidden.map(hiddenHtml),
  ];
  return markup.reduce((bytes, each) => bytes + Buffer.byteLength(String(each)) + MARK.length, 0);
}

/** The longest attribute that marks a value as chosen. */
const MARK = " selected";

function hiddenHtml([name, value]: FormEntry): Html {
  return html`<input type="hidden" name="${name}" value="${value}">`;
}

/** Markup of fields; the inputs of a group, or of one item of a list, stand together. */
function fieldsHtml(fields: readonly PageField[], wording: Wording): Html {
  const parts: { group: FieldGroup | undefined; inputs: Html[] }[] = [];
  for (const [index, field] of fields.entries()) {
    const last = parts.at(-1);
    const shown = fieldHtml(field, index, wording);
    if (last !== undefined && last.group?.name === field.group?.name) last.inputs.push(shown);
    else parts.push({ group: field.group, inputs: [shown] });
  }
  const shown = parts.map(({ group, inputs }) => {
    const all = joinHtml(inputs, NEW_LINE);
    return group === undefined
      ? all
      : html`<fieldset><legend dir="auto">${group.label}${optionalMark(group, wording)}</legend>\n${all}\n</fieldset>`;
  });
  return joinHtml(shown, NEW_LINE);
}

function fieldHtml(field: PageField, index: number, wording: Wording): Html {
  const id = `i${index}`;
  const isWrong = field.problems.length > 0;
  const hint = field.hint === undefined ? null : html`<p class="hint" id="${id}-hint">${field.hint}</p>`;
  const problems = isWrong
    ? html`<p class="problem" id="${id}-problem">${joinHtml(
        field.problems.map((text) => html`${text}`),
        html`<br>`,
      )}</p>`
    : null;
  const described = [isWrong && `${id}-problem`, hint !== null && `${id}-hint`].filter(Boolean).join(" ");
  const marks = html`${isWrong && html` aria-invalid="true"`}${described !== "" && html` aria-describedby="${described}"`}`;
  if (isTicked(field)) return boxesHtml(field, { id, marks, problems, wording });
  const attributes = html`id="${id}" name="${field.name}"${ruleMarks(field)}${marks}`;
  if (field.kind === "checkbox") {
    const checked = ["on", "true", "1"].includes(field.values[0] ?? "") ? html` checked` : null;
    // If a name is sent twice, the last value counts.
    const none = field.emptyBox !== null && hiddenHtml([field.name, field.emptyBox]);
    return html`<div>${none}<input type="checkbox" value="on" ${attributes}${checked}><label class="check" for="${id}">${field.label}</label>${problems}</div>`;
  }
  const further = furtherValues(field).map(otherHtml);
  return html`<div><label for="${id}">${field.label}${optionalMark(field.rules, wording)}</label>${controlHtml(field, attributes)}${further}${hint}${problems}</div>`;
}

function optionalMark(
  marked: Pick<FieldRules, "isMarkedOptional"> | undefined,
  wording: Wording,
): Html | null {
  if (marked?.isMarkedOptional !== true) return null;
  return html` <span class="optional">(${wording.text("optional")})</span>`;
}

/** Whether a choice is shown as boxes to tick. A list with several choices needs a key and the mouse, which few people know. */
function isTicked({ kind, options, rules }: PageField): boolean {
  return kind === "choices" && rules !== undefined && options.length <= MAX_BOXES;
}

interface BoxParts {
  readonly id: string;
  readonly marks: Html;
  readonly problems: Html | null;
  readonly wording: Wording;
}

function boxesHtml(field: PageField, { id, marks, problems, wording }: BoxParts): Html {
  const boxes = field.options
    .filter((option) => option !== "")
    .map((option, index) => {
      const checked = field.values.includes(option) ? html` checked` : null;
      return html`<div><input type="checkbox" name="${field.name}" id="${id}-${index}" value="${option}"${marks}${checked}><label class="check" for="${id}-${index}">${option}</label></div>`;
    });
  return html`<fieldset class="boxes" id="${id}"><legend dir="auto">${field.label}${optionalMark(field.rules, wording)}</legend>${joinHtml(boxes, NEW_LINE)}${problems}</fieldset>`;
}

/** The kinds of input whose lengths and pattern a browser checks. */
const TYPED: ReadonlySet<PageField["kind"]> = new Set(["text", "area", "email", "url", "phone"]);

function ruleMarks({ kind, rules }: PageField): Html | null {
  if (rules === undefined) return null;
  const isText = TYPED.has(kind);
  const [min, max] = isText ? [rules.minLength, rules.maxLength] : [null, null];
  const pattern = isText && kind !== "area" ? rules.pattern : null;
  return html`${rules.isRequired && html` required`}${min !== null && html` minlength="${min}"`}${max !== null && html` maxlength="${max}"`}${pattern !== null && html` pattern="${pattern}"`}`;
}

/** The form's own page before anything was sent. */
export function blankPage(wording: Wording, look: PageLook, form: PageForm, honeypot: string | null): string {
  return visitorPage(
    wording.language,
    look.title,
    html`${look.logo !== null && html`<img class="logo" src="${look.logo}" alt="">`}
<h1 dir="auto">${look.title}</h1>
${look.intro !== null && paragraphs(look.intro)}
<form ${sending(form)}>
${honeypot !== null && html`<div class="far" aria-hidden="true"><input name="${honeypot}" tabindex="-1" autocomplete="off"></div>`}
${fieldsHtml(form.fields, wording)}
${challengeHtml(form.challenge ?? null, wording)}
<button>${wording.text("send")}</button>
</form>`,
    look.brand,
  );
}

/** The form's own page after a mistake: the whole form with what was typed. */
export function ownErrorPage(page: ErrorPage, look: PageLook): string {
  const { wording, form, error, requestId } = page;
  const heading = wording.text(page.heading);
  return visitorPage(
    wording.language,
    `${heading}: ${look.title}`,
    html`${look.logo !== null && html`<img class="logo" src="${look.logo}" alt="">`}
<h1 dir="auto">${look.title}</h1>
<div class="wrong" role="alert"><h2>${heading}</h2>
<p>${wording.text(page.sentence)}</p>
${summary(form)}
</div>
${formHtml(form, wording)}
<p class="facts" lang="en" dir="ltr">${error} · request ${requestId}</p>`,
    look.brand,
  );
}

/** The form's own page after the form was sent. */
export function thanksPage(wording: Wording, { logo, thanks, brand }: PageLook): string {
  return visitorPage(
    wording.language,
    wording.text("thanks"),
    html`${logo !== null && html`<img class="logo" src="${logo}" alt="">`}
${sealOf("check")}
<h1>${wording.text("thanks")}</h1>
${thanks === null ? html`<p>${wording.text("received")}</p>` : paragraphs(thanks)}`,
    brand,
  );
}

/** The look of a form's own page, which its owner chose. */
export interface PageLook {
  readonly title: string;
  readonly intro: string | null;
  readonly logo: string | null;
  readonly thanks: string | null;
  /** The workspace's brand, with the page's own colour if it has one. */
  readonly brand: Brand;
}

function paragraphs(text: string): Html {
  const parts = text.split(/\n{2,}/).map(
    (part) =>
      html`<p dir="auto">${joinHtml(
        part.split("\n").map((line) => html`${line}`),
        html`<br>`,
      )}</p>`,
  );
  return joinHtml(parts, NEW_LINE);
}

/** The values of a list beyond the first, which need inputs of their own; a multiple choice has one input for all. */
function furtherValues({ kind, name, values }: PageField): FormEntry[] {
  return kind === "choices" ? [] : values.slice(1).map((value) => [name, value]);
}

/** Markup of an undeclared input. It is short, because there may be many: each costs the visitor only a few bytes. */
function otherHtml([name, value]: FormEntry): Html {
  const control = /[\r\n]/.test(value)
    ? html`<textarea name="${name}">\n${value}</textarea>`
    : html`<input name="${name}" value="${value}">`;
  return html`<label>${name}${control}</label>`;
}

function controlHtml({ kind, name, values, options }: PageField, attributes: Html): Html {
  const text = values[0] ?? "";
  switch (kind) {
    case "area":
      // HTML drops one line break directly after the tag.
      return html`<textarea ${purposeMark(name, "lines")}${attributes} dir="auto">\n${text}</textarea>`;
    case "choice":
      return html`<select ${attributes}><option value="">–</option>${choices(options, values)}</select>`;
    case "choices":
      return html`<select multiple ${attributes}>${choices(options, values)}</select>`;
    case "file":
    case "files":
      return html`<input type="file" ${attributes} accept="${options.join(",")}"${kind === "files" ? html` multiple` : null}>`;
    case "number":
      return html`<input type="text" inputmode="decimal" ${attributes} value="${text}">`;
    case "email":
      return html`<input type="email" autocomplete="email" ${attributes} value="${text}">`;
    case "phone":
      return html`<input type="tel" autocomplete="tel" ${attributes} value="${text}">`;
    case "date":
      return html`<input type="date" ${purposeMark(name, "date")}${attributes} value="${text}">`;
    case "url":
    case "text":
    case "checkbox":
    default:
      return html`<input type="${kind === "url" ? "url" : "text"}" ${purposeMark(name, "text")}${attributes} value="${text}" dir="auto">`;
  }
}

/** Tells the browser which facts about the visitor it may fill in. */
function purposeMark(name: string, kind: Parameters<typeof purposeOf>[1]): Html | null {
  const purpose = purposeOf(name, kind);
  return purpose === null ? null : html`autocomplete="${purpose}" `;
}

/** Matches an option that needs no `value` attribute: the browser then sends its text, which HTML must not change. */
const PLAIN_OPTION = /^[^\t\n\f\r ]+(?: [^\t\n\f\r ]+)*$/;

function choices(options: readonly string[], chosen: readonly string[]): Html[] {
  return options
    .filter((option) => option !== "")
    .map((option) => {
      const value = PLAIN_OPTION.test(option) ? null : html` value="${option}"`;
      const mark = chosen.includes(option) ? html` selected` : null;
      return html`<option${value}${mark}>${option}</option>`;
    });
}
