import type { Steps } from "../../database/steps.ts";
import type { z } from "zod";
import { getViewableEndpoint, readSchema } from "../../endpoints/endpoint-store.ts";
import { setSchema } from "../../endpoints/schema-operations.ts";
import { listFileIdsOf } from "../../files/file-store.ts";
import { readBytes } from "../../files/read-file.ts";
import { FormsvcError } from "../../foundation/errors.ts";
import { getDelivery } from "../../outbox/queue/delivery-store.ts";
import { addFieldAt } from "../../schemas/add-field.ts";
import { parseDefinition, type SchemaDefinition } from "../../schemas/definition.ts";
import type { Viewer } from "../../sessions/session.ts";
import { findSubmissions } from "../../submissions/find/browse-submissions.ts";
import { listRead } from "../../submissions/stored/read-marks.ts";
import { archiveFiles } from "../../submissions/export/archive-files.ts";
import { deleteFile } from "../../submissions/files/file-operations.ts";
import { markSubmissionsRead } from "../../submissions/manage/submission-operations.ts";
import type { Submission } from "../../submissions/stored/submission.ts";
import { getFileOf, requireFiles } from "../../submissions/files/submission-files.ts";
import { getViewableSubmission, readsEach } from "../../submissions/stored/submission-store.ts";
import { type Answer, download, page, redirect } from "../answer.ts";
import { replayTo } from "../notifications/recipient-paths.ts";
import { addressOf, type InboxFilter, readInboxFilter, toSubmissionFilter } from "./inbox-filter.ts";
import type { DashboardParts } from "../parts.ts";
import type { Routes, Visit } from "../routes.ts";
import { contentOf, titleOf } from "./preview.ts";
import { readWhole } from "./read-submission.ts";
import { createOnce } from "../kit/once.ts";
import { readText } from "../kit/typed-text.ts";
import { submissionView } from "./submission-view.ts";
import { addNote } from "../../submissions/manage/work-operations.ts";
import { refusalOf } from "../kit/field.ts";
import type { NotesCardParts } from "./work-view.ts";

/** The largest number of submissions that are searched for the next one that matches a filter. */
const MAX_LOOKED = 2000;

/** One submission: its fields, its sender, its score with the reasons, and its messages to recipients. */
export function submissionPages(routes: Routes, parts: DashboardParts): void {
  const { db } = parts;

  const show = async (visit: Visit, refused: NotesCardParts["refused"]): Promise<Answer> => {
    const { viewer, params, query, request, now } = visit;
    const shown = readInboxFilter(query);
    const whole = await readWhole(parts, viewer, params["id"] ?? "");
    const { id } = whole.submission;
    if (request.method === "GET") await noteRead(parts, visit, id);
    const [newer, older] = await findNeighbours(parts, visit, shown, id);
    const { binDays } = parts.config.submissions;
    const view = submissionView({ ...whole, shown, newer, older, viewer, refused, binDays, now });
    return page(titleOf(contentOf(whole.submission)), view, refused === null ? 200 : 422);
  };

  routes.read("/submissions/:id", (visit) => show(visit, null));

  const onceNoted = createOnce((answer) => answer.kind === "redirect");

  routes.write("/submissions/:id/notes", async (visit) => {
    const { params, query, form, perform } = visit;
    const text = form.get("text") ?? "";
    const submission = params["id"] ?? "";
    const noted = redirect(addressOf(readInboxFilter(query), `/submissions/${submission}`), "noted");
    const note = async (): Promise<Answer> => {
      try {
        await perform(addNote, { submission, text });
      } catch (error) {
        return show(visit, { text, problem: refusalOf(error) });
      }
      return noted;
    };
    return onceNoted.run(visit, note, () => noted);
  });

  fileRoutes(routes, parts);

  routes.write("/submissions/:id/replay", async ({ viewer, params, query, form, perform }) => {
    const shown = readInboxFilter(query);
    const { id } = await db.read(() => getViewableSubmission(viewer, params["id"] ?? ""));
    const what = form.get("delivery") ?? "";
    const delivery = await db.read(() => getDelivery(what));
    if (delivery.submissionId !== id) throw new FormsvcError("not_found", `there is no delivery ${what}`);
    const replay = await db.read(() => replayTo(delivery.recipientId));
    await replay(perform, what);
    return redirect(addressOf(shown, `/submissions/${id}`), "sent-again", 1);
  });

  routes.write("/submissions/:id/add-field", async ({ viewer, params, query, form, perform }) => {
    const shown = readInboxFilter(query);
    const path = readText(form.get("name") ?? "");
    const { id, field } = await db.read(function* () {
      const submission = yield* getViewableSubmission(viewer, params["id"] ?? "");
      return { id: submission.id, field: yield* planField(viewer, submission, path) };
    });
    if (typeof field !== "string") await perform(setSchema, field);
    const notice = typeof field === "string" ? field : "field-added";
    return redirect(addressOf(shown, `/submissions/${id}`), notice);
  });
}

