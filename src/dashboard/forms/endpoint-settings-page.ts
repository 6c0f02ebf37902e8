import type { Endpoint } from "../../endpoints/endpoint.ts";
import { plainSettingsJson } from "../../endpoints/endpoint-json.ts";
import { pauseEndpoint, resumeEndpoint, setEndpoint } from "../../endpoints/endpoint-operations.ts";
import { getViewableEndpoint } from "../../endpoints/endpoint-store.ts";
import { FormsvcError } from "../../foundation/errors.ts";
import { listRefusedOrigins, type RefusedOrigin } from "../../endpoints/refused-origins.ts";
import { html, type Html } from "../../foundation/html.ts";
import { mayWithAny } from "../../workspaces/standing.ts";
import { type Answer, checkedForm, page, redirect } from "../answer.ts";
import { changedNotice } from "../kit/changed-notice.ts";
import { languageOptions } from "../kit/language-options.ts";
import { deletionCard } from "./endpoint-delete-page.ts";
import { moveCard, readOtherWorkspaces } from "./endpoint-move-page.ts";
import { endpointFrame, pathOf } from "./endpoint-frame.ts";
import {
  BUILT_IN_HONEYPOTS,
  changedSince,
  checkSettingsForm,
  fingerprintOf,
  type NamedSettings,
  readSettingsForm,
  savedInputs,
  INPUT_LABELS,
  INPUT_NAMES,
  SETTING_LABELS,
  settingsForm,
  STORE_ADDRESS,
  type TypedSettings,
  UNKNOWN_FIELDS,
} from "./endpoint-settings-form.ts";
import {
  areaField,
  type Choice,
  choiceField,
  NO_PROBLEMS,
  type Option,
  type Problems,
  problemSummary,
  selectField,
  textField,
} from "../kit/field.ts";
import type { DashboardParts } from "../parts.ts";
import { Stopped } from "../perform.ts";
import { refusedSiteForms, refusedSites } from "./refused-sites-view.ts";
import type { Routes, Visit } from "../routes.ts";
import { saveBar, settingsGroup, type SettingsGroup } from "../kit/settings-groups.ts";

