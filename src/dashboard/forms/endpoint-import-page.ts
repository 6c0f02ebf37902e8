import { isDeepStrictEqual } from "node:util";
import { setTimeout as sleep } from "node:timers/promises";
import type { Endpoint } from "../../endpoints/endpoint.ts";
import { getViewableEndpoint, readSchema } from "../../endpoints/endpoint-store.ts";
import { IMPORT_FORMATS } from "../../submissions/import/examine-import.ts";
import { page, type Page, redirect, type Redirect } from "../answer.ts";
import type { DashboardParts } from "../parts.ts";
import type { Routes, Visit } from "../routes.ts";
import { endpointFrame, pathOf } from "./endpoint-frame.ts";
import { type ImportChoices, type ImportJob, ImportJobs } from "./import-jobs.ts";
import {
  chooseFileView,
  columnChoices,
  ENCODINGS,
  type ImportTarget,
  importJobView,
  NO_CHOICES,
} from "./import-view.ts";

const SECTION = "/import";
/** Work that takes longer continues after the page was answered. The page then shows its progress. */
const LONGEST_WAIT_MS = 10_000;

/**
 * `/dashboard/endpoints/:id/import`: imports posts from another service, from a table, or from an export of our own into a form. A file is
 * examined first, and nothing is imported that was not shown.
 */
export function endpointImportPages(routes: Routes, parts: DashboardParts): void {
  const jobs = new ImportJobs(parts);
  const read = ({ viewer, params }: Visit): Promise<ImportTarget> =>
    parts.db.read(function* () {
      const endpoint = yield* getViewableEndpoint(viewer, params["id"] ?? "");
      return { endpoint, definition: yield* readSchema(endpoint) };
    });
  const answer = async (target: ImportTarget, job: ImportJob): Promise<Page | Redirect> => {
    await endOf(job);
    // The redirect keeps a reload of the page from repeating the work.
    if (job.state.kind !== "failed") return redirect(pathOf(target.endpoint, SECTION));
    return show(target, importJobView(job, target), 422);
  };

  routes.read("/endpoints/:id/import", async (visit) => {
    const target = await read(visit);
    const job = jobs.find(visit.viewer.accountId, target.endpoint.id);
    if (job === null || (visit.query.has("new") && job.state.kind !== "running"))
      return show(target, chooseFileView(target.endpoint, NO_CHOICES, null));
    if (visit.query.has("wait")) await endOf(job);
    return show(target, importJobView(job, target));
  });

  routes.writeFile("/endpoints/:id/import", async (visit) => {
    const target = await read(visit);
    const { endpoint } = target;
    const choices = readChoices(visit.form, []);
    if (visit.file === null)
      return show(target, chooseFileView(endpoint, choices, "Choose the file first."), 422);
    return answer(target, jobs.add(visit, endpoint, visit.file, choices));
  });

  routes.write("/endpoints/:id/import/look", async (visit) => {
    const target = await read(visit);
    const job = findJob(visit, target.endpoint);
    if (job === null) return lost(visit, target);
    if (job.state.kind !== "running" && !isImported(job)) {
      job.choices = readChoices(visit.form, columnChoices(job, visit.form));
      jobs.look(visit, target.endpoint, job);
    }
    return answer(target, job);
  });

  routes.write("/endpoints/:id/import/begin", async (visit) => {
    const target = await read(visit);
    const job = findJob(visit, target.endpoint);
    if (job === null) return lost(visit, target);
    // A second press shows the work that the first press began.
    if (job.state.kind === "running" || isImported(job)) return answer(target, job);
    const choices = readChoices(visit.form, columnChoices(job, visit.form));
    const shown = { ...job.choices, format: job.format };
    if (job.state.kind === "ended" && isDeepStrictEqual(choices, shown)) jobs.bring(visit, job);
    else {
      job.choices = choices;
      jobs.look(visit, target.endpoint, job);
    }
    return answer(target, job);
  });

  function findJob({ viewer, form }: Visit, { id }: Endpoint): ImportJob | null {
    const job = jobs.find(viewer.accountId, id);
    return job !== null && job.mark === form.get("file_mark") ? job : null;
  }

  function lost({ form }: Visit, target: ImportTarget): Page {
    return show(target, chooseFileView(target.endpoint, readChoices(form, []), LOST), 422);
  }
}

const LOST =
  "The file is not here any more: another one was chosen, or the server was restarted. Choose it again; rows that were imported before are not doubled.";

function show({ endpoint }: ImportTarget, content: ReturnType<typeof chooseFileView>, status = 200): Page {
  return page(`${endpoint.name}: import posts`, endpointFrame(endpoint, SECTION, content), status);
}

async function endOf({ work }: ImportJob): Promise<void> {
  const waiting = new AbortController();
  const late = sleep(LONGEST_WAIT_MS, undefined, { signal: waiting.signal }).catch(() => undefined);
  await Promise.race([work.catch(() => undefined), late]);
  waiting.abort();
}

function isImported({ step, state }: ImportJob): boolean {
  return step === "import" && state.kind === "ended";
}

/** Reads the choices of a form. A value that the page does not offer means that it is detected. */
function readChoices(form: URLSearchParams, map: readonly string[]): ImportChoices {
  const format = IMPORT_FORMATS.find((each) => each === form.get("format")) ?? null;
  const encoding = ENCODINGS.find(({ value }) => value !== "" && value === form.get("encoding"));
  return { format, encoding: encoding?.value ?? null, map };
}
