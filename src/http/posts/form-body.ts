import type { EventEmitter } from "node:events";
import type { IncomingMessage } from "node:http";
import { Busboy, type BusboyInstance } from "@fastify/busboy";
import { FormsvcError } from "../../foundation/errors.ts";
import type { FormEntry } from "../../submissions/receive/coerce-form.ts";
import { bodyTooLarge } from "../error-reply.ts";

/** The largest number of inputs in one form; a form with more is refused. */
const MAX_FORM_ENTRIES = 1000;
/** The largest number of header lines of one part of a multipart body; browsers send two. */
const MAX_PART_HEADERS = 20;
/** The largest size of these lines; a name or a file's name that is longer would be cut. */
const MAX_PART_HEADER_BYTES = 4096;

export const MULTIPART = "multipart/form-data";
export const URL_ENCODED = "application/x-www-form-urlencoded";
export const FORM_TYPES = [URL_ENCODED, MULTIPART] as const;

export interface FormBody {
  /** The inputs that could be read. They are there even if there is a problem, so that a page can show them again. */
  readonly entries: readonly FormEntry[];
  /** Why the body must be refused; null if nothing is wrong. */
  readonly problem: FormsvcError | null;
}

/** The media type without its parameters, in lower case. */
export function mediaType(contentType: string | undefined): string {
  return (contentType ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";
}

/** Reads a body into memory. @throws payload_too_large; the error of the stream if the client leaves */
export function readWhole(payload: IncomingMessage, limitBytes: number): Promise<Buffer> {
  const parts: Buffer[] = [];
  let bytes = 0;
  return new Promise((resolve, reject) => {
    payload.on("data", (part: Buffer) => {
      bytes += part.length;
      if (bytes <= limitBytes) parts.push(part);
      else reject(bodyTooLarge(limitBytes));
    });
    payload.on("end", () => resolve(Buffer.concat(parts)));
    payload.on("error", reject);
  });
}

/** Reads the inputs of a form. Never throws. The body is already in memory and within the server's limit. */
export async function readFormBody(contentType: string, body: Buffer): Promise<FormBody> {
  if (mediaType(contentType) === MULTIPART) return readMultipart(contentType, body);
  const entries = [...new URLSearchParams(body.toString("utf8"))];
  return { entries: entries.slice(0, MAX_FORM_ENTRIES), problem: tooMany(entries.length) };
}

function readMultipart(contentType: string, body: Buffer): Promise<FormBody> {
  const entries: FormEntry[] = [];
  let problem: FormsvcError | null = null;
  return new Promise((resolve) => {
    const broken = (): void =>
      resolve({ entries, problem: malformed("The form's body is not valid multipart/form-data.") });
    const parser = createParser(contentType, body.length);
    if (parser === null) return broken();
    parser.on("field", (name: string | undefined, value) => {
      // A part in UTF-16 can contain half of a surrogate pair. A part without a name is an error besides.
      if (name !== undefined) entries.push([name.toWellFormed(), value.toWellFormed()]);
    });
    parser.on("file", (_name, stream, filename: string | undefined) => {
      // For an empty file input a browser sends a part without a file name and without content.
      if (filename) problem ??= noFiles();
      stream.on("data", () => (problem ??= noFiles())).on("error", () => {});
    });
    const overflow = (): void => void (problem ??= tooManyEntries());
    parser.on("fieldsLimit", overflow).on("partsLimit", overflow);
    parser.on("error", broken).on("finish", () => resolve({ entries, problem }));
    return void parser.end(body);
  });
}

/** The parser for a multipart body; null if the content type has no boundary. */
export function createParser(contentType: string, size: number): BusboyInstance | null {
  const limits = {
    fields: MAX_FORM_ENTRIES,
    parts: MAX_FORM_ENTRIES,
    fieldSize: size,
    headerPairs: MAX_PART_HEADERS,
    // What is longer is cut here, so that it can still be seen to be too long.
    headerSize: 2 * MAX_PART_HEADER_BYTES,
  };
  try {
    const parser = new Busboy({ headers: { "content-type": contentType }, limits });
    refuseUnread(parser);
    return parser;
  } catch {
    return null;
  }
}

/** The library's own members. That which finds the parts of a body is not public, and nothing public tells of a part that is left out. */
type OwnMembers = Readonly<Record<string, { readonly parser: EventEmitter }>>;

/** Whether the header lines of a part are too long, with the colon, blank and line break of each. */
function isTooLong(lines: Readonly<Record<string, readonly string[]>>): boolean {
  let bytes = 0;
  for (const [name, values] of Object.entries(lines))
    for (const value of values) bytes += name.length + value.length + 4;
  return bytes > MAX_PART_HEADER_BYTES;
}

/**
 * Makes a part an error whose header lines are too long, or that has no name of an input. The library cuts such lines, so that what was sent
 * came under another name, or a file as a text. The library leaves out such a part without a word, with the file that it may contain:
 * one whose headers are too many, that is no `form-data`, or whose name of a file has a line break.
 */
function refuseUnread(parser: BusboyInstance): void {
  let isFull = false;
  const refuse = (): void => {
    // Beyond a limit every part is left out, and the consumer knows.
    if (!isFull) parser.emit("error", new Error("a part cannot be read as it is"));
  };
  for (const event of ["fieldsLimit", "partsLimit"] as const) parser.on(event, () => (isFull = true));
  parser.on("field", (name: string | undefined) => {
    if (name === undefined) refuse();
  });
  // A listener that comes after the library's own: a part that nobody listens to then is left out.
  (parser as unknown as OwnMembers)["_parser"]?.parser.on("part", (part: EventEmitter) =>
    part.on("header", (lines: Readonly<Record<string, readonly string[]>>) => {
      if (part.listenerCount("data") === 0 || isTooLong(lines)) refuse();
    }),
  );
}

function tooMany(count: number): FormsvcError | null {
  return count > MAX_FORM_ENTRIES ? tooManyEntries() : null;
}

export function tooManyEntries(): FormsvcError {
  return malformed(`The form has more than ${MAX_FORM_ENTRIES} fields.`);
}

function noFiles(): FormsvcError {
  return new FormsvcError("unsupported_media_type", "This form takes no files; send it without one.");
}

export function malformed(message: string): FormsvcError {
  return new FormsvcError("invalid_request", message, { details: { body: "malformed" } });
}

/** @throws unsupported_media_type */
export function checkMediaType(header: string | undefined): void {
  if (FORM_TYPES.some((type) => type === mediaType(header))) return;
  throw new FormsvcError("unsupported_media_type", `Send the form as ${FORM_TYPES.join(" or ")}.`);
}
