import type { Config } from "../../config/config.ts";
import { listFindings } from "../../doctor/finding-operations.ts";
import { FormsvcError } from "../../foundation/errors.ts";
import type { Finding } from "../../foundation/finding.ts";
import { html, type Html } from "../../foundation/html.ts";
import { version } from "../../foundation/version.ts";
import { mebibytes } from "../../database/sqlite/database-health.ts";
import { tryMailServer } from "../../mail/health/try-mail-server.ts";
import { page, redirect } from "../answer.ts";
import { limitsCard } from "./limits-card.ts";
import { adviceView } from "./hint-words.ts";
import type { DashboardParts } from "../parts.ts";
import type { Handler, Routes } from "../routes.ts";
import { sentence } from "../kit/sentence.ts";
import { checkName, findingText, rawWords } from "./finding-words.ts";
import { icon } from "../kit/icons.ts";
import { type Room, readRoom, roomCard } from "./room-card.ts";

/** Routes that exist only for operators. For everybody else there is no such page. */
export function operatorRoutes(routes: Routes): Pick<Routes, "read" | "write"> {
  const guarded =
    (handler: Handler): Handler =>
    (visit) => {
      if (visit.viewer.isOperator) return handler(visit);
      throw new FormsvcError("not_found", "There is no such page.");
    };
  return {
    read: (path, handler) => routes.read(path, guarded(handler)),
    write: (path, handler) => routes.write(path, guarded(handler)),
  };
}

/** `/dashboard/system`: whether a person has to do something, and what runs here. */
export function systemPages(routes: Routes, parts: DashboardParts): void {
  const { read, write } = operatorRoutes(routes);
  read("/system", async ({ now, perform }) => {
    const { checks } = await perform(listFindings, {});
    return page("System", systemView(checks, await readRoom(parts, now), parts));
  });

  write("/system/mail/try", async ({ perform }) => {
    await perform(tryMailServer, {});
    return redirect("/dashboard/system", "tried-now");
  });
}

/** The operator's pages. */
const TABS = [
  { path: "/dashboard/system", label: "State" },
  { path: "/dashboard/system/accounts", label: "Accounts" },
  { path: "/dashboard/system/workspaces", label: "Workspaces" },
  { path: "/dashboard/system/changes", label: "Changes" },
];

/** @param path the path of the page that is shown */
export function systemHead(path: string): Html {
  return html`<div class="head"><h1>System</h1></div>
    <nav class="tabs" aria-label="System">
      ${TABS.map(
        (tab) =>
          html`<a href="${tab.path}" ${tab.path === path && html` aria-current="page"`}>${tab.label}</a> `,
      )}
    </nav>`;
}

function systemView(
  findings: readonly Finding[],
  room: Room,
  { db, config, configFile }: DashboardParts,
): Html {
  const problems = findings.filter(({ ok }) => !ok);
  const { size } = room;
  return html`${systemHead("/dashboard/system")}
    ${problems.length > 0 ? problemsCard(problems, config) : html`<p class="notice" role="status">All is well: nobody has to do anything.</p>`}
    ${soundCard(
      findings.filter(({ ok }) => ok),
      problems.length,
    )}
    <div class="halves"><section class="card">
      <header><h2>This server</h2></header>
      <dl class="facts">
        <div><dt>Version</dt><dd>${version}</dd></div>
        <div><dt>Database</dt><dd class="mono">${db.name}</dd></div>
        <div><dt>Size</dt><dd>${mebibytes(size.database)}${size.log !== null && `, and ${mebibytes(size.log)} of write-ahead log`}</dd></div>
        <div><dt>Configuration</dt><dd class="mono">${configFile ?? "no file: built-in settings and variables"}</dd></div>
        <div>
          <dt>Backups</dt>
          <dd>
            ${
              config.backup.everyHours === null
                ? "none are made by this server"
                : `${everyHours(config.backup.everyHours)}; the newest ${config.backup.keep} stay`
            }
          </dd>
        </div>
      </dl>
    </section>
    <div>${roomCard(room)}${limitsCard(config.plans)}</div></div>`;
}

function everyHours(hours: number): string {
  return hours === 1 ? "every hour" : `every ${hours} hours`;
}

/** The checks without a problem, in one row that can be opened. */
function soundCard(findings: readonly Finding[], problems: number): Html {
  const count = findings.length;
  const others = problems === 0 ? "" : " other";
  return html`<details class="card fine">
    <summary>${icon("check")}<b>${count === 1 ? `One${others} check is` : `${count}${others} checks are`} fine</b> <span class="muted">Show what was checked</span></summary>
    <ul>
      ${findings.map(({ name, message }) => html`<li><b>${checkName(name)}</b> <span><bdi dir="auto">${sentence(findingText(message))}</bdi></span></li>`)}
    </ul>
  </details>`;
}

function problemsCard(problems: readonly Finding[], config: Config): Html {
  const title = problems.length === 1 ? "One thing needs you" : `${problems.length} things need you`;
  return html`<section class="card" aria-labelledby="problems">
    <header><h2 id="problems"><span role="status">${title}</span></h2></header>
    ${problems.map((each) => problemView(each, config))}
  </section>`;
}

/** A problem, what to do about it, and the button that does it if there is one. */
function problemView({ name, message, advice }: Finding, { mail }: Config): Html {
  const canTry = name === "mail.server" && mail.host !== null;
  return html`<div class="trouble">
    <span class="glyph">${icon("warning")}</span>
    <h3>${checkName(name)}</h3>
    <div>
      <p><bdi dir="auto">${sentence(findingText(message))}</bdi>${advice !== null && adviceView(advice)}</p>
      ${rawView(message)}
    </div>
    ${canTry && html`<form method="post" action="/dashboard/system/mail/try"><button>Try the mail server now</button></form>`}
  </div>`;
}

function rawView(message: string): Html | null {
  const raw = rawWords(message);
  return raw === ""
    ? null
    : html`<details><summary>What was tried</summary><code dir="auto">${raw}</code></details>`;
}
