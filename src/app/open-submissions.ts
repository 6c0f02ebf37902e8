import type { ServedDatabase } from "../database/served-database.ts";
import type { FileLinks } from "../files/file-links.ts";
import { createLinkedFiles, type LinkedFiles } from "../submissions/files/linked-files.ts";
import { SearchSlots } from "../submissions/find/search-slots.ts";
import { createSubmissionReader, type SubmissionReader } from "../submissions/find/submission-reader.ts";
import type { ImportSpool } from "../submissions/import/import-spool.ts";
import { openImports } from "./open-uploads.ts";
import type { ServiceParts } from "./parts.ts";

/** What the server does with submissions after they were stored. */
export interface SubmissionService {
  readonly reader: SubmissionReader;
  readonly linkedFiles: LinkedFiles;
  /** The slots for everything that reads submissions one by one. */
  readonly searches: SearchSlots;
  readonly imports: ImportSpool;
}

export function openSubmissions(
  parts: ServiceParts,
  served: ServedDatabase,
  fileLinks: FileLinks,
): SubmissionService {
  const { db, clock } = parts;
  const searches = new SearchSlots();
  return {
    reader: createSubmissionReader(db, searches, () => served.cleaner.note(1)),
    linkedFiles: createLinkedFiles({ db, fileLinks, clock }),
    searches,
    imports: openImports(parts, served),
  };
}
