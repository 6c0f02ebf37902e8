import { type ByteSource, chunksOf } from "./byte-source.ts";
import { hasMacroSheets } from "./old-workbook.ts";
import { readZipMember, readZipMembers, type ZipMember } from "./zip-members.ts";

/** What kind of document it is. `macros` if it has any, or nobody can tell; null if it is no document of an office program. */
type OfficeFinding = string | null;

const OPEN_XML = "application/vnd.openxmlformats-officedocument.";
/** The member that each of these documents has. */
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
/** The lists of parts and their types are a few KiB, also in large documents. */
const MAX_LIST_BYTES = 1_048_576;

/** Looks into an archive: documents of office programs are archives. */
export async function lookIntoZip(source: ByteSource): Promise<OfficeFinding> {
  const members = await readZipMembers(source);
  if (members === null) return null;
  const byName = new Map(members.map((member) => [member.name.toLowerCase(), member]));
  // Of two with one name, another program may take the other.
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

/** No program writes a type with a reference to a character, or with an entity: what it stands for would not be seen. */
const MACRO_TYPES =
  /vbaproject|macroenabled|macrosheet|ms-office\.activex|oleobject.*bin.*vba|&#|<!entity|<!doctype/;
const MACRO_PARTS = /vbaproject\.bin$|^xl\/macrosheets\//;

/** A part with macros may have any name, but the list of types must say what it is. */
async function lookIntoOpenXml(
  source: ByteSource,
  byName: ReadonlyMap<string, ZipMember>,
  types: ZipMember,
): Promise<OfficeFinding> {
  const list = await readZipMember(source, types, MAX_LIST_BYTES);
  // In UTF-16 every second byte is NUL.
  const text = list?.toString("latin1").replaceAll("\0", "").toLowerCase() ?? "vbaproject";
  if (MACRO_TYPES.test(text)) return "macros";
  if ([...byName.keys()].some((name) => MACRO_PARTS.test(name))) return "macros";
  return MAIN_PARTS.find(([member]) => byName.has(member))?.[1] ?? null;
}

const EXCEL = "application/vnd.ms-excel";
/** Documents of office programs before 2007 are files of one common format, whose streams have names in UTF-16. */
const OLD_STREAMS: readonly (readonly [stream: string, type: string])[] = [
  ["WordDocument", "application/msword"],
  ["Workbook", EXCEL],
  ["Book", EXCEL],
  ["PowerPoint Document", "application/vnd.ms-powerpoint"],
];
/** Streams and storages that only a document with macros has. */
const OLD_MACROS = new Set(["_VBA_PROJECT", "_VBA_PROJECT_CUR", "VBA", "Macros"]);
/** A directory has entries of this size, each with its name first. */
const ENTRY_BYTES = 128;

/** Looks at everything in a document of the format before 2007 that may be an entry of its directory. */
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

/** Null if these bytes are no entry: the length of its name, with the NUL at its end, does not fit. */
function entryName(chunk: Buffer, at: number): string | null {
  const bytes = chunk.readUInt16LE(at + 64);
  if (bytes < 4 || bytes > 64 || bytes % 2 !== 0 || chunk.readUInt16LE(at + bytes - 2) !== 0) return null;
  return chunk.toString("utf16le", at, at + bytes - 2);
}
