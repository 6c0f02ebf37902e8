import { createHash } from "node:crypto";
import type { Steps } from "../../database/steps.ts";
import type { Endpoint } from "../../endpoints/endpoint.ts";
import { findOwner, giveFile, isOfOthers, noteFile, storeChunk } from "../../files/brought-file.ts";
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
import { mayBe } from "./place-ids.ts";
import { findSubmission } from "../stored/submission-store.ts";

/** An open file of an import. */
export interface OpenedSource extends ByteSource {
  close(): Promise<void>;
}

/** The files that an export put into a folder. */
export interface FilesToImport {
  /** Finds the file with this size and SHA-256; null if there is none. */
  find(
    submissionId: string,
    facts: Pick<FileFacts, "id" | "name" | "size" | "sha256">,
  ): Promise<OpenedSource | null>;
  /**
   * Gives the time at which each file is stored, not that at which the import began: a file that is older than an hour and belongs to no
   * submission is deleted.
   */
  readonly clock: Clock;
}

/** A submission of an export, and the endpoint that it goes to. */
interface FileParent {
  readonly submission: { readonly id: string; readonly data: Readonly<Record<string, unknown>> };
  /** The id that the submission has here. */
  readonly storedId: string;
  readonly endpoint: Endpoint;
  /** Returns what to record when a file is added; null if it is recorded already. */
  readonly began: () => OwnChange | null;
  /** Whether the submission was deleted here after an earlier import. */
  readonly isDeleted: boolean;
}

export interface RefusedFile {
  readonly submission_id: string;
  readonly id: string;
  readonly name: string;
  readonly message: string;
}

/** What became of a file; `refused` says why. */
type Fate = "added" | "known" | { readonly refused: string };

/**
 * Adds the files that a submission of an export names. A file is added only if the stored submission names it too and lacks its bytes. So
 * an interrupted import adds the rest when it is run again, and a file that was deleted since does not come back.
 */
export async function* bringFiles(
  context: Context,
  files: FilesToImport,
  { submission, storedId, endpoint, began, isDeleted }: FileParent,
): AsyncGenerator<"added" | "known" | RefusedFile> {
  for (const facts of filesIn(submission.data)) {
    const wanted = { facts, submissionId: storedId, givenId: submission.id, endpoint, began: began() };
    const fate = isDeleted ? "known" : await bringFile(context, files, wanted);
    if (typeof fate === "string") yield fate;
    else yield { submission_id: submission.id, id: facts.id, name: facts.name, message: fate.refused };
  }
}

/** The files that the data names and that still have bytes. */
function filesIn(data: Readonly<Record<string, unknown>>): FileFacts[] {
  const listed = Object.values(data).flatMap((value) => (isFileList(value) ? value : []));
  return listed.filter(
    (file): file is FileFacts =>
      "sha256" in file &&
      typeof file.sha256 === "string" &&
      !GONE_STATES.has((file as FileFacts).state ?? ""),
  );
}

/** The states of files whose bytes are deleted. */
const GONE_STATES: ReadonlySet<string> = new Set(["deleted", "infected"]);

interface Wanted {
  readonly facts: FileFacts;
  readonly submissionId: string;
  /** The id of the submission in the export. */
  readonly givenId: string;
  readonly endpoint: Endpoint;
  readonly began: OwnChange | null;
}

async function bringFile(context: Context, files: FilesToImport, wanted: Wanted): Promise<Fate> {
  const { db } = context;
  const standing = await db.read(() => standingOf(wanted));
  if (typeof standing === "string" || "refused" in standing) return standing;
  const facts = { ...wanted.facts, id: standing.lacks };
  // An earlier import that was killed may have left chunks of the file, which belong to no submission.
  await dropFiles(db, [facts.id]);
  const source = await files.find(wanted.givenId, wanted.facts);
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

/** Decides whether a file should be added, and under which id, by the stored submission and not by the export. */
function* standingOf({ facts, submissionId, endpoint }: Wanted): Steps<Fate | { readonly lacks: string }> {
  const submission = yield* findSubmission(submissionId);
  if (submission === undefined || submission.endpointId !== endpoint.id)
    return { refused: "its submission is not in this form any more" };
  const named = { id: facts.id, workspaceId: endpoint.workspaceId };
  const stored = filesIn(submission.data).filter(({ sha256 }) => sha256 === facts.sha256);
  const lacks = stored.find(({ id }) => mayBe(id, named))?.id;
  if (lacks === undefined) return "known";
  const owner = yield* findOwner(lacks);
  if (owner === "nobody")
    return (yield* isOfOthers({ ...facts, id: lacks, endpointId: endpoint.id }))
      ? { refused: "another file with this id is being stored; run the import again in an hour" }
      : { lacks };
  if (owner.submissionId === submissionId) return "known";
  return { refused: "another submission has a file with this id" };
}

/**
 * Stores the bytes of a file. Returns whether they have its SHA-256. Each chunk has a short transaction, because a server may write at the
 * same time.
 */
async function storeBytes({ db }: Context, row: NewFile, source: ByteSource): Promise<boolean> {
  const objects = objectsOf(db);
  if (objects?.takesNew === true) {
    const objectId = newObjectId(row.id);
    await db.transaction(() => noteFile({ ...row, objectId }));
    // `put` checks the SHA-256.
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

/** Attaches a file to its submission. The submission may have been deleted meanwhile. */
function* attach(wanted: Wanted): Steps<Outcome<Fate>> {
  const { submissionId, began } = wanted;
  const standing = yield* standingOf(wanted);
  if (typeof standing === "string" || "refused" in standing) return changed(standing);
  if (!(yield* giveFile(standing.lacks, submissionId)))
    return changed({ refused: "another import took it meanwhile; run this one again" });
  return changed("added", ...(began === null ? [] : [began]));
}
