import { createHash } from "node:crypto";
import { constants, lstatSync, readdirSync, statSync } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { chunksOf } from "../../files/byte-source.ts";
import { cleanName } from "../../files/clean-name.ts";
import type { Clock } from "../../foundation/clock.ts";
import { FormsvcError } from "../../foundation/errors.ts";
import type { FilesToImport, OpenedSource } from "../../submissions/import/import-files.ts";

/**
 * Finds the files that an export put into a folder. The files of a submission are in a folder with its id. In the archive of a workspace, a
 * file has its own id as its name. A file is recognised by its bytes, even if it was renamed. Links are not followed.
 *
 * @throws usage
 */
export function filesToImport(folder: string, clock: Clock): FilesToImport {
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true)
    throw new FormsvcError(
      "usage",
      `${folder}: there is no such folder; name the one that export --files wrote`,
    );
  return {
    clock,
    async find(submissionId, { id, name, size, sha256 }) {
      const ofArchive = join(folder, id);
      for (const path of [...candidates(join(folder, submissionId), cleanName(name), size), ofArchive]) {
        const source = await openSource(path);
        if (source !== null && (await hashSource(source)) === sha256) return source;
        await source?.close();
      }
      return null;
    },
  };
}

/** The paths of the files of this size in a folder, the one with this name first; none if there is no such folder. */
export function candidates(folder: string, name: string | null, size: number): string[] {
  if (lstatSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) return [];
  const files = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isFile());
  const names = files.map((entry) => entry.name);
  const ordered = names.toSorted((one, other) => Number(other === name) - Number(one === name));
  const paths = ordered.map((each) => join(folder, each));
  return paths.filter((path) => lstatSync(path, { throwIfNoEntry: false })?.size === size);
}

/** To open a pipe would wait for somebody who writes into it. */
const FLAGS = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/** Null if the file is gone, or is a link, a pipe or a device. */
async function openSource(path: string): Promise<OpenedSource | null> {
  const file = await open(path, FLAGS).catch(() => null);
  if (file === null) return null;
  const found = await file.stat();
  if (!found.isFile()) {
    await file.close();
    return null;
  }
  const { size } = found;
  return {
    size,
    close: () => file.close(),
    async read(offset, length) {
      const bytes = Buffer.alloc(Math.max(0, Math.min(length, size - offset)));
      let done = 0;
      while (done < bytes.length) {
        const { bytesRead } = await file.read(bytes, done, bytes.length - done, offset + done);
        if (bytesRead === 0) break;
        done += bytesRead;
      }
      return bytes.subarray(0, done);
    },
  };
}

async function hashSource(source: OpenedSource): Promise<string> {
  const digest = createHash("sha256");
  for await (const bytes of chunksOf(source)) digest.update(bytes);
  return digest.digest("hex");
}

/** The SHA-256 of a whole file in hexadecimal; null if it cannot be read. */
export async function hashFile(path: string): Promise<string | null> {
  const source = await openSource(path);
  try {
    return source === null ? null : await hashSource(source);
  } finally {
    await source?.close();
  }
}
