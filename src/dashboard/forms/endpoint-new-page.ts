import type { Steps } from "../../database/steps.ts";
import { createEndpoint } from "../../endpoints/create-endpoint.ts";
import { getViewableEndpoint } from "../../endpoints/endpoint-store.ts";
import { listEndpointNames } from "../../endpoints/viewable-endpoints.ts";
import { FormsvcError } from "../../foundation/errors.ts";
import { html, type Html } from "../../foundation/html.ts";
import { inNameOrder } from "../../foundation/name-order.ts";
import { findLanguage, type Language } from "../../languages/language.ts";
import type { FileBounds } from "../../schemas/posted-file.ts";
import type { SchemaDefinition } from "../../schemas/definition.ts";
import { checkName } from "../../workspaces/workspace.ts";
import { getViewableWorkspace, listViewableWorkspaces } from "../../workspaces/workspace-store.ts";
import { labelWorkspaces } from "../../workspaces/label-workspaces.ts";
import { type Answer, checkedForm, page, redirect } from "../answer.ts";
import { languageOptions } from "../kit/language-options.ts";
import {
  choiceField,
  NO_PROBLEMS,
  type Problems,
  problemSummary,
  selectField,
  textField,
} from "../kit/field.ts";
import { createOnce, onceInput } from "../kit/once.ts";
import { ownAddress } from "../own-address.ts";
import type { DashboardParts } from "../parts.ts";
import { planName } from "../system/plan-name.ts";
import type { Routes, Visit } from "../routes.ts";
import { GIVE_NAME } from "./form-name.ts";
import { createdView } from "./endpoint-created-view.ts";
import { checkDraft, draftOf, editDraft, problemsOf, readDraft, type SchemaDraft } from "./schema-draft.ts";
import {
  fieldsIn,
  findReadyMade,
  type ReadyMade,
  readyMade,
  startLinks,
  translateRows,
} from "./ready-made.ts";
import { builder, enterButton } from "./schema-editor.ts";
import { sentence } from "../kit/sentence.ts";

const PATH = "/dashboard/endpoints/new";
/** The language of a ready-made form if the language of the form is left to each visitor's browser. */
const WITHOUT_LANGUAGE: Language = "en";
/** The largest number of workspaces in one list, because an operator may see any number of them. */
const MAX_OFFERED = 500;

interface OfferedWorkspace {
  readonly id: string;
  readonly plan: string;
  readonly label: string;
}

interface NewForm {
  readonly name: string;
  readonly workspaceId: string;
  /** Whether people fill the form in on its own page. */
  readonly hasPage: boolean;
  /** A language tag; empty means the language of the visitor's browser. */
  readonly language: Language | "";
  /** The ready-made form that this form began from, whatever was changed since. */
  readonly start: ReadyMade | null;
  readonly draft: SchemaDraft;
  /** The language of the words in the draft that came from a ready-made form. */
  readonly wordsIn: Language;
  readonly problems: Problems;
  /** The form that was sent. It keeps its mark when it is shown again. */
  readonly sent?: URLSearchParams;
}

const BLANK = { name: "", hasPage: false, problems: NO_PROBLEMS };

