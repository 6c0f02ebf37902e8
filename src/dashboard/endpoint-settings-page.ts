import type { Endpoint } from "../endpoints/endpoint.ts";
import { settingsJson } from "../endpoints/endpoint-json.ts";
import { pauseEndpoint, resumeEndpoint, setEndpoint } from "../endpoints/endpoint-operations.ts";
import { getViewableEndpoint } from "../endpoints/endpoint-store.ts";
import { FormsvcError } from "../foundation/errors.ts";
import { html, type Html } from "../foundation/html.ts";
import { type Answer, checkedForm, page, redirect } from "./answer.ts";
import { changedNotice } from "./changed-notice.ts";
import { deletionCard } from "./endpoint-delete-page.ts";
import { endpointFrame, pathOf } from "./endpoint-frame.ts";
import {
  BUILT_IN_HONEYPOTS,
  changedSince,
  checkSettingsForm,
  fingerprintOf,
  type NamedSettings,
  readSettingsForm,
  INPUT_NAMES,
  SETTING_LABELS,
  settingsForm,
  STORE_ADDRESS,
  type TypedSettings,
  UNKNOWN_FIELDS,
} from "./endpoint-settings-form.ts";
import {
  areaField,
  NO_PROBLEMS,
  type Option,
  type Problems,
  problemSummary,
  selectField,
  textField,
} from "./field.ts";
import type { DashboardParts } from "./parts.ts";
import type { Routes, Visit } from "./routes.ts";

/** `/dashboard/endpoints/:id`: its settings, and whether it takes posts. */
export function endpointSettingsPages(routes: Routes, parts: DashboardParts): void {
  routes.read("/endpoints/:id", async ({ viewer, params }) => {
    const endpoint = await parts.db.read(() => getViewableEndpoint(viewer, params["id"] ?? ""));
    return page(endpoint.name, view(endpoint, settingsForm(endpoint), { problems: NO_PROBLEMS }));
  });

  routes.write("/endpoints/:id", async (visit) => {
    const { viewer, params, form } = visit;
    const endpoint = await parts.db.read(() => getViewableEndpoint(viewer, params["id"] ?? ""));
    const typed = readSettingsForm(form);
    const result = checkSettingsForm(typed);
    const problems = result.checked === null ? result.problems : NO_PROBLEMS;
    if (form.get("action") === "check") return checkedForm(problems);
    if (result.checked !== null) return save(visit, typed, result.checked);
    // What it showed first counts on: correcting a mistake must not hide what somebody else changed.
    const shown = { problems, fingerprint: form.get("shown") ?? "" };
    return page(endpoint.name, view(endpoint, typed, shown), 422);
  });

  routes.write("/endpoints/:id/state", async ({ viewer, params, form, perform }) => {
    const state = form.get("state");
    const endpoint = await parts.db.read(() => getViewableEndpoint(viewer, params["id"] ?? ""));
    if (state !== "paused" && state !== "active")
      throw new FormsvcError("usage", "the state is paused or active");
    await perform(state === "paused" ? pauseEndpoint : resumeEndpoint, { endpoint: endpoint.id });
    return redirect(pathOf(endpoint, ""), state === "paused" ? "endpoint-paused" : "endpoint-resumed");
  });

  async function save(visit: Visit, typed: TypedSettings, made: NamedSettings): Promise<Answer> {
    const { viewer, params, form, perform } = visit;
    const endpoint = params["id"] ?? "";
    try {
      const input = { endpoint, name: made.name, ...settingsJson(made.settings) };
      await perform(setEndpoint, input, function* () {
        const before = yield* getViewableEndpoint(viewer, endpoint);
        const changed = changedSince(form.get("shown") ?? "", before);
        if (changed !== null) throw new ChangedMeanwhile(before, changed);
      });
    } catch (error) {
      if (!(error instanceof ChangedMeanwhile)) throw error;
      const { changed, now } = error;
      return page(now.name, view(now, typed, { problems: NO_PROBLEMS, changed }), 409);
    }
    return redirect(`/dashboard/endpoints/${endpoint}`, "saved");
  }
}

