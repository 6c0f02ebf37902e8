import type { Endpoint } from "../../endpoints/endpoint.ts";
import { countOf } from "../../foundation/count-of.ts";
import { html, type Html } from "../../foundation/html.ts";
import { plainText } from "../../foundation/plain-text.ts";
import type { SchemaDefinition } from "../../schemas/definition.ts";
import type { ImportFormat } from "../../submissions/import/examine-import.ts";
import { MAX_IMPORT_BYTES } from "../../submissions/import/import-spool.ts";
import { type Option, optionsOf, selectField } from "../kit/field.ts";
import { listTable } from "../kit/list-card.ts";
import { grouped } from "../kit/numbers.ts";
import { sentence } from "../kit/sentence.ts";
import { pathOf } from "./endpoint-frame.ts";
import { type ImportChoices, type ImportJob, type ImportState, MAX_SHOWN } from "./import-jobs.ts";

/** The form that posts are imported into. */
export interface ImportTarget {
  readonly endpoint: Endpoint;
  readonly definition: SchemaDefinition;
}

export const NO_CHOICES: ImportChoices = { format: null, encoding: null, map: [] };

/** The encodings of files, as spreadsheet programs of the owners' countries write them. */
export const ENCODINGS = optionsOf({
  "": "Find out (UTF-8 or UTF-16)",
  "windows-1252": "Western Europe (Windows-1252)",
  "windows-1250": "Central Europe (Windows-1250)",
  "windows-1251": "Cyrillic (Windows-1251)",
  "windows-1253": "Greek (Windows-1253)",
  "windows-1254": "Turkish (Windows-1254)",
  "windows-1255": "Hebrew (Windows-1255)",
  "windows-1256": "Arabic (Windows-1256)",
  macintosh: "Western Europe (old Macintosh)",
  "utf-16le": "UTF-16",
  shift_jis: "Japanese (Shift JIS)",
  gb18030: "Chinese (GB 18030)",
  big5: "Chinese (Big5)",
  "euc-kr": "Korean (EUC-KR)",
});

const FORMAT_WORDS: Readonly<Record<ImportFormat, string>> = {
  formspree: "Formspree",
  netlify: "Netlify Forms",
  basin: "Basin",
  google: "Google Forms",
  csv: "Any table, CSV or JSON",
  ndjson: "An export of formsvc (NDJSON or JSON)",
};
const FORMATS = optionsOf(FORMAT_WORDS);

/** @param problem why the file that was sent is refused; null before one was sent */
export function chooseFileView(endpoint: Endpoint, choices: ImportChoices, problem: string | null): Html {
  const id = "f-file";
  return html`<form class="card stacked" method="post" enctype="multipart/form-data" action="${pathOf(endpoint, "/import")}">
    <p>
      Brings what was sent to you before into this form: the export of another service, a table, or an export of formsvc. You see
      what would happen before anything is stored. Nobody is notified of what you import, and it counts towards no limit of a plan.
      <a href="/dashboard/help/migrating">What each service’s export needs</a>
    </p>
    ${selectField({ name: "format", label: "The file comes from", value: choices.format ?? "" }, [
      { value: "", label: "Find out" },
      ...FORMATS,
    ])}
    ${selectField({ name: "encoding", label: "Character set", value: choices.encoding ?? "", hint: "Choose another one if letters with accents come out wrong." }, ENCODINGS)}
    <div class="field">
      <label for="${id}">File</label>
      <input id="${id}" type="file" name="file" required accept=".csv,.tsv,.txt,.json,.ndjson,.jsonl,text/csv,application/json"${
        problem !== null && html` aria-invalid="true"`
      } aria-describedby="${problem !== null && `${id}-problem `}${id}-hint" />
      ${problem !== null && html`<p class="problem" id="${id}-problem" role="alert">${problem}</p>`}
      <p class="hint" id="${id}-hint">
        CSV, JSON or NDJSON, up to ${MAX_IMPORT_BYTES / 1_048_576} MiB. Save a spreadsheet (.xlsx) as CSV first.
      </p>
    </div>
    <p><button class="primary">Look at the file</button></p>
  </form>`;
}

