import type { Steps } from "../../database/steps.ts";
import { setSpam } from "../../endpoints/spam-operations.ts";
import { readChoices } from "../../endpoints/spam-choices-store.ts";
import type { SpamChoices } from "../../spam/spam-settings.ts";
import { previewChoices } from "../../submissions/manage/preview-choices.ts";
import { countMarkedScores } from "../../submissions/find/marked-scores.ts";
import { listViewableWorkspaces } from "../../workspaces/workspace-store.ts";
import { type Answer, checkedForm, page, redirect } from "../answer.ts";
import { NO_PROBLEMS, problemsFrom } from "../kit/field.ts";
import type { DashboardParts } from "../parts.ts";
import { Stopped } from "../perform.ts";
import { readTitles } from "../inbox/read-titles.ts";
import type { Routes, Visit } from "../routes.ts";
import { checkSpamForm, readSpamForm, spamChangedSince, spamFingerprint, spamForm } from "./spam-form.ts";
import {
  findEndpointScope,
  type FindScope,
  findWorkspaceScope,
  type FoundScope,
  listBoundForms,
  pathOf,
  readScopeView,
} from "./spam-scopes.ts";
import { shownChanges } from "./spam-preview-view.ts";
import { type ShownSpam, spamListView, spamView } from "./spam-view.ts";

/** `/dashboard/spam`: how posts are scored. Before a change is saved, it shows what the change would do to the last posts. */
export function spamPages(routes: Routes, parts: DashboardParts): void {
  routes.read("/spam", async ({ viewer }) => {
    const { workspaces, forms } = await parts.db.read(function* () {
      return {
        workspaces: yield* listViewableWorkspaces(viewer, "workspace:spam"),
        forms: yield* listBoundForms(viewer),
      };
    });
    const paths = [
      ...workspaces.map(({ id }) => `/dashboard/spam/workspaces/${id}`),
      ...forms.map(({ id }) => `/dashboard/spam/endpoints/${id}`),
    ];
    const [only, second] = paths;
    if (only !== undefined && second === undefined) return redirect(only);
    return page("Spam", spamListView(workspaces, forms));
  });
  scopePages(routes, parts, "/spam/workspaces/:id", findWorkspaceScope);
  scopePages(routes, parts, "/spam/endpoints/:id", findEndpointScope);
}

const PLAN_REFUSES: ReadonlySet<string> = new Set(["plan_limit"]);

function scopePages(routes: Routes, parts: DashboardParts, path: string, find: FindScope): void {
  const { db, config, spamDefaults: defaults } = parts;

  routes.read(path, async (visit) => {
    const found = await db.read(() => find(visit.viewer, visit.params["id"] ?? ""));
    const chosen = await db.read(() => readChoices(found.scope));
    return show(
      visit,
      found,
      { typed: spamForm(chosen), fingerprint: spamFingerprint(chosen), problems: NO_PROBLEMS },
      200,
    );
  });
  routes.write(path, async (visit) => {
    const found = await db.read(() => find(visit.viewer, visit.params["id"] ?? ""));
    const typed = readSpamForm(visit.form);
    const shown = { typed, fingerprint: visit.form.get("shown") ?? "", problems: NO_PROBLEMS };
    try {
      return await take(visit, found, shown);
    } catch (error) {
      return show(visit, found, { ...shown, problems: problemsFrom(error, "", PLAN_REFUSES) }, 403);
    }
  });

  /** Checks what was typed, and then saves it or shows what it would change. @throws plan_limit */
  async function take(visit: Visit, found: FoundScope, shown: ShownSpam): Promise<Answer> {
    const action = visit.form.get("action");
    const checked = checkSpamForm(shown.typed);
    const { choices } = checked;
    if (action === "check") return checkedForm(choices === null ? checked.problems : NO_PROBLEMS);
    if (choices === null) return show(visit, found, { ...shown, problems: checked.problems }, 422);
    if (action === "save")
      return save(visit, found, { shown, choices }, (again) => show(visit, found, again, 409));
    const { gone } = visit;
    const rules = { plans: config.plans, defaults, gone };
    const preview = await parts.searches.run({ name: visit.viewer.accountId, gone }, () =>
      previewChoices(db, found, choices, rules),
    );
    const changedIds = shownChanges(preview).map(({ id }) => id);
    return show(visit, found, { ...shown, preview, titles: await readTitles(db, changedIds) }, 200);
  }

  async function show(
    { viewer, now }: Visit,
    found: FoundScope,
    shown: ShownSpam,
    status: number,
  ): Promise<Answer> {
    const scope = await db.read(() => readScopeView(viewer, found, { plans: config.plans, defaults }));
    const marked = await db.read(() =>
      countMarkedScores(scope.workspace.id, found.endpoint?.id ?? null, now),
    );
    return page(
      found.endpoint === null ? "Spam" : `${found.endpoint.name}: spam`,
      spamView(scope, shown, marked),
      status,
    );
  }
}

/** @param showAgain shows the form again if somebody else changed the settings while it was open; nothing is stored then */
async function save(
  { perform }: Visit,
  found: FoundScope,
  { shown, choices }: { readonly shown: ShownSpam; readonly choices: SpamChoices },
  showAgain: (again: ShownSpam) => Promise<Answer>,
): Promise<Answer> {
  const { scope } = found;
  const guard = function* (): Steps<void> {
    const before = yield* readChoices(scope);
    const changed = spamChangedSince(shown.fingerprint, before);
    if (changed === null) return;
    throw new Stopped(() => showAgain({ ...shown, fingerprint: spamFingerprint(before), changed }));
  };
  const named = scope.kind === "endpoint" ? { endpoint: scope.endpointId } : { workspace: scope.workspaceId };
  await perform(setSpam, { ...named, choices, replace: true }, guard);
  return redirect(pathOf(found), "spam-saved");
}
