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

/** The number of bytes at the beginning of a file by which its type is recognised. */
const HEAD_BYTES = 65_536;
const ZIP_TYPE = "application/zip";
const OLD_OFFICE_TYPE = "application/x-cfb";

/** Other names of the same types, and the names used here. */
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
 * Finds the media type of a file by its content. Null if the form does not accept this type, if the file's name contradicts it, or if the
 * type is unknown.
 */
export async function findType(name: string, source: ByteSource, field: FileField): Promise<string | null> {
  const extension = extensionOf(name);
  if (isNeverAllowed("", extension)) return null;
  const type = await typeOf(source, extension);
  if (type === null || isNeverAllowed(type, extension) || !isAccepted(field.accept, type)) return null;
  // Phones send pictures without an extension, and a missing extension misleads nobody.
  return extension === "" || hasExtension(type, extension) ? type : null;
}

async function typeOf(source: ByteSource, extension: string): Promise<string | null> {
  const found = await recognise(source);
  if (found === null || isTextType(found)) {
    const type = found ?? textTypeOf(extension);
    return type !== null && (await isPlainText(source)) ? type : null;
  }
  const named = textTypeOf(extension);
  // Some pictures and programs are recognised by two letters, with which a text may begin too.
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

/** Whether a type is an archive. Its directory says what an archive really contains; its first members may lie. */
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

/** Formats that are written as text, but that are opened by other programs than an editor. */
const WRITTEN_AS_TEXT = /pdf|rtf|postscript|xml|pgp/;

/** The type of a text by the file's name, because text has no mark at its beginning. Null if the name is not that of a text. */
function textTypeOf(extension: string): string | null {
  const type = typeOfExtension(extension);
  return type !== undefined && isTextType(type) ? type : null;
}

/** Whether the content is text that no program would run or show as a web page. */
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