/** The state of an import: its progress, what it would do, what it did, or why it did nothing. */
export function importJobView(job: ImportJob, target: ImportTarget): Html {
  const { state, step } = job;
  if (state.kind === "running") return runningView(job, state, target);
  if (state.kind === "ended" && step === "import") return importedView(job, state.outcome, target);
  return html`${state.kind === "failed" ? failureView(job, state.message) : wouldView(job, state.outcome)}
    ${state.kind === "ended" && refusedView(state.outcome)} ${choicesView(job, target)}`;
}

function runningView(
  { file, step }: ImportJob,
  { done, total }: Extract<ImportState, { kind: "running" }>,
  { endpoint }: ImportTarget,
): Html {
  const what = step === "look" ? "is looked at" : "is imported";
  return html`<section class="card" role="status">
    <header><h2>The file “<bdi>${plainText(file.name)}</bdi>” ${what}</h2></header>
    <p>
      ${total === null ? "It has just begun." : `${grouped(done)} of ${grouped(total)} rows so far.`} It goes on without this page.
    </p>
    <p><a class="button" href="${pathOf(endpoint, "/import")}?wait=1">See how far it is</a></p>
  </section>`;
}

type Outcome = Extract<ImportState, { kind: "ended" }>["outcome"];

function refusedCount({ rows, imported, known }: Outcome): number {
  return rows - imported - known;
}

function facts(outcome: Outcome, imported: string): Html {
  const lines: readonly (readonly [string, number])[] = [
    ["Rows in the file", outcome.rows],
    [imported, outcome.imported],
    ...(outcome.newIds > 0
      ? [["Of these with a new id, because another workspace has theirs", outcome.newIds] as const]
      : []),
    ["There already, left as they are", outcome.known - outcome.elsewhere],
    ...(outcome.elsewhere > 0 ? [["In another form, which keeps them", outcome.elsewhere] as const] : []),
    ["Refused", refusedCount(outcome)],
  ];
  return html`<dl class="facts">
    ${lines.map(([name, count]) => html`<div><dt>${name}</dt><dd class="num">${grouped(count)}</dd></div>`)}
  </dl>`;
}

function wouldView({ file, format, columns }: ImportJob, outcome: Outcome): Html {
  const hasTimes = format === "ndjson" || columns.some(({ target }) => target === "created_at");
  return html`<section class="card" role="status" aria-labelledby="would">
    <header><h2 id="would">What would happen with “<bdi>${plainText(file.name)}</bdi>”</h2></header>
    ${facts(outcome, "Would be imported")}
    ${
      !hasTimes &&
      html`<p class="notice warn">
        No column says when a post was sent, so each of them gets the time of the import. If one does, choose “When it was sent” for it
        below and look again.
      </p>`
    }
    <p class="muted">
      ${format !== null && `Read as: ${FORMAT_WORDS[format]}. `}Nothing is stored yet.
    </p>
  </section>`;
}

function importedView({ file }: ImportJob, outcome: Outcome, { endpoint }: ImportTarget): Html {
  return html`<section class="card" role="status" aria-labelledby="done">
      <header>
        <h2 id="done">“<bdi>${plainText(file.name)}</bdi>”: ${countOf(outcome.imported, "post")} imported</h2>
      </header>
      ${facts(outcome, "Imported")}
      <p class="row">
        <a class="button primary" href="/dashboard?endpoint=${endpoint.id}">Look at the posts</a>
        <a class="button" href="${pathOf(endpoint, "/import")}?new=1">Import another file</a>
      </p>
    </section>
    ${refusedView(outcome)}`;
}

function failureView({ file, step }: ImportJob, message: string): Html {
  const what = step === "look" ? "Nothing was imported" : "The import stopped";
  return html`<div class="notice bad" role="alert">
    <b>${what}: “<bdi>${plainText(file.name)}</bdi>”</b>
    <p>${sentence(plainText(inPageWords(message, file.name)))}</p>
    ${step === "import" && html`<p>Rows that came in before that are there. Look at the file again and go on: none is doubled.</p>`}
  </div>`;
}