/** `/dashboard/endpoints/:id`: the settings of an endpoint, and whether it accepts posts. */
export function endpointSettingsPages(routes: Routes, parts: DashboardParts): void {
  routes.read("/endpoints/:id", async ({ viewer, params }) => {
    const endpoint = await parts.db.read(() => getViewableEndpoint(viewer, params["id"] ?? ""));
    return show(viewer, endpoint, settingsForm(endpoint), { problems: NO_PROBLEMS, status: 200 });
  });

  routes.write("/endpoints/:id", async (visit) => {
    const { viewer, params, form } = visit;
    const endpoint = await parts.db.read(() => getViewableEndpoint(viewer, params["id"] ?? ""));
    const typed = readSettingsForm(form);
    const result = checkSettingsForm(typed);
    const problems = result.checked === null ? result.problems : NO_PROBLEMS;
    if (form.get("action") === "check") return checkedForm(problems);
    if (result.checked !== null) return save(visit, typed, result.checked);
    // The fingerprint of the form as it was first shown still counts: correcting a mistake must not hide what somebody else changed.
    const shown = { problems, fingerprint: form.get("shown") ?? "", status: 422 };
    return show(viewer, endpoint, typed, shown);
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
    const input = { endpoint, name: made.name, ...plainSettingsJson(made.settings) };
    await perform(setEndpoint, input, function* () {
      const now = yield* getViewableEndpoint(viewer, endpoint);
      const changed = changedSince(form.get("shown") ?? "", now);
      if (changed === null) return;
      throw new Stopped(() => show(viewer, now, typed, { problems: NO_PROBLEMS, changed, status: 409 }));
    });
    return redirect(`/dashboard/endpoints/${endpoint}`, "saved");
  }

  async function show(
    viewer: Visit["viewer"],
    endpoint: Endpoint,
    typed: TypedSettings,
    shown: Shown,
  ): Promise<Answer> {
    const refused = await parts.db.read(() => listRefusedOrigins(endpoint));
    const more = await parts.db.read(function* () {
      const others = yield* readOtherWorkspaces(viewer, endpoint);
      const mayDelete = yield* mayWithAny(viewer, "endpoints:delete", [endpoint]);
      return { others, mayDelete, mayMove: yield* mayWithAny(viewer, "endpoints:move", [endpoint]) };
    });
    return page(endpoint.name, view(endpoint, typed, { ...shown, refused, ...more }), shown.status);
  }
}

interface Shown {
  readonly status: number;
  readonly problems: Problems;
  /** What somebody else changed while the form was open; null or absent if nothing was changed. */
  readonly changed?: readonly string[] | null;
  /** The fingerprint of the settings when the form was opened; absent means the present settings. */
  readonly fingerprint?: string;
}

interface More {
  readonly refused: readonly RefusedOrigin[];
  /** The workspaces that the form could be moved to. */
  readonly others: readonly Option[];
  readonly mayMove: boolean;
  readonly mayDelete: boolean;
}

function view(endpoint: Endpoint, typed: TypedSettings, shown: Shown & More): Html {
  const { problems, changed = null, fingerprint = fingerprintOf(endpoint), refused } = shown;
  return endpointFrame(
    endpoint,
    "",
    html`${problemSummary(problems, INPUT_LABELS)}${changed !== null && changedNotice(changed)}
      <form class="parts" method="post" action="${pathOf(endpoint, "")}" data-check data-unsaved="${JSON.stringify(savedInputs(endpoint))}">
        <input type="hidden" name="shown" value="${fingerprint}" />
        ${GROUPS.map(({ names, ...group }) => {
          const fields = names.map((name) => settingField(name, typed, problems));
          return settingsGroup(
            group,
            html`${fields}${names.includes("allowedOrigins") && html`${refusedSites(refused)}${trapField(typed, problems)}`}`,
          );
        })}
        ${saveBar(pathOf(endpoint, ""), "New posts follow what is saved here.", html`<button class="primary">Save the settings</button>`)}
      </form>
      ${refusedSiteForms(endpoint, refused)}${shown.mayMove && moveCard(endpoint, shown.others)}${shown.mayDelete && deletionCard(endpoint, NO_PROBLEMS)}`,
  );
}

interface Group extends SettingsGroup {
  readonly names: readonly (keyof TypedSettings)[];
}

const GROUPS: readonly Group[] = [
  { title: "Name", about: "What you and your colleagues call it.", names: ["name"] },
  {
    title: "Where posts may come from",
    about: "Only pages of these sites may send. What other sites send is refused, and kept under Held.",
    names: ["allowedOrigins"],
  },
  {
    title: "After sending",
    about:
      "What a visitor sees whose browser runs no script of yours, and what happens with inputs that the form does not know.",
    names: ["language", "successUrl", "errorUrl", "unknownFields"],
  },
  {
    title: "Privacy",
    about:
      "How long posts stay, and how much is kept about who sent them. Later backups no longer hold what was deleted.",
    names: ["keepDays", "storeAddress"],
  },
];

function settingField(name: keyof TypedSettings, typed: TypedSettings, problems: Problems): Html {
  const hint = HINTS[name];
  const parts = {
    name: INPUT_NAMES[name],
    label: SETTING_LABELS[name],
    value: typed[name],
    ...(hint !== undefined && { hint }),
    problems,
  };
  if (name === "unknownFields") return choiceField(parts, choicesOf(UNKNOWN_FIELDS));
  if (name === "language") return selectField(parts, languageOptions("That of their browser"));
  if (name === "storeAddress") return choiceField(parts, choicesOf(STORE_ADDRESS));
  if (name === "allowedOrigins" || name === "honeypots") return areaField(parts);
  return textField({ ...parts, isRequired: name === "name" });
}

/** Only few owners ever change these settings, so they are folded until one is set. */
function trapField(typed: TypedSettings, problems: Problems): Html {
  const isOpen = typed.honeypots.trim() !== "" || problems.has(INPUT_NAMES.honeypots);
  return html`<details ${isOpen && html` open`}>
    <summary>Hidden inputs against robots</summary>
    ${settingField("honeypots", typed, problems)}
  </details>`;
}

const HINTS: Partial<TypedSettings> = {
  name: "How you find it here. Visitors see it only on the form’s own page, if that has no title.",
  allowedOrigins:
    "The sites of the pages with your form, one a line, like https://example.com or https://*.example.com. Empty lets every site post with the publishable key.",
  honeypots: `People do not see these inputs: who fills one in is a robot, and the post is held. One name a line. Empty is the built-in list: ${BUILT_IN_HONEYPOTS}.`,
  successUrl: "Where a plain form leads after it was sent. Empty shows a built-in page.",
  errorUrl: "Where a plain form leads when something is wrong. Empty shows a built-in page with the form.",
  language: "What visitors read after they sent the form, unless the page says its own language.",
  keepDays: "Older posts are deleted for good within minutes. Empty keeps them until you delete them.",
  storeAddress: "How much of it is stored with a post from now on.",
};

function choicesOf(named: Readonly<Record<string, Omit<Choice, "value">>>): readonly Choice[] {
  return Object.entries(named).map(([value, { label, about }]) => ({ value, label, about }));
}
