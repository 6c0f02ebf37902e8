import type { TokenFiles } from "../http/submission-routes.ts";
import { readBytes } from "../files/read-file.ts";
import { requireAccess, viewingOf } from "../operations/actor.ts";
import { reachSubmission } from "../submissions/manage/reach-posts.ts";
import { getFileOf } from "../submissions/files/submission-files.ts";
import { type AuthenticationParts, createAuthentication } from "./authenticate.ts";

/** Serves files to programs with a token, at the address at which the holder of the secret key reads them. */
export function createTokenFiles(parts: AuthenticationParts): TokenFiles {
  const { db } = parts;
  const authenticate = createAuthentication(parts);
  const access = "submissions:read";
  return async ({ request, reply }, { id, file: fileId }) => {
    const actor = await authenticate(request, reply);
    requireAccess(actor, access);
    const file = await db.read(function* () {
      const submission = yield* reachSubmission({ viewing: viewingOf(actor), access }, id);
      return yield* getFileOf(submission, fileId);
    });
    return { file, open: (range) => readBytes(db, file.id, range) };
  };
}
