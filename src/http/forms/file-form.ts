import type { IncomingMessage } from "node:http";
import type { Readable } from "node:stream";
import type { BusboyInstance } from "@fastify/busboy";
import { FormsvcError } from "../../foundation/errors.ts";
import { createParser, malformed, tooManyEntries } from "../posts/form-body.ts";

/** What one of our own forms contains besides its file. */
export interface FileFormDraft {
  readonly fields: URLSearchParams;
  /** The name that the client gives the file; null if the form had no file part, empty if nobody chose a file. */
  fileName: string | null;
}

/** The limit of all names and texts of a form together, besides its file, in UTF-16 units. */
export const MAX_FIELDS_LENGTH = 16_384;
const BROKEN = "The form's body is not valid multipart/form-data.";

/**
 * Yields the bytes of the first file of a form as they arrive. Nothing is read before the first bytes are asked for. When it ends, `draft`
 * has the rest of the form. Further files are skipped.
 *
 * @throws invalid_request; the error of the request's stream if the client leaves
 */
export async function* readFileForm(request: IncomingMessage, draft: FileFormDraft): AsyncGenerator<Buffer> {
  const parser = createParser(request.headers["content-type"] ?? "", MAX_FIELDS_LENGTH);
  if (parser === null) throw malformed(BROKEN);
  const file = Promise.withResolvers<Readable | null>();
  const stop = Promise.withResolvers<typeof STOPPED>();
  const parsed = listen(parser, draft, file.resolve);
  const read = pump(request, parser, Promise.race([parsed, stop.promise]));
  read.catch((error: unknown) => {
    file.reject(error);
    void file.promise.then((stream) => stream?.destroy(error as Error)).catch(() => undefined);
  });
  try {
    const stream = await file.promise;
    if (stream !== null) for await (const bytes of stream) yield bytes as Buffer;
    await read;
  } catch (error) {
    stop.resolve(STOPPED);
    // If the parser failed too, its error is thrown: it says better what is wrong than the error of the file stream.
    await Promise.race([parsed, stop.promise]);
    throw error;
  } finally {
    stop.resolve(STOPPED);
  }
}

const STOPPED = Symbol("nobody takes the file any more");

/** Collects the parts of the form. Resolves when the parser has ended. */
function listen(
  parser: BusboyInstance,
  draft: FileFormDraft,
  found: (stream: Readable | null) => void,
): Promise<void> {
  const ended = Promise.withResolvers<void>();
  let length = 0;
  parser.on("field", (name: string | undefined, value) => {
    length += (name?.length ?? 0) + value.length;
    if (length > MAX_FIELDS_LENGTH) ended.reject(tooLong());
    else if (name !== undefined) draft.fields.append(name.toWellFormed(), value.toWellFormed());
  });
  parser.on("file", (_name, stream, fileName: string | undefined) => {
    stream.on("error", () => undefined);
    if (draft.fileName === null) {
      draft.fileName = (fileName ?? "").toWellFormed();
      found(stream);
    } else stream.resume();
  });
  const overflow = (): void => ended.reject(tooManyEntries());
  parser.on("fieldsLimit", overflow).on("partsLimit", overflow);
  parser.on("error", () => ended.reject(malformed(BROKEN)));
  parser.on("finish", () => {
    found(null);
    ended.resolve();
  });
  return ended.promise;
}

/**
 * Feeds the body to the parser, no faster than the file is read. The connection stays open for the answer.
 *
 * @param ended resolves when the parser has ended or nobody reads the file any more.
 */
async function pump(
  request: IncomingMessage,
  parser: BusboyInstance,
  ended: Promise<void | typeof STOPPED>,
): Promise<void> {
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    const taken = new Promise<void>((resolve) => void parser.write(chunk, () => resolve()));
    if ((await Promise.race([taken, ended])) === STOPPED) return;
  }
  parser.end();
  await ended;
}

function tooLong(): FormsvcError {
  return new FormsvcError("payload_too_large", "The form has too much text beside its file.");
}
