import { Readable } from "node:stream";
import { exportWorkspace } from "../../archive/export-workspace.ts";
import type { Brand } from "../../foundation/brand.ts";
import { countOf } from "../../foundation/count-of.ts";
import { FormsvcError } from "../../foundation/errors.ts";
import { html, type Html } from "../../foundation/html.ts";
import { transferWorkspace } from "../../members/transfer-workspace.ts";
import { deleteWorkspace, type WorkspaceContents } from "../../workspaces/delete-workspace.ts";
import type { Workspace } from "../../workspaces/workspace.ts";
import { getViewableWorkspace } from "../../workspaces/workspace-store.ts";
import { renameWorkspace, setWorkspace } from "../../workspaces/workspace-operations.ts";
import { type Answer, download, page, redirect } from "../answer.ts";
import {
  NO_PROBLEMS,
  type Option,
  type Problems,
  problemSummary,
  selectField,
  textField,
} from "../kit/field.ts";
import { doneSoon } from "../kit/long-work.ts";
import { grouped } from "../kit/numbers.ts";
import { sentence } from "../kit/sentence.ts";
import type { DashboardParts } from "../parts.ts";
import type { Routes, Visit } from "../routes.ts";
import { planName } from "./plan-name.ts";
import { brandPart, brandWrites } from "./workspace-brand.ts";

type Counts =
  ReturnType<WorkspaceContents["count"]> extends Generator<unknown, infer Result> ? Result : never;

/** `/dashboard/workspaces/:id`: the name and settings of a workspace, handing it over, and deleting it. */
export function workspacePages(routes: Routes, { db, log, workspaceContents }: DashboardParts): void {
  const show = async (visit: Visit, typed: Partial<Typed>, problems: Problems): Promise<Answer> => {
    const id = visit.params["id"] ?? "";
    const { workspace, counts } = await db.read(function* () {
      const found = yield* getViewableWorkspace(visit.viewer, id);
      return { workspace: found, counts: yield* workspaceContents.count(found.id) };
    });
    const untouched = { name: workspace.name, confirm: "", to: "", stay: "", brand: workspace.brand };
    const content = view(workspace, counts, { ...untouched, ...typed }, problems);
    return page(workspace.name, content, problems.size === 0 ? 200 : 422);
  };

  routes.read("/workspaces/:id", (visit) => show(visit, {}, NO_PROBLEMS));
  brandWrites(routes, (visit, brand, problems) => show(visit, { brand }, problems));

  routes.write("/workspaces/:id", async (visit) => {
    const id = visit.params["id"] ?? "";
    const name = visit.form.get("name") ?? "";
    try {
      await visit.perform(renameWorkspace, { workspace: id, name });
      return redirect(`/dashboard/workspaces/${id}`, "saved");
    } catch (error) {
      if (!(error instanceof FormsvcError) || error.code !== "usage") throw error;
      return show(visit, { name }, new Map([["name", sentence(error.message)]]));
    }
  });

  routes.write("/workspaces/:id/time-zone", async (visit) => {
    const id = visit.params["id"] ?? "";
    try {
      await visit.perform(setWorkspace, { workspace: id, time_zone: visit.form.get("time_zone") ?? "" });
      return redirect(`/dashboard/workspaces/${id}`, "saved");
    } catch (error) {
      if (!(error instanceof FormsvcError) || error.code !== "usage") throw error;
      return show(visit, {}, new Map([["time_zone", sentence(error.message)]]));
    }
  });

  routes.write("/workspaces/:id/transfer", async (visit) => {
    const id = visit.params["id"] ?? "";
    const to = visit.form.get("to") ?? "";
    const stay = STAYS.find(({ value }) => value === visit.form.get("stay"))?.value ?? "";
    try {
      await visit.perform(transferWorkspace, { workspace: id, to, stay: stay === "" ? null : stay });
      return redirect("/dashboard/account", "workspace-transferred");
    } catch (error) {
      const isTyped = error instanceof FormsvcError && (error.code === "usage" || error.code === "not_found");
      if (!isTyped) throw error;
      return show(visit, { to, stay }, new Map([["to", sentence(error.message)]]));
    }
  });

  routes.read("/workspaces/:id/export.zip", async ({ params, now, stream }) => {
    const parts = await stream(exportWorkspace, { workspace: params["id"] ?? "" });
    const content = Readable.from(bytesOf(parts), { objectMode: false });
    return download(`workspace-${new Date(now).toISOString().slice(0, 10)}.zip`, "application/zip", content);
  });

  routes.write("/workspaces/:id/delete", async (visit) => {
    const id = visit.params["id"] ?? "";
    const workspace = await db.read(() => getViewableWorkspace(visit.viewer, id));
    const confirm = visit.form.get("confirm") ?? "";
    if (confirm.trim() !== workspace.name) {
      const problem = "Type the workspace’s name exactly as it is written above.";
      return show(visit, { confirm }, new Map([["confirm", problem]]));
    }
    const isDone = await doneSoon(visit.perform(deleteWorkspace, { workspace: id }), log);
    return redirect("/dashboard/usage", isDone ? "workspace-deleted" : "workspace-being-deleted");
  });
}

