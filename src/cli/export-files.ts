import { lstatSync, mkdirSync, readdirSync, rmSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { cleanName } from "../files/clean-name.ts";
import { FormsvcError } from "../foundation/errors.ts";
import { isRunning } from "../foundation/is-running.ts";
import { freeName } from "../submissions/export/archive-files.ts";
import { type FileJson, saveFile, showFile } from "../submissions/files/file-operations.ts";
import { createExportFile } from "./export-file.ts";
import { candidates, hashFile } from "./import-files.ts";
import type { Output } from "./output.ts";
import { writeParts } from "./save-bytes.ts";
import type { Terminal } from "./terminal.ts";

/** The folder of an export's files, which was checked or made. Each file becomes `{folder}/{submission}/{name}`. */
export interface ExportFolder {
  readonly path: string;
  /** The name of a file that is not whole yet. */
  readonly unfinished: string;
}

const UNFINISHED = /^\.formsvc-unfinished-(\d+)$/;

/** Makes the folder if there is none, and removes what a killed export left in it. @throws usage, already_exists */
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
  /** Files that an earlier export put there. */
  known: number;
  /** Files that have no bytes to save, each with the reason. */
  readonly missing: { readonly id: string; readonly message: string }[];
}

/**
 * Saves these files, those of one submission after each other. A file that is in its folder already with the same bytes is not saved again,
 * and nothing that is there is replaced: so an export that was interrupted can be run again.
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

/** A file that was deleted since, that is not in this backup, or that may not be opened. */
function isWithoutBytes(error: unknown): error is FormsvcError {
  return error instanceof FormsvcError && ["not_found", "gone", "conflict", "forbidden"].includes(error.code);
}

/** @throws already_exists for a link, or whatever else is no folder */
function folderOf({ path }: ExportFolder, submission: string): string {
  const folder = join(path, submission);
  const found = lstatSync(folder, { throwIfNoEntry: false });
  if (found === undefined) mkdirSync(folder, { mode: 0o700 });
  else if (!found.isDirectory()) throw notAFolder(folder);
  return folder;
}

/** Names in the folder of one submission. */
class Names {
  /** In lower case. */
  readonly taken = new Set<string>();
  /** Names of the files that this export found or saved. */
  readonly claimed = new Set<string>();
}

/** A place that is free, or the one in which these very bytes are under whatever name. */
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

/** An earlier export may have found another name free. */
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