/** `/dashboard/endpoints/new`: asks for the name and the fields of a form, and then shows its keys once. */
export function endpointNewPages(routes: Routes, parts: DashboardParts): void {
  const once = createOnce((answer) => answer.kind === "page" && answer.status === 201);

  routes.read("/endpoints/new", async (visit) => {
    const chosen = readyMade(visit.query.get("start"));
    const language = findLanguage(visit.query.get("language")) ?? "";
    const wordsIn = language || WITHOUT_LANGUAGE;
    const draft = draftOf(fieldsIn(chosen, wordsIn));
    const workspaceId = visit.query.get("workspace") ?? "";
    return show(visit, { ...BLANK, workspaceId, language, start: chosen, draft, wordsIn }, 200);
  });

  routes.write("/endpoints/new", async (visit) => {
    const typed = readTyped(visit.form);
    const action = visit.form.get("action") ?? "create";
    if (action === "check")
      return checkedForm(new Map([...nameProblem(typed.name), ...problemsOf(typed.draft)]));
    if (action === "create") return once.run(visit, () => create(visit, typed), madeAlready);
    const edited = editDraft(typed.draft, action);
    return show(visit, { ...typed, ...edited }, edited.problems.size === 0 ? 200 : 422);
  });

  async function create(visit: Visit, typed: NewForm): Promise<Answer> {
    const checked = checkDraft(typed.draft);
    const problems = new Map([
      ...nameProblem(typed.name),
      ...(await parts.db.read(() => workspaceProblem(visit.viewer, typed.workspaceId))),
      ...(checked.definition === null ? checked.problems : []),
    ]);
    if (checked.definition === null || problems.size > 0) return show(visit, { ...typed, problems }, 422);
    try {
      return page("The form is made", await make(visit, typed, checked.definition), 201);
    } catch (error) {
      if (!(error instanceof FormsvcError) || !SHOWN.has(error.code)) throw error;
      const where = error.code === "plan_limit" ? "" : "name";
      return show(visit, { ...typed, problems: new Map([[where, sentence(error.message)]]) }, 422);
    }
  }

  async function make(
    { viewer, perform, request }: Visit,
    typed: NewForm,
    schema: SchemaDefinition,
  ): Promise<Html> {
    const workspace = await parts.db.read(() => chosenWorkspace(viewer, typed.workspaceId));
    const { name, language, hasPage } = typed;
    const settings = { language: language || null, page: hasPage ? ("on" as const) : ("off" as const) };
    const input = { name, workspace: workspace.id, schema, ...settings };
    const { endpoint: made, keys } = await perform(createEndpoint, input);
    const base = ownAddress(request, parts.config);
    return parts.db.read(function* () {
      const endpoint = yield* getViewableEndpoint(viewer, made.id);
      const names = yield* listEndpointNames(viewer, null);
      const hasNamesake = names.some(({ id, name }) => name === endpoint.name && id !== endpoint.id);
      const created = { endpoint, definition: schema, keys, hasNamesake };
      return createdView(created, { base, fileBounds: parts.config.files });
    });
  }

  async function show({ viewer }: Visit, form: NewForm, status: number): Promise<Answer> {
    const workspaces = await parts.db.read(() => offeredWorkspaces(viewer));
    return page("New form", formView(form, workspaces, parts.config.files), status);
  }
}

function readTyped(form: URLSearchParams): NewForm {
  const language = findLanguage(form.get("language")) ?? "";
  return {
    name: form.get("name") ?? "",
    workspaceId: form.get("workspace") ?? "",
    hasPage: form.get("page") === "on",
    language,
    start: findReadyMade(form.get("start")),
    ...translated(readDraft(form), findLanguage(form.get("words")) ?? WITHOUT_LANGUAGE, language),
    problems: NO_PROBLEMS,
    sent: form,
  };
}

/** Translates the ready-made words of a draft. A draft in JSON is left as it is until it is shown as a form again. */
function translated(
  draft: SchemaDraft,
  from: Language,
  language: Language | "",
): Pick<NewForm, "draft" | "wordsIn"> {
  const wordsIn = language || WITHOUT_LANGUAGE;
  if (draft.view === "json") return { draft, wordsIn: from };
  return { draft: { view: "form", rows: translateRows(draft.rows, from, wordsIn) }, wordsIn };
}

function* offeredWorkspaces(viewer: Visit["viewer"]): Steps<OfferedWorkspace[]> {
  const offered = (yield* listViewableWorkspaces(viewer, "endpoints:create")).slice(0, MAX_OFFERED);
  const labels = yield* labelWorkspaces(offered.map(({ id }) => id));
  return offered
    .map(({ id, plan }) => ({ id, plan, label: labels.get(id) ?? id }))
    .toSorted((left, right) => inNameOrder(left.label, right.label));
}

/** Errors that the owner can do something about. */
const SHOWN: ReadonlySet<string> = new Set(["usage", "plan_limit"]);

/** If there are several workspaces, none is chosen beforehand, because a customer's form could be counted for another customer. */
function* workspaceProblem(viewer: Visit["viewer"], id: string): Steps<[string, string][]> {
  const isUnclear = id === "" && (yield* listViewableWorkspaces(viewer, "endpoints:create")).length > 1;
  return isUnclear ? [["workspace", "Choose the workspace that it belongs to."]] : [];
}

