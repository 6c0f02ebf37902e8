import { type ByteSource, chunksOf } from "./byte-source.ts";
import { hasMacroSheets } from "./old-workbook.ts";
import { readZipMember, readZipMembers, type ZipMember } from "./zip-members.ts";

/** The media type of an office document. `macros` if it has macros, or if that cannot be decided; null if it is no office document. */
type OfficeFinding = string | null;

const OPEN_XML = "application/vnd.openxmlformats-officedocument.";
/** The member by which each kind of document is recognised. */
const MAIN_PARTS: readonly (readonly [member: string, type: string])[] = [
  ["word/document.xml", `${OPEN_XML}wordprocessingml.document`],
  ["xl/workbook.xml", `${OPEN_XML}spreadsheetml.sheet`],
  ["xl/workbook.bin", "macros"],
  ["ppt/presentation.xml", `${OPEN_XML}presentationml.presentation`],
];
const OPEN_DOCUMENTS: ReadonlySet<string> = new Set([
  "application/vnd.oasis.opendocument.text",
  "application/vnd.oasis.opendocument.spreadsheet",
  "application/vnd.oasis.opendocument.presentation",
]);
const CONTENT_TYPES = "[content_types].xml";
/** The largest list of parts and types that is read, in bytes; also in large documents it has only a few KiB. */
const MAX_LIST_BYTES = 1_048_576;

/** Looks into an archive, because office documents are archives. */
export async function lookIntoZip(source: ByteSource): Promise<OfficeFinding> {
  const members = await readZipMembers(source);
  if (members === null) return null;
  const byName = new Map(members.map((member) => [member.name.toLowerCase(), member]));
  // If two members have the same name, another program may read the other one.
  if (byName.size < members.length) return null;
  const types = byName.get(CONTENT_TYPES);
  if (types !== undefined) return lookIntoOpenXml(source, byName, types);
  const kind = byName.get("mimetype");
  if (kind === undefined) return null;
  const type = (await readZipMember(source, kind, 256))?.toString("latin1").trim() ?? "";
  if (type === "application/epub+zip") return type;
  if (!OPEN_DOCUMENTS.has(type)) return null;
  const hasScripts = members.some(({ name }) => /^(?:Basic|Scripts)\/./i.test(name));
  return hasScripts ? "macros" : type;
}

/** Signs of macros in the list of types. A reference to a character or an entity could hide a type; no program writes one there. */
const MACRO_TYPES =
  /vbaproject|macroenabled|macrosheet|ms-office\.activex|oleobject.*bin.*vba|&#|<!entity|<!doctype/;
const MACRO_PARTS = /vbaproject\.bin$|^xl\/macrosheets\//;

/** Looks for macros by the list of types, because a part with macros may have any name, but must be listed with its type. */
async function lookIntoOpenXml(
  source: ByteSource,
  byName: ReadonlyMap<string, ZipMember>,
  types: ZipMember,
): Promise<OfficeFinding> {
  const list = await readZipMember(source, types, MAX_LIST_BYTES);
  // In UTF-16 every second byte of ASCII text is NUL.
  const text = list?.toString("latin1").replaceAll("\0", "").toLowerCase() ?? "vbaproject";
  if (MACRO_TYPES.test(text)) return "macros";
  if ([...byName.keys()].some((name) => MACRO_PARTS.test(name))) return "macros";
  return MAIN_PARTS.find(([member]) => byName.has(member))?.[1] ?? null;
}

const EXCEL = "application/vnd.ms-excel";
/**
 * The streams by which office documents from before 2007 are recognised. They share one file format, in which streams have names in UTF-16.
 */
const OLD_STREAMS: readonly (readonly [stream: string, type: string])[] = [
  ["WordDocument", "application/msword"],
  ["Workbook", EXCEL],
  ["Book", EXCEL],
  ["PowerPoint Document", "application/vnd.ms-powerpoint"],
];
/** Streams and storages that only a document with macros has. */
const OLD_MACROS = new Set(["_VBA_PROJECT", "_VBA_PROJECT_CUR", "VBA", "Macros"]);
/** The size of an entry of the directory, which begins with its name. */
const ENTRY_BYTES = 128;

/** Looks for macros in a document from before 2007: examines every position at which an entry of its directory may be. */
export async function lookIntoOldOffice(source: ByteSource): Promise<OfficeFinding> {
  let type: string | null = null;
  for await (const chunk of chunksOf(source)) {
    for (let at = 0; at + ENTRY_BYTES <= chunk.length; at += ENTRY_BYTES) {
      const name = entryName(chunk, at);
      if (name === null) continue;
      if (OLD_MACROS.has(name)) return "macros";
      type ??= OLD_STREAMS.find(([stream]) => stream === name)?.[1] ?? null;
    }
  }
  return type === EXCEL && (await hasMacroSheets(source)) ? "macros" : type;
}

/** The name of an entry; null if the bytes are no entry, because the length of the name and the NUL at its end do not fit. */
function entryName(chunk: Buffer, at: number): string | null {
  const bytes = chunk.readUInt16LE(at + 64);
  if (bytes < 4 || bytes > 64 || bytes % 2 !== 0 || chunk.readUInt16LE(at + bytes - 2) !== 0) return null;
  return chunk.toString("utf16le", at, at + bytes - 2);
}