async function* bytesOf(parts: AsyncIterable<{ readonly base64: string }>): AsyncGenerator<Buffer> {
  for await (const { base64 } of parts) if (base64 !== "") yield Buffer.from(base64, "base64");
}

/** The time zones that `Intl` lists, by region, and the chosen one, which may have an older name. */
function zoneOptions(chosen: string | null): Option[] {
  const names = Intl.supportedValuesOf("timeZone").filter((name) => name !== "UTC");
  const others = chosen === null || names.includes(chosen) ? names : [chosen, ...names];
  const listed = others.map((name) => ({ value: name, label: name.replaceAll("_", " ") }));
  return [{ value: "", label: "UTC" }, ...listed];
}

/** The roles that the former owner can keep. */
const STAYS = [
  { value: "", label: "No member any more" },
  { value: "editor", label: "An editor" },
  { value: "reader", label: "A reader" },
] as const;

interface Typed {
  readonly name: string;
  readonly confirm: string;
  /** The address of the new owner; `stay` is the role that the former owner keeps. */
  readonly to: string;
  readonly stay: string;
  readonly brand: Brand;
}

function view(workspace: Workspace, counts: Counts, typed: Typed, problems: Problems): Html {
  const path = `/dashboard/workspaces/${workspace.id}`;
  return html`<p class="crumbs"><a href="/dashboard/usage?workspace=${workspace.id}">← Usage</a></p>
    <div class="head"><h1><bdi>${workspace.name}</bdi></h1></div>
    ${problemSummary(problems)}
    <section class="part" aria-labelledby="name">
      <header><h2 id="name">Name</h2><p>What you and your colleagues call it. Its plan is ${planName(workspace.plan)}.</p></header>
      <form class="card stacked" method="post" action="${path}">
        ${textField({ name: "name", label: "Name of the workspace", value: typed.name, isRequired: true, problems })}
        <p><button class="primary">Save the name</button></p>
      </form>
    </section>
    <section class="part" aria-labelledby="zone">
      <header><h2 id="zone">Time zone</h2><p>Of the times in e-mails. Here, times are those of your own device.</p></header>
      <form class="card stacked" method="post" action="${path}/time-zone">
        ${selectField(
          { name: "time_zone", label: "Time zone", value: workspace.timeZone ?? "", problems },
          zoneOptions(workspace.timeZone),
        )}
        <p><button>Save the time zone</button></p>
      </form>
    </section>
    ${brandPart(path, typed.brand, problems)}
    <section class="part" aria-labelledby="transfer">
      <header><h2 id="transfer">Hand over</h2><p>Another account owns it from then on, and decides who sees it.</p></header>
      <form class="card stacked" method="post" action="${path}/transfer">
        ${textField({ name: "to", label: "E-mail address of the new owner", value: typed.to, type: "email", hint: "Of a member of the workspace. An operator may name any account.", isRequired: true, problems, autocomplete: "off" })}
        ${selectField({ name: "stay", label: "The owner of before stays", value: typed.stay }, STAYS)}
        <p><button>Hand the workspace over</button></p>
      </form>
    </section>
    <section class="part" aria-labelledby="export">
      <header><h2 id="export">Take it along</h2><p>Everything of it, but for keys, secrets and the bin.</p></header>
      <div class="card stacked">
        <p>
          A ZIP archive: the forms with their settings as <code>formsvc apply</code> takes them, submissions as
          <code>formsvc submission import</code> takes them, held posts, and the files of both.
        </p>
        <p><a class="button" download href="${path}/export.zip">Download the workspace</a></p>
      </div>
    </section>
    <section class="part" aria-labelledby="delete">
      <header>
        <h2 id="delete" class="danger">Delete this workspace</h2>
        <p>There is no way back. <a download href="${path}/export.zip">Download the workspace</a> first if you may need it.</p>
      </header>
      <form class="card stacked" method="post" action="${path}/delete">
        <p>
          ${contents(counts)} With it go its spam settings and what its filter learned, and tokens that belong to it. A form that should
          stay can be moved to another workspace before.
        </p>
        ${textField({
          name: "confirm",
          label: "Name of the workspace",
          value: typed.confirm,
          hint: html`Type <b dir="auto">${workspace.name}</b> to confirm.`,
          problems,
          autocomplete: "off",
        })}
        <p><button class="danger">Delete the workspace and all that is in it</button></p>
      </form>
    </section>`;
}

function numbered(count: number, one: string): string {
  return `${grouped(count)} ${count === 1 ? one : `${one}s`}`;
}

function contents({ endpoints, submissions, held }: Counts): string {
  if (endpoints === 0) return "It has no forms.";
  const forms = countOf(endpoints, "form");
  const verb = endpoints === 1 ? "is" : "are";
  return `${forms} ${verb} deleted for good, with ${numbered(submissions, "post")} and ${numbered(held, "held one")}.`;
}
