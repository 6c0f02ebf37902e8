import type { Database } from "../../database/database.ts";
import type { FileLink, FileLinks } from "../../files/file-links.ts";
import { findFile, readBytes, refuseUnreadable } from "../../files/read-file.ts";
import type { Clock } from "../../foundation/clock.ts";
import { FormsvcError } from "../../foundation/errors.ts";
import { listBinned } from "../stored/submission-bin.ts";
import { lostFile } from "./submission-files.ts";
import type { OpenedFile } from "../find/submission-reader.ts";

/** Opens a file for anybody who has a link to it. */
export interface LinkedFiles {
  /** @throws not_found, with the same message whatever is wrong with the link; gone if the file was deleted since */
  open(link: FileLink): Promise<OpenedFile>;
}

interface Parts {
  readonly db: Database;
  readonly fileLinks: Pick<FileLinks, "isGood">;
  readonly clock: Clock;
}

export function createLinkedFiles({ db, fileLinks, clock }: Parts): LinkedFiles {
  return {
    async open(link) {
      if (!(await fileLinks.isGood(link, clock.now()))) throw noFile();
      const file = await db.read(function* () {
        const found = yield* findFile(link.id);
        if (found === undefined) throw lostFile();
        if ((yield* listBinned([found.submissionId])).size > 0) throw noFile();
        yield* refuseUnreadable(found.id);
        return found;
      });
      return { file, open: (range) => readBytes(db, file.id, range) };
    },
  };
}

function noFile(): FormsvcError {
  return new FormsvcError("not_found", "There is no file at this address, or not any more.");
}
