import type { z } from "zod";
import type { Endpoint } from "../../endpoints/endpoint.ts";
import { getViewableEndpoint, readSchema } from "../../endpoints/endpoint-store.ts";
import { monthOf } from "../../foundation/clock.ts";
import { html, type Html } from "../../foundation/html.ts";
import { isFileName } from "../../submissions/receive/often-sent.ts";
import { scorePost } from "../../submissions/manage/spam-operations.ts";
import { getWorkspace } from "../../workspaces/workspace-store.ts";
import { readUsage } from "../../workspaces/usage-store.ts";
import type { Usage } from "../../workspaces/workspace.ts";
import { page } from "../answer.ts";
import { endpointFrame, pathOf } from "./endpoint-frame.ts";
import {
  areaField,
  type Option,
  optionsOf,
  type Problems,
  selectField,
  textField,
  codeField,
} from "../kit/field.ts";
import type { DashboardParts } from "../parts.ts";
import type { Routes, Visit } from "../routes.ts";
import { TRIAL_PREFIX, type TrialInput, trialInputs, trialPost, typedInputs } from "./trial-form.ts";

const SECTION = "/try";

/** `/dashboard/endpoints/:id/try`: what the server would do with a post. Nothing is stored, counted or sent. */
export function endpointTryPages(routes: Routes, { db, config }: DashboardParts): void {
  routes.read("/endpoints/:id/try", async (visit) => {
    const { endpoint, definition } = await readEndpoint(visit);
    const content = trialView(endpoint, trialInputs(definition), new Map());
    return page(`${endpoint.name}: try a post`, endpointFrame(endpoint, SECTION, content));
  });

  routes.write("/endpoints/:id/try", async (visit) => {
    const { endpoint, definition, usage } = await readEndpoint(visit);
    const inputs = typedInputs(trialInputs(definition), visit.form);
    const body = trialPost(inputs, definition);
    const files = inputs.filter(({ value }) => isFileName(value)).map(({ label }) => label);
    const scored = await visit.perform(scorePost, { endpoint: endpoint.id, post: body });
    const problems = new Map(
      scored.unfit.map((each) => [TRIAL_PREFIX + each.field, each.problems.join("\n")]),
    );
    const content = html`${outcomeCard(endpoint, scored, usage, files)}${trialView(endpoint, inputs, problems)}`;
    return page(`${endpoint.name}: try a post`, endpointFrame(endpoint, SECTION, content));
  });

  function readEndpoint({ viewer, params, now }: Visit) {
    return db.read(function* () {
      const endpoint = yield* getViewableEndpoint(viewer, params["id"] ?? "");
      const workspace = yield* getWorkspace(endpoint.workspaceId);
      const usage = yield* readUsage(workspace, monthOf(now), config.plans);
      return { endpoint, usage, definition: yield* readSchema(endpoint) };
    });
  }
}

type Scored = z.output<typeof scorePost.output>;

function outcomeCard(
  endpoint: Endpoint,
  { score, class: spamClass, reasons, unfit }: Scored,
  usage: Usage,
  files: readonly string[],
): Html {
  return html`<section class="card" role="status" aria-labelledby="outcome">
    <header>
      <h2 id="outcome">${outcomeOf(endpoint, { spamClass, unfit }, usage)}</h2>
      <span class="pill ${spamClass === "low" ? "done" : spamClass === "blocked" ? "high" : spamClass}">Score ${score} of 100</span>
    </header>
    ${
      files.length > 0 &&
      html`<p class="problem">
        “<bdi>${files.join(", ")}</bdi>” has the name of a file. If it is an input for files, only this name arrives, and the file is lost.
      </p>`
    }
    <p class="muted">This was a rehearsal: nothing was stored, counted or sent. The score is from 0, genuine, to 100, spam.</p>
    <ul class="sum">
      ${reasons.map(
        ({ points, detail, field }) =>
          html`<li>
            <span class="${points > 0 ? "plus" : "minus"}">${points > 0 ? `+${points}` : points}</span>
            <bdi>${detail}${field !== null && ` (${field})`}</bdi>
          </li>`,
      )}
    </ul>
  </section>`;
}

interface TrialOutcome extends Pick<Scored, "unfit"> {
  readonly spamClass: Scored["class"];
}

/** What would happen to the post. The checks are in the order of the server's. */
function outcomeOf({ state }: Endpoint, { spamClass, unfit }: TrialOutcome, { remaining }: Usage): string {
  if (state === "paused") return "It would be refused: the form is paused";
  if (unfit.length > 0) return "It would be refused: the visitor is told what is wrong with the fields below";
  if (spamClass === "blocked") return "It would be blocked as spam, and held for you to look at";
  if (remaining === 0) return "It would be held: the plan’s limit for this month is reached";
  return spamClass === "low" ? "It would be taken" : "It would be taken, and marked as possible spam";
}

function trialView(endpoint: Endpoint, inputs: readonly TrialInput[], problems: Problems): Html {
  const others = [...problems].filter(
    ([name]) => !inputs.some((input) => TRIAL_PREFIX + input.name === name),
  );
  return html`<form class="card stacked" method="post" action="${pathOf(endpoint, SECTION)}">
    <p class="muted">
      Fill in the form as a visitor would, and see what the server makes of it: with these fields, this form’s spam settings and what
      its workspace learned. It is only a rehearsal. To be sure of a key and a page, send the form from your site.
    </p>
    <p class="muted">
      No file can be tried here: a required one counts as missing. On your page, a form with an input for files needs
      enctype="multipart/form-data"; without it the browser sends only the name of the file, and the file is lost.
    </p>
    ${others.map(([, text]) => html`<p class="problem">${text}</p>`)}
    ${inputs.map((input) => trialField(input, problems))}
    <p><button class="primary">Try it</button></p>
  </form>`;
}

const ANSWERS = optionsOf({
  "": "No answer",
  true: "Yes",
  false: "No",
});

function trialField({ name, label, kind, options, value }: TrialInput, problems: Problems): Html {
  const parts = { name: TRIAL_PREFIX + name, label, value, problems };
  switch (kind) {
    case "line":
      return textField(parts);
    case "text":
      return areaField(parts);
    case "lines":
      return areaField({ ...parts, hint: "One item a line." });
    case "file":
      return html`<p class="muted"><bdi>${label}</bdi> takes a file.</p>`;
    case "json":
      return codeField({ ...parts, hint: "As JSON." });
    case "choice":
      return selectField(parts, [NO_CHOICE, ...options.map((each) => ({ value: each, label: each }))]);
    case "yes-or-no":
      return selectField(parts, ANSWERS);
    default:
      throw new TypeError("no such kind of input");
  }
}

const NO_CHOICE: Option = { value: "", label: "Nothing chosen" };
