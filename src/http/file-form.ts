import type { IncomingMessage } from "node:http";
import type { Readable } from "node:stream";
import type { BusboyInstance } from "@fastify/busboy";
import { FormsvcError } from "../foundation/errors.ts";
import { createParser, malformed, tooManyEntries } from "./form-body.ts";

/** What a form of our own says beside its file. */
export interface FileFormDraft {
  readonly fields: URLSearchParams;
  /** As the client calls it; null if none came, empty if nobody chose one. */
  fileName: string | null;
}

/** UTF-16 units of names and texts of a form beside its file. */
export const MAX_FIELDS_LENGTH = 16_384;
const BROKEN = "The form's body is not valid multipart/form-data.";

/**
 * The bytes of the first file of a form as they come; no byte is read before the first is asked for. Everything else of the form is in
 * `draft` at the end. Further files are passed over.
 *
 * @throws invalid_request; what the request's stream throws if its client leaves
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
    // The parser says better what is wrong than the file that it ended.
    await Promise.race([parsed, stop.promise]);
    throw error;
  } finally {
    stop.resolve(STOPPED);
  }
}

const STOPPED = Symbol("nobody takes the file any more");

/** Resolves when the parser has ended. */
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
 * Hands the body to the parser, no faster than the file is taken. The connection stays: an answer follows.
 *
 * @param ended when the parser has ended, or nobody takes the file any more.
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
