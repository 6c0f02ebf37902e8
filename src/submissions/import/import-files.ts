import { createHash } from "node:crypto";
import type { Steps } from "../../database/steps.ts";
import type { Endpoint } from "../../endpoints/endpoint.ts";
import { findOwner, giveFile, noteFile, storeChunk } from "../../files/brought-file.ts";
import { type ByteSource, chunksOf } from "../../files/byte-source.ts";
import { cleanName } from "../../files/clean-name.ts";
import { dropFiles } from "../../files/file-store.ts";
import { findType } from "../../files/find-type.ts";
import { objectsOf } from "../../files/object-store.ts";
import { type NewFile, newObjectId } from "../../files/stored-file.ts";
import type { Clock } from "../../foundation/clock.ts";
import { isFileList } from "../../foundation/file-list.ts";
import { changed, type Context, type Outcome, type OwnChange } from "../../operations/operation.ts";
import type { FileFacts } from "../../schemas/posted-file.ts";
import { findSubmission } from "../stored/submission-store.ts";

/** A file of an import, until it is closed. */
export interface OpenedSource extends ByteSource {
  close(): Promise<void>;
}

/** The files that an export put into a folder. */
export interface FilesToImport {
  /** One whose size and SHA-256 are these; null if there is none. */
  find(
    submissionId: string,
    facts: Pick<FileFacts, "id" | "name" | "size" | "sha256">,
  ): Promise<OpenedSource | null>;
  /** Of now, and not of when the import began: what is being stored for an hour is cleaned away. */
  readonly clock: Clock;
}

/** A submission of an export, and the endpoint to which it goes. */
interface FileParent {
  readonly submission: { readonly id: string; readonly data: Readonly<Record<string, unknown>> };
  readonly endpoint: Endpoint;
  /** What is recorded if a file is added; null if it was recorded. */
  readonly began: () => OwnChange | null;
  /** Whether it was deleted here since an earlier import. */
  readonly isDeleted: boolean;
}

export interface RefusedFile {
  readonly submission_id: string;
  readonly id: string;
  readonly name: string;
  readonly message: string;
}

/** What became of a file; a text says why it was refused. */
type Fate = "added" | "known" | { readonly refused: string };

/**
 * Adds the files that a submission of an export names, each if the submission that is stored names it too and lacks it. So an import that was
 * interrupted brings the rest when it is run again, and a file that was deleted since does not come back.
 */
export async function* bringFiles(
  context: Context,
  files: FilesToImport,
  { submission, endpoint, began, isDeleted }: FileParent,
): AsyncGenerator<"added" | "known" | RefusedFile> {
  for (const facts of filesIn(submission.data)) {
    const wanted = { facts, submissionId: submission.id, endpoint, began: began() };
    const fate = isDeleted ? "known" : await bringFile(context, files, wanted);
    if (typeof fate === "string") yield fate;
    else yield { submission_id: submission.id, id: facts.id, name: facts.name, message: fate.refused };
  }
}

/** The files that have bytes, as data name them. */
function filesIn(data: Readonly<Record<string, unknown>>): FileFacts[] {
  const listed = Object.values(data).flatMap((value) => (isFileList(value) ? value : []));
  return listed.filter(
    (file): file is FileFacts =>
      "sha256" in file &&
      typeof file.sha256 === "string" &&
      !GONE_STATES.has((file as FileFacts).state ?? ""),
  );
}

/** Of these only names and sizes are left. */
const GONE_STATES: ReadonlySet<string> = new Set(["deleted", "infected"]);

interface Wanted {
  readonly facts: FileFacts;
  readonly submissionId: string;
  readonly endpoint: Endpoint;
  readonly began: OwnChange | null;
}

async function bringFile(context: Context, files: FilesToImport, wanted: Wanted): Promise<Fate> {
  const { db } = context;
  const { facts, submissionId } = wanted;
  const standing = await db.read(() => standingOf(wanted));
  if (standing !== "lacking") return standing;
  // What an import left that was killed: nobody has it.
  await dropFiles(db, [facts.id]);
  const source = await files.find(submissionId, facts);
  if (source === null) return { refused: "no file with this size and SHA-256 is in the submission's folder" };
  try {
    const name = cleanName(facts.name) ?? facts.id;
    const type = await findType(name, source, { type: "file", accept: [facts.type] });
    if (type !== facts.type)
      return { refused: `its content is not ${facts.type.slice(0, 100)}, or is never let in` };
    const row = { ...facts, name, endpointId: wanted.endpoint.id, createdAt: files.clock.now() };
    if (!(await storeBytes(context, row, source))) {
      await dropFiles(db, [facts.id]);
      return { refused: "it was changed while it was read" };
    }
    return await context.transact(() => attach(wanted));
  } finally {
    await source.close();
  }
}

/** Whether a file is to be brought. The submission that is stored decides, and not the export. */
function* standingOf({ facts, submissionId, endpoint }: Wanted): Steps<Fate | "lacking"> {
  const submission = yield* findSubmission(submissionId);
  if (submission === undefined || submission.endpointId !== endpoint.id)
    return { refused: "its submission is not in this form any more" };
  if (!filesIn(submission.data).some(({ id, sha256 }) => id === facts.id && sha256 === facts.sha256))
    return "known";
  const owner = yield* findOwner(facts.id);
  if (owner === "nobody") return "lacking";
  if (owner.submissionId === submissionId) return "known";
  return { refused: "another submission has a file with this id" };
}

/** Returns whether what was read is the file. Each chunk has a short transaction of its own: a server writes meanwhile. */
async function storeBytes({ db }: Context, row: NewFile, source: ByteSource): Promise<boolean> {
  const objects = objectsOf(db);
  if (objects?.takesNew === true) {
    const objectId = newObjectId(row.id);
    await db.transaction(() => noteFile({ ...row, objectId }));
    // The store compares the SHA-256.
    await objects.put(objectId, source, row);
    return true;
  }
  const digest = createHash("sha256");
  let position = 0;
  for await (const bytes of chunksOf(source)) {
    const chunk = { at: position, bytes };
    digest.update(bytes);
    await db.relaxedTransaction(() => storeChunk(row, chunk.at, chunk.bytes));
    position += 1;
  }
  return digest.digest("hex") === row.sha256;
}

/** Gives a file to its submission, which may be gone meanwhile. */
function* attach(wanted: Wanted): Steps<Outcome<Fate>> {
  const { facts, submissionId, began } = wanted;
  const standing = yield* standingOf(wanted);
  if (standing !== "lacking") return changed(standing);
  if (!(yield* giveFile(facts.id, submissionId)))
    return changed({ refused: "another import took it meanwhile; run this one again" });
  return changed("added", ...(began === null ? [] : [began]));
}