function* chosenWorkspace(viewer: Visit["viewer"], id: string) {
  if (id !== "") return yield* getViewableWorkspace(viewer, id);
  const [only] = yield* listViewableWorkspaces(viewer, "endpoints:create");
  if (only === undefined) throw new FormsvcError("usage", "there is no workspace of yours yet");
  return only;
}

function nameProblem(name: string): [string, string][] {
  try {
    checkName(name);
    return [];
  } catch (error) {
    if (!(error instanceof FormsvcError)) throw error;
    return [["name", name.trim() === "" ? GIVE_NAME : sentence(error.message)]];
  }
}

/** The answer to a form that a reload sent again: the endpoint exists, but its keys cannot be shown again. */
function madeAlready(): Answer {
  return redirect("/dashboard/endpoints", "endpoint-made-already");
}

function formView(
  { name, workspaceId, hasPage, language, start, draft, wordsIn, problems, sent }: NewForm,
  workspaces: readonly OfferedWorkspace[],
  fileBounds: FileBounds,
): Html {
  return html`<p class="crumbs"><a href="/dashboard/endpoints">← Forms</a></p>
    <div class="head"><h1>New form</h1></div>
    ${problemSummary(problems)}${startLinks((id) => startPath(id, workspaceId, language), start)}
    <form method="post" action="${PATH}" data-check data-unsaved>
      ${enterButton("create")}${onceInput(sent)}<input type="hidden" name="start" value="${start?.id ?? ""}" />
      ${builder(
        {
          draft,
          problems,
          path: PATH,
          action: sent?.get("action") ?? "",
          preview: { language: language || null, fileBounds },
          beside: html`<input type="hidden" name="words" value="${wordsIn}" />`,
        },
        {
          above: html`<section class="card">
            <div class="body schema">
              ${textField({ name: "name", label: "Name of the form", value: name, hint: NAME_HINT, problems, isRequired: true })}
              ${placeField(hasPage)} ${languageField(language, problems)}
              ${workspaces.length > 1 && workspaceField(workspaceId, workspaces, problems)}
            </div>
          </section>`,
        },
      )}
      <div class="savebar">
        <span class="muted">Nothing is public yet.</span>
        <a class="button" href="/dashboard/endpoints">Cancel</a>
        <button class="primary" name="action" value="create">Make the form</button>
      </div>
    </form>`;
}

function startPath(start: string, workspaceId: string, language: string): string {
  const query = new URLSearchParams({
    start,
    ...(workspaceId !== "" && { workspace: workspaceId }),
    ...(language !== "" && { language }),
  });
  return `${PATH}?${query.toString()}`;
}

const NAME_HINT = "How you and your team find it. Visitors see it only on the form’s own page.";

function placeField(hasPage: boolean): Html {
  return choiceField({ name: "page", label: "Where people fill it in", value: hasPage ? "on" : "off" }, [
    { value: "off", label: "On my website", about: "You get code to paste into a page of yours." },
    {
      value: "on",
      label: "On a page of its own",
      about: "You get an address to send around and link to. No website and no code needed.",
    },
  ]);
}

function languageField(value: string, problems: Problems): Html {
  const parts = { name: "language", label: "Language for visitors", value, problems };
  return selectField({ ...parts, hint: LANGUAGE_HINT }, languageOptions("That of their browser"));
}

const LANGUAGE_HINT =
  "For words of ours, like “Send” and what is wrong with an answer, and for the fields of a ready-made form. The others are called as you write below.";

function workspaceField(value: string, workspaces: readonly OfferedWorkspace[], problems: Problems): Html {
  const options = [
    { value: "", label: "Choose the workspace" },
    ...workspaces.map(({ id, label, plan }) => ({ value: id, label: `${label} · plan ${planName(plan)}` })),
  ];
  const parts = { name: "workspace", label: "Workspace", value, problems };
  return selectField({ ...parts, hint: "Its plan’s limits count for this form." }, options);
}
