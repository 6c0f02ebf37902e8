import type { FastifyInstance, FastifyRequest } from "fastify";
import { plainText } from "../foundation/plain-text.ts";
import { type FileFormDraft, MAX_FIELDS_LENGTH, readFileForm } from "../http/forms/file-form.ts";
import { MULTIPART } from "../http/posts/form-body.ts";
import type { Viewer } from "../sessions/session.ts";
import type { ImportSpool, ReceivedFile } from "../submissions/import/import-spool.ts";

const MAX_NAME_LENGTH = 200;

/** The body of a form with a file. */
export interface FileForm {
  readonly fields: URLSearchParams;
  /** Null if no file was chosen. */
  readonly file: ReceivedFile | null;
}

/** What it takes to receive files that are sent to pages. */
export interface FileDesk {
  readonly imports: ImportSpool;
  /** Checks before a byte of the file is read that the viewer sees what the file is for. @throws not_found */
  readonly admit: (viewer: Viewer, params: Readonly<Record<string, string>>) => Promise<void>;
}

/** Lets the routes of a scope accept a form with a file. The whole file is received before it is read. */
export function takeFileForms(scope: FastifyInstance, { imports, admit }: FileDesk): void {
  scope.addHook("onRequest", async ({ viewer, flight, params }) => {
    if (viewer === null) return;
    await admit(viewer, params as Record<string, string>);
    // The time limit and the least speed are those of forms with files.
    if (flight !== null) flight.isUpload = true;
  });
  scope.addContentTypeParser(MULTIPART, async (request: FastifyRequest): Promise<FileForm> => {
    const draft: FileFormDraft = { fields: new URLSearchParams(), fileName: null };
    const { viewer } = request;
    // Without a session, the file is refused unread.
    if (viewer === null) return { fields: draft.fields, file: null };
    const length = Number(request.headers["content-length"] ?? Number.NaN);
    const received = await imports.receive(readFileForm(request.raw, draft), {
      importer: { id: viewer.accountId, isBounded: !viewer.isOperator },
      name: "the file",
      lengthBytes: Number.isNaN(length) ? null : Math.max(1, length - MAX_FIELDS_LENGTH),
    });
    if (draft.fileName) {
      const name = plainText(draft.fileName).slice(0, MAX_NAME_LENGTH) || "the file";
      return { fields: draft.fields, file: { ...received, name } };
    }
    await received.close();
    return { fields: draft.fields, file: null };
  });
}
