import { FormsvcError } from "../../foundation/errors.ts";
import { html, type Html } from "../../foundation/html.ts";
import type { Config } from "../../config/config.ts";
import { createWorkspace, setWorkspacePlan } from "../../workspaces/workspace-operations.ts";
import type { Account, Workspace } from "../../workspaces/workspace.ts";
import { getWorkspace, listAccounts, listWorkspaces } from "../../workspaces/workspace-store.ts";
import { page, redirect } from "../answer.ts";
import { NO_PROBLEMS, type Problems, problemSummary, textField } from "../kit/field.ts";
import { listCard } from "../kit/list-card.ts";
import type { DashboardParts } from "../parts.ts";
import { Stopped } from "../perform.ts";
import type { Routes } from "../routes.ts";
import { operatorRoutes, systemHead } from "./system-page.ts";
import { time } from "../kit/time.ts";
import { sentence } from "../kit/sentence.ts";

const PATH = "/dashboard/system/workspaces";
const PAGE_SIZE = 100;

interface Typed {
  readonly name: string;
  readonly account: string;
}

/** `/dashboard/system/workspaces`: the plan of each workspace, a form that changes it, and a form for a further workspace. */
export function workspaceListPages(routes: Routes, parts: DashboardParts): void {
  const { db, config } = parts;
  const { read, write } = operatorRoutes(routes);

  const show = async (after: string | null, typed: Typed, problems: Problems) => {
    const all = (await db.read(() => listWorkspaces())).filter(({ id }) => after === null || id > after);
    const shown = all.slice(0, PAGE_SIZE);
    const owners = new Map((await db.read(() => listAccounts())).map((account) => [account.id, account]));
    const next = all.length > PAGE_SIZE ? (shown.at(-1)?.id ?? null) : null;
    const plans = Object.keys(config.plans);
    const list = listCard({
      label: "Workspaces",
      columns: ["Workspace", "Account", "Added", "Plan"],
      rows: shown.map((workspace) => rowView(workspace, owners.get(workspace.accountId), plans)),
      next: next && `${PATH}?after=${next}`,
    });
    const content = html`${systemHead(PATH)}${problemSummary(problems)}${list}${formView(typed, problems, config)}`;
    return page("Workspaces", content, problems.size === 0 ? 200 : 422);
  };

  read("/system/workspaces", ({ query }) => show(query.get("after"), { name: "", account: "" }, NO_PROBLEMS));

  write("/system/workspaces", async ({ form, perform }) => {
    const typed = { name: form.get("name") ?? "", account: (form.get("account") ?? "").trim() };
    try {
      await perform(createWorkspace, typed);
      return redirect(PATH, "workspace-made");
    } catch (error) {
      if (!(error instanceof FormsvcError)) throw error;
      const field = error.code === "not_found" ? "account" : error.code === "usage" ? "name" : null;
      if (field === null) throw error;
      return show(null, typed, new Map([[field, sentence(error.message)]]));
    }
  });

  write("/system/workspaces/:id/plan", async ({ params, form, perform }) => {
    const [id, plan, seen] = [params["id"] ?? "", form.get("plan") ?? "", form.get("seen")];
    await perform(setWorkspacePlan, { workspace: id, plan }, function* () {
      const workspace = yield* getWorkspace(id);
      if (workspace.plan !== seen) throw new Stopped(() => redirect(PATH, "plan-changed-meanwhile"));
    });
    return redirect(PATH, "saved");
  });
}

function rowView(workspace: Workspace, owner: Account | undefined, plans: readonly string[]): Html {
  return html`<tr>
    <th scope="row"><a class="link" href="/dashboard/workspaces/${workspace.id}"><bdi>${workspace.name}</bdi></a></th>
    <td><a href="/dashboard/system/accounts/${workspace.accountId}"><bdi>${owner?.email ?? "?"}</bdi></a></td>
    <td data-label="Added">${time(workspace.createdAt)}</td>
    <td class="full">${planForm(workspace, plans)}</td>
  </tr>`;
}

function planForm({ id, name, plan }: Workspace, plans: readonly string[]): Html {
  // A plan that is not in the configuration any more is still shown until another one is chosen.
  const offered = plans.includes(plan) ? plans : [plan, ...plans];
  return html`<form class="row" method="post" action="${PATH}/${id}/plan">
    <input type="hidden" name="seen" value="${plan}" />
    <select name="plan" aria-label="Plan of ${name}">
      ${offered.map((each) => html`<option value="${each}" ${each === plan && html` selected`}>${each}</option>`)}
    </select>
    <button>Set</button>
  </form>`;
}

function formView(typed: Typed, problems: Problems, { newWorkspacePlan }: Config): Html {
  return html`<section class="card">
    <header><h2>Add a workspace</h2></header>
    <form class="stacked" method="post" action="${PATH}">
      ${textField({
        name: "name",
        label: "Name",
        value: typed.name,
        isRequired: true,
        hint: `It begins on the plan ${newWorkspacePlan}.`,
        problems,
      })}
      ${textField({
        name: "account",
        label: "E-mail address of its account",
        type: "email",
        value: typed.account,
        autocomplete: "off",
        isRequired: true,
        problems,
      })}
      <div><button class="primary">Add the workspace</button></div>
    </form>
  </section>`;
}
