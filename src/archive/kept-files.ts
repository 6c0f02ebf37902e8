import type { Database } from "../database/database.ts";
import type { Steps } from "../database/steps.ts";
import { isKept, listKeptFiles, readBytes } from "../files/read-file.ts";
import type { ArchiveMember } from "../foundation/zip-stream.ts";
import { listBinned } from "../submissions/stored/submission-bin.ts";

/** The number of files that are listed at once. */
const PAGE_ROWS = 100;

/**
 * The files of submissions and held posts as members of an archive, each named `files/` and its id; those in the bin are left out. A file
 * that is deleted before its turn is left out; if one is deleted while it is read, the archive fails.
 *
 * @param endpoints reads the ids of the endpoints whose files are wanted; called again before each file. @throws what `endpoints` throws.
 */
export async function* filesOf(
  db: Database,
  endpoints: () => Steps<readonly string[]>,
): AsyncGenerator<ArchiveMember> {
  for (const endpointId of await db.read(endpoints)) {
    const isThere = (id: string): Promise<boolean> =>
      Promise.resolve(
        db.read(function* () {
          return (yield* endpoints()).includes(endpointId) && (yield* isKept(id));
        }),
      );
    let after = "";
    for (;;) {
      const page = await db.read(() => listKeptFiles(endpointId, after, PAGE_ROWS));
      const binned = await db.read(() => listBinned(page.flatMap((file) => file.submissionId ?? [])));
      for (const { id, submissionId, size } of page) {
        if (submissionId !== null && binned.has(submissionId)) continue;
        if (await isThere(id))
          yield { name: `files/${id}`, content: readBytes(db, id, { first: 0, last: size - 1 }) };
      }
      const last = page.at(-1);
      if (last === undefined || page.length < PAGE_ROWS) break;
      after = last.id;
    }
  }
}