/** The ids of the next newer and the next older submission in the list with this filter; null if there is none near. */
async function findNeighbours(
  { db, searches }: DashboardParts,
  { viewer, now, gone }: Visit,
  shown: InboxFilter,
  cursor: string,
): Promise<readonly [newer: string | null, older: string | null]> {
  const filter = await db.read(() => toSubmissionFilter(shown, viewer, now));
  const next = async (direction: "older" | "newer"): Promise<string | null> => {
    const { ids } = await findSubmissions(db, { filter, gone, direction, cursor, wanted: 1 }, MAX_LOOKED);
    return ids[0] ?? null;
  };
  const find = () => Promise.all([next("newer"), next("older")]);
  return readsEach(filter) ? searches.run({ name: viewer.accountId, gone }, find) : find();
}

/** Serves the files of a submission to viewers who may see the submission. */
function fileRoutes(routes: Routes, { db }: DashboardParts): void {
  routes.read("/submissions/:id/files/:file", async ({ viewer, params }) => {
    const file = await db.read(function* () {
      const submission = yield* getViewableSubmission(viewer, params["id"] ?? "");
      return yield* getFileOf(submission, params["file"] ?? "");
    });
    return { kind: "file", file, open: (range) => readBytes(db, file.id, range) };
  });

  routes.read("/submissions/:id/files.zip", async ({ viewer, params }) => {
    const { id } = await db.read(function* () {
      const submission = yield* getViewableSubmission(viewer, params["id"] ?? "");
      yield* requireFiles(submission);
      return submission;
    });
    return download(`files-${id}.zip`, "application/zip", archiveFiles(db, [id]));
  });

  routes.write("/submissions/:id/files/:file/delete", async ({ viewer, params, query, perform }) => {
    const { submission, file } = await db.read(function* () {
      const found = yield* getViewableSubmission(viewer, params["id"] ?? "");
      const wanted = (yield* listFileIdsOf([found.id])).find((each) => each === params["file"]);
      return { submission: found.id, file: wanted ?? (yield* getFileOf(found, params["file"] ?? "")).id };
    });
    await perform(deleteFile, { file });
    return redirect(addressOf(readInboxFilter(query), `/submissions/${submission}`), "file-deleted");
  });
}

/**
 * The schema with an optional field for a value that was set aside, or the notice that says why it cannot be added.
 *
 * @throws not_found if nothing was set aside at this path
 */
function* planField(
  viewer: Viewer,
  { id, endpointId, setAside }: Submission,
  path: string,
): Steps<z.input<(typeof setSchema)["input"]> | "field-there" | "field-not-added"> {
  const fields = setAside?.fields ?? {};
  if (!Object.hasOwn(fields, path))
    throw new FormsvcError("not_found", `nothing of that name was set aside of the submission ${id}`);
  const endpoint = yield* getViewableEndpoint(viewer, endpointId);
  const added = addFieldAt(yield* readSchema(endpoint), path, fields[path]);
  if (added === "declared") return "field-there";
  const schema = added === "unclear" ? null : tryDefinition(added);
  if (schema === null) return "field-not-added";
  return { endpoint: endpointId, schema, based_on: endpoint.schemaVersion };
}

/** Null if the definition breaks a rule of schemas: a name is too long, or there are too many fields. */
function tryDefinition(added: SchemaDefinition): SchemaDefinition | null {
  try {
    return parseDefinition(added);
  } catch (error) {
    if (error instanceof FormsvcError && error.code === "schema_invalid") return null;
    throw error;
  }
}

/** Marks the submission as read. If that cannot be stored now, the page is shown all the same. */
async function noteRead({ db }: DashboardParts, { viewer, perform }: Visit, id: string): Promise<void> {
  const read = await db.read(() => listRead(viewer.accountId, [id]));
  if (read.has(id)) return;
  try {
    await perform(markSubmissionsRead, { submissions: [id] });
  } catch (error) {
    if (!(error instanceof FormsvcError)) throw error;
  }
}
