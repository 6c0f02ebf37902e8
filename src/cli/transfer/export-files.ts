import { lstatSync, mkdirSync, readdirSync, rmSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { cleanName } from "../../files/clean-name.ts";
import { FormsvcError } from "../../foundation/errors.ts";
import { isRunning } from "../../foundation/is-running.ts";
import { freeName } from "../../submissions/export/archive-files.ts";
import { type FileJson, saveFile, showFile } from "../../submissions/files/file-operations.ts";
import { createExportFile } from "./export-file.ts";
import { candidates, hashFile } from "./import-files.ts";
import type { Output } from "../output/output.ts";
import { checkIds, writeParts } from "./save-bytes.ts";
import type { Terminal } from "../output/terminal.ts";

/** The folder for an export's files. It exists already. Each file becomes `{folder}/{submission}/{name}`. */
export interface ExportFolder {
  readonly path: string;
  /** The path of a file that is not whole yet. */
  readonly unfinished: string;
}

const UNFINISHED = /^\.formsvc-unfinished-(\d+)$/;

/** Makes the folder if there is none, and removes unfinished files of exports that were killed. @throws usage, already_exists */
export function openExportFolder(path: string): ExportFolder {
  try {
    if (statSync(path, { throwIfNoEntry: false }) === undefined) mkdirSync(path, { mode: 0o700 });
    if (!statSync(path).isDirectory()) throw notAFolder(path);
    for (const name of readdirSync(path)) {
      const [, pid] = UNFINISHED.exec(name) ?? [];
      if (pid !== undefined && !isRunning(Number(pid))) rmSync(join(path, name), { force: true });
    }
  } catch (error) {
    if (error instanceof FormsvcError) throw error;
    throw new FormsvcError("usage", `${path}: no folder for files (${(error as Error).message})`, {
      cause: error,
    });
  }
  return { path, unfinished: join(path, `.formsvc-unfinished-${process.pid}`) };
}

function notAFolder(path: string): FormsvcError {
  return new FormsvcError("already_exists", `${path}: exists already and is no folder; name another`);
}

export interface SavedFiles {
  saved: number;
  /** The number of files that an earlier export has saved. */
  known: number;
  /** Files without bytes to save, each with the reason. */
  readonly missing: { readonly id: string; readonly message: string }[];
}

/**
 * Saves files; the ids of a submission must stand together. A file that is already in its folder with the same bytes is not saved again,
 * and no other file is replaced. So an interrupted export can be run again.
 */
export async function saveFiles(
  terminal: Terminal,
  folder: ExportFolder,
  ids: readonly string[],
  { progress }: Pick<Output, "progress">,
): Promise<SavedFiles> {
  const done: SavedFiles = { saved: 0, known: 0, missing: [] };
  let [submission, names] = ["", new Names()];
  for (const [index, id] of ids.entries()) {
    try {
      const { file } = await terminal.perform(showFile, { file: id });
      checkIds(file);
      if (file.submission_id !== submission) [submission, names] = [file.submission_id, new Names()];
      const target = await findFile(folderOf(folder, submission), file, names);
      if (target.isThere) done.known += 1;
      else await saveOne(terminal, folder, file, target.path);
      if (!target.isThere) done.saved += 1;
    } catch (error) {
      if (!isWithoutBytes(error)) throw error;
      done.missing.push({ id, message: error.message });
    }
    progress(`${index + 1} of ${ids.length} files`);
  }
  return done;
}

/** Whether the file was deleted meanwhile, is not in this backup, or may not be opened. */
function isWithoutBytes(error: unknown): error is FormsvcError {
  return error instanceof FormsvcError && ["not_found", "gone", "conflict", "forbidden"].includes(error.code);
}

/**
 * The folder for the files of a submission, which is made if needed.
 *
 * @throws already_exists for a link, or for anything else that is not a folder
 */
function folderOf({ path }: ExportFolder, submission: string): string {
  const folder = join(path, submission);
  const found = lstatSync(folder, { throwIfNoEntry: false });
  if (found === undefined) mkdirSync(folder, { mode: 0o700 });
  else if (!found.isDirectory()) throw notAFolder(folder);
  return folder;
}

/** The names that are used in the folder of one submission. */
class Names {
  /** Names in lower case that are not free. */
  readonly taken = new Set<string>();
  /** Names of the files that this export has found or saved. */
  readonly claimed = new Set<string>();
}

/** A free path, or the path of a file with the same bytes, whatever its name is. */
async function findFile(
  folder: string,
  file: FileJson,
  { taken, claimed }: Names,
): Promise<{ readonly path: string; readonly isThere: boolean }> {
  const known = await findSame(folder, file, claimed);
  if (known !== null) {
    taken.add(basename(known).toLowerCase());
    claimed.add(basename(known));
    return { path: known, isThere: true };
  }
  for (;;) {
    const name = freeName(cleanName(file.name) ?? file.id, taken);
    const path = join(folder, name);
    if (lstatSync(path, { throwIfNoEntry: false }) !== undefined) continue;
    claimed.add(name);
    return { path, isThere: false };
  }
}

/** The path of a file with the same bytes. Its name may differ, because other names were free when an earlier export saved it. */
async function findSame(
  folder: string,
  { name, size, sha256 }: FileJson,
  claimed: ReadonlySet<string>,
): Promise<string | null> {
  for (const path of candidates(folder, cleanName(name), size))
    if (!claimed.has(basename(path)) && (await hashFile(path)) === sha256) return path;
  return null;
}

async function saveOne(
  { stream }: Terminal,
  { unfinished }: ExportFolder,
  file: FileJson,
  path: string,
): Promise<void> {
  const parts = await stream(saveFile, { file: file.id });
  const saved = createExportFile(path, unfinished);
  try {
    await writeParts(file, parts, (bytes) => saved.bytes(bytes));
    saved.finish();
  } finally {
    saved.abandon();
  }
}