/** Somebody else saved other settings while a form was open. */
class ChangedMeanwhile extends Error {
  readonly now: Endpoint;
  /** In words. */
  readonly changed: readonly string[];

  constructor(now: Endpoint, changed: readonly string[]) {
    super("changed meanwhile");
    this.now = now;
    this.changed = changed;
  }
}

interface Shown {
  readonly problems: Problems;
  /** What somebody else changed while the form was open; null or absent if nobody did. */
  readonly changed?: readonly string[] | null;
  /** Of the settings that the form began from; absent if that is now. */
  readonly fingerprint?: string;
}

function view(endpoint: Endpoint, typed: TypedSettings, shown: Shown): Html {
  const { problems, changed = null, fingerprint = fingerprintOf(endpoint) } = shown;
  return endpointFrame(
    endpoint,
    "",
    html`${problemSummary(problems)}${changed !== null && changedNotice(changed)}
      <form class="parts" method="post" action="${pathOf(endpoint, "")}" data-check data-unsaved>
        <input type="hidden" name="shown" value="${fingerprint}" />
        ${GROUPS.map((group) => groupView(group, typed, problems))}
        <div class="savebar"><span class="muted">New posts follow what is saved here.</span><button class="primary">Save the settings</button></div>
      </form>
      ${deletionCard(endpoint, NO_PROBLEMS)}`,
  );
}

/** Settings that belong together, and what they are about. */
interface Group {
  readonly title: string;
  readonly about: string;
  readonly names: readonly (keyof TypedSettings)[];
}

const GROUPS: readonly Group[] = [
  { title: "Name", about: "What you and your colleagues call it.", names: ["name"] },
  {
    title: "Where posts may come from",
    about: "Pages of these sites may send. What robots send is caught by fields that people do not see.",
    names: ["allowedOrigins", "honeypots"],
  },
  {
    title: "After sending",
    about: "What a visitor sees whose browser runs no script of yours.",
    names: ["successUrl", "errorUrl"],
  },
  {
    title: "What is kept",
    about: "How much of a post is stored, and for how long.",
    names: ["unknownFields", "keepDays", "storeAddress"],
  },
];

function groupView({ title, about, names }: Group, typed: TypedSettings, problems: Problems): Html {
  return html`<section class="part">
    <header>
      <h2>${title}</h2>
      <p>${about}</p>
    </header>
    <div class="card"><div class="body">${names.map((name) => settingField(name, typed, problems))}</div></div>
  </section>`;
}

function settingField(name: keyof TypedSettings, typed: TypedSettings, problems: Problems): Html {
  const parts = {
    name: INPUT_NAMES[name],
    label: SETTING_LABELS[name],
    value: typed[name],
    hint: HINTS[name],
    problems,
  };
  if (name === "unknownFields") return selectField(parts, optionsOf(UNKNOWN_FIELDS));
  if (name === "storeAddress") return selectField(parts, optionsOf(STORE_ADDRESS));
  if (name === "allowedOrigins" || name === "honeypots") return areaField(parts);
  return textField({ ...parts, isRequired: name === "name" });
}

const HINTS: TypedSettings = {
  name: "How you find it here. Visitors do not see it.",
  allowedOrigins:
    "The sites of the pages with your form, one a line, like https://example.com or https://*.example.com. Empty lets every site post with the publishable key.",
  unknownFields:
    "What happens with inputs that are not among the fields. Beside the fields they are shown, searched and exported, and change nothing else.",
  honeypots: `Names of inputs that people do not see and robots fill in, one a line. Empty is the built-in list: ${BUILT_IN_HONEYPOTS}.`,
  successUrl: "Where a plain form leads after it was sent. Empty shows a built-in page.",
  errorUrl: "Where a plain form leads when something is wrong. Empty shows a built-in page with the form.",
  keepDays: "Older posts are deleted for good within minutes. Empty keeps them until you delete them.",
  storeAddress: "How much of it is stored with a post from now on.",
};

function optionsOf(labels: Readonly<Record<string, string>>): readonly Option[] {
  return Object.entries(labels).map(([value, label]) => ({ value, label }));
}
