import type { FileField } from "../schemas/field-definition.ts";
import {
  extensionOf,
  hasExtension,
  isAccepted,
  isNeverAllowed,
  isTextType,
  typeOfExtension,
} from "../schemas/file-types.ts";
import { type ByteSource, chunksOf } from "./byte-source.ts";
import { lookIntoOldOffice, lookIntoZip } from "./office-files.ts";

/** Bytes from which the content is recognised. */
const HEAD_BYTES = 65_536;
const ZIP_TYPE = "application/zip";
const OLD_OFFICE_TYPE = "application/x-cfb";

/** Other names of the same types. */
const ALIASES: Readonly<Record<string, string>> = {
  "image/apng": "image/png",
  "image/heic-sequence": "image/heic",
  "image/heif-sequence": "image/heif",
  "audio/x-m4a": "audio/mp4",
  "audio/ogg; codecs=opus": "audio/ogg",
  "video/x-m4v": "video/mp4",
  "video/matroska": "video/x-matroska",
  "video/3gpp2": "video/3gpp",
};

/**
 * The media type that a file's content has. Null if the form does not take it, if its name says something else, or if nobody can tell
 * what it is.
 */
export async function findType(name: string, source: ByteSource, field: FileField): Promise<string | null> {
  const extension = extensionOf(name);
  if (isNeverAllowed("", extension)) return null;
  const type = await typeOf(source, extension);
  if (type === null || isNeverAllowed(type, extension) || !isAccepted(field.accept, type)) return null;
  // Phones send pictures without an extension; nobody is misled by none.
  return extension === "" || hasExtension(type, extension) ? type : null;
}

async function typeOf(source: ByteSource, extension: string): Promise<string | null> {
  const found = await recognise(source);
  if (found === null || isTextType(found)) {
    const type = found ?? textTypeOf(extension);
    return type !== null && (await isPlainText(source)) ? type : null;
  }
  const named = textTypeOf(extension);
  // Two letters make a picture or a program: a text may begin with them too.
  if (named !== null && !WRITTEN_AS_TEXT.test(found) && (await isPlainText(source))) return named;
  if (isArchive(found)) {
    const document = await lookIntoZip(source);
    if (document === "macros") return null;
    return document ?? (found === ZIP_TYPE ? ZIP_TYPE : null);
  }
  if (found === OLD_OFFICE_TYPE) {
    const document = await lookIntoOldOffice(source);
    return document === "macros" ? null : document;
  }
  return found;
}

/** Whatever is recognised in an archive is said by its directory, not by the members that come first. */
function isArchive(type: string): boolean {
  return type === ZIP_TYPE || /^application\/(?:vnd\.(?:openxmlformats|oasis)|epub)/.test(type);
}

async function recognise(source: ByteSource): Promise<string | null> {
  const { fileTypeFromBuffer } = await import("file-type");
  const head = await source.read(0, HEAD_BYTES);
  const found = await fileTypeFromBuffer(head).catch(() => undefined);
  const type = found?.mime ?? (head.subarray(0, 4).equals(ZIP_BEGIN) ? ZIP_TYPE : undefined);
  return type === undefined ? null : (ALIASES[type] ?? type);
}

const ZIP_BEGIN = Buffer.from("PK\u0003\u0004");

/** Formats that are text all the way, and that another program than an editor opens. */
const WRITTEN_AS_TEXT = /pdf|rtf|postscript|xml|pgp/;

/** Text has no mark, so its name says what it is. Null if the name says something else. */
function textTypeOf(extension: string): string | null {
  const type = typeOfExtension(extension);
  return type !== undefined && isTextType(type) ? type : null;
}

/** Whether it is text, and nothing that a program would run or show as a page. */
async function isPlainText(source: ByteSource): Promise<boolean> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let isFirst = true;
  try {
    for await (const chunk of chunksOf(source)) {
      if (chunk.includes(0)) return false;
      const text = decoder.decode(chunk, { stream: true });
      if (isFirst && /^\s*(?:<|#!)/.test(text)) return false;
      isFirst &&= text.trim() === "";
    }
    decoder.decode();
    return true;
  } catch {
    return false;
  }
}