/**
 * Rewrites a message for the page. Messages are written for a terminal: they begin with the file's name, and mention the option that maps
 * columns.
 */
function inPageWords(message: string, fileName: string): string {
  const said = message.startsWith(`${fileName}: `) ? message.slice(fileName.length + 2) : message;
  return said.replace(/map (?:it|them) \(COLUMN=\w+\)/, "choose below what each column is");
}

function refusedView(outcome: Outcome): Html | null {
  const count = refusedCount(outcome);
  if (count === 0) return null;
  const rows = outcome.refused.map(
    ({ line, field, message }) =>
      html`<tr>
        <td class="num" data-label="Line">${grouped(line)}</td>
        <td data-label="Field">${field === null ? "The row" : html`<bdi>${plainText(field)}</bdi>`}</td>
        <td class="full">${sentence(plainText(message))}</td>
      </tr>`,
  );
  const isCut = count > rows.length;
  return html`<section class="card list">
    <header><h2>${countOf(count, "row")} refused</h2></header>
    <p class="muted">
      Correct them in the file and import it again: what is there already is not doubled.${
        isCut && ` The first ${MAX_SHOWN} are shown.`
      }
    </p>
    ${listTable({ label: "Refused rows", columns: ["Line", "Field", "What is wrong"], rows })}
  </section>`;
}

const COLUMN_PREFIX = "column_";
/** The largest number of columns that can be changed on the page. Further columns are found by their names. */
const MAX_COLUMNS = 50;

/** `COLUMN=FIELD` for each column whose choice on the page differs from what its name says. */
export function columnChoices({ found, columns }: ImportJob, form: URLSearchParams): string[] {
  return found.flatMap(({ name, target }, index) => {
    const chosen = form.get(COLUMN_PREFIX + index) ?? columns[index]?.target ?? target;
    return chosen === target ? [] : [`${name}=${chosen}`];
  });
}

function choicesView(job: ImportJob, { endpoint, definition }: ImportTarget): Html {
  const { state, mark, format, choices, columns } = job;
  const path = pathOf(endpoint, "/import");
  const count = state.kind === "ended" ? state.outcome.imported : 0;
  const targets = targetsOf(definition);
  return html`<form class="card stacked" method="post" action="${path}/${count > 0 ? "begin" : "look"}">
    <input type="hidden" name="file_mark" value="${mark}" />
    ${count > 0 && html`<p><button class="primary">Import ${countOf(count, "post")}</button></p>`}
    ${columns.length > 0 && html`<h2>What becomes of each column</h2>`}
    ${columns
      .slice(0, MAX_COLUMNS)
      .map(({ name, target }, index) =>
        selectField({ name: COLUMN_PREFIX + index, label: plainText(name), value: target }, targets),
      )}
    ${columns.length > MAX_COLUMNS && html`<p class="hint">The other ${columns.length - MAX_COLUMNS} columns are found by their names.</p>`}
    ${selectField({ name: "format", label: "The file comes from", value: format ?? "" }, [
      ...(format === null ? [{ value: "", label: "Find out" }] : []),
      ...FORMATS,
    ])}
    ${selectField({ name: "encoding", label: "Character set", value: choices.encoding ?? "" }, ENCODINGS)}
    <p>
      <button formaction="${path}/look">Look again</button>
      <a class="button quiet" href="${path}?new=1">Choose another file</a>
    </p>
  </form>`;
}

/** What a column can be imported as: a field, or another fact about the post. */
function targetsOf(definition: SchemaDefinition): Option[] {
  const fields = Object.entries(definition).filter(([, { type }]) => type !== "file");
  const roles = ROLES.filter(({ value }) => value === "created_at" || !Object.hasOwn(definition, value));
  return [
    { value: "", label: "Leave it out" },
    ...fields
      .filter(([name]) => name !== "created_at")
      .map(([name, { label }]) => ({ value: name, label: `Field: ${plainText(label ?? name)}` })),
    ...roles,
  ];
}

const ROLES = optionsOf({
  created_at: "When it was sent",
  id: "The service’s number of the post",
  ip_address: "The sender’s address on the network",
  user_agent: "The sender’s browser",
});
