import type { ByteSource } from "./byte-source.ts";

/** Types of records in a workbook: its beginning, its end, a sheet with its name and kind, and the mark that the rest is encrypted. */
const [BEGIN, END, SHEET, ENCRYPTED] = [0x08_09, 0x0a, 0x85, 0x2f];
/** Kinds of sheets that are programs: a macro sheet of Excel 4.0, and a module of Visual Basic. */
const PROGRAM_SHEETS: ReadonlySet<number | undefined> = new Set([1, 6]);
/** The position of the kind in the record of a sheet. */
const KIND_OF_SHEET_AT = 9;
const HEADER_BYTES = 512;
const ENTRY_BYTES = 128;
/** A smaller stream is stored in another way, which is not read here. No program writes so small a workbook. */
const SMALL_STREAM_BYTES = 4096;
/** A sector number from here on is not a sector: it ends a chain. */
const NO_SECTOR = 0xff_ff_ff_fa;
/** The position in the header of the list of sectors that hold the table of chains. */
const FIRST_TABLES_AT = 76;
/** The largest number of workbooks in a file. Programs write one, and each is searched, so a file must not name thousands. */
const MAX_WORKBOOKS = 4;
/** The number of bytes that are read at once, a sector and those after it. */
const WINDOW_BYTES = 16_384;
/** The number of bytes of records that are examined before other work goes on. */
const PIECE_BYTES = 65_536;

/** Thrown if the file does not follow its format. */
class NotReadable extends Error {}

/**
 * Whether a workbook from before Excel 2007 has sheets that are macros, which the names of its streams do not show; true if that cannot be
 * decided. The lists and chains of the file are followed, because its parts may be stored in any order.
 */
export async function hasMacroSheets(source: ByteSource): Promise<boolean> {
  try {
    const file = await CompoundFile.open(source);
    const books = await file.workbooks();
    if (books.length === 0 || books.length > MAX_WORKBOOKS) return true;
    for (const { start, size } of books)
      if (size < SMALL_STREAM_BYTES || (await hasProgramSheet(file.chain(start)))) return true;
    return false;
  } catch (error) {
    if (error instanceof NotReadable) return true;
    throw error;
  }
}

/** Reads the records of a workbook's first part, which lists all sheets. */
async function hasProgramSheet(stream: Chain): Promise<boolean> {
  for (let at = 0; ;) {
    const found = lookAtRecords(await stream.read(at, PIECE_BYTES), at === 0);
    if (typeof found === "boolean") return found;
    // The stream ends in the middle of a record.
    if (found === 0) return true;
    at += found;
  }
}

/** Returns true or false if one of these records decides; else the position of the next record. */
function lookAtRecords(bytes: Buffer, isBeginning: boolean): boolean | number {
  let at = 0;
  while (at + 4 <= bytes.length) {
    const [kind, length] = [bytes.readUInt16LE(at), bytes.readUInt16LE(at + 2)];
    if ((isBeginning && at === 0) !== (kind === BEGIN) || kind === ENCRYPTED) return true;
    if (kind === END) return false;
    if (kind === SHEET && at + KIND_OF_SHEET_AT >= bytes.length) return at;
    if (kind === SHEET && PROGRAM_SHEETS.has(bytes[at + KIND_OF_SHEET_AT])) return true;
    at += 4 + length;
  }
  return at;
}

/** A file that contains several streams (OLE). Each stream is a chain of sectors; a table gives the sector after each one. */
class CompoundFile {
  readonly #source: ByteSource;
  readonly #sectorBytes: number;
  /** The sectors of the table of chains. */
  readonly #tables: number[] = [];
  readonly #firstOfDirectory: number;
  #window: { readonly start: number; readonly bytes: Buffer } = { start: 0, bytes: Buffer.alloc(0) };
  /** The part of the table that was read last. */
  #table: { readonly sector: number; readonly bytes: Buffer } | null = null;

  private constructor(source: ByteSource, header: Buffer) {
    this.#source = source;
    this.#sectorBytes = 2 ** header.readUInt16LE(30);
    this.#firstOfDirectory = header.readUInt32LE(48);
    for (let at = FIRST_TABLES_AT; at < HEADER_BYTES; at += 4) this.#tables.push(header.readUInt32LE(at));
  }

  static async open(source: ByteSource): Promise<CompoundFile> {
    const header = await source.read(0, HEADER_BYTES);
    if (header.length < HEADER_BYTES) throw new NotReadable();
    const file = new CompoundFile(source, header);
    if (file.#sectorBytes !== 512 && file.#sectorBytes !== 4096) throw new NotReadable();
    // The header has room for 109 of these sectors. The others are in a list of sectors, each of which names the next.
    for (let sector = header.readUInt32LE(68); sector < NO_SECTOR;) {
      if (file.#tables.length > file.maxSectors) throw new NotReadable();
      const list = await file.readSector(sector);
      for (let at = 0; at < list.length - 4; at += 4) file.#tables.push(list.readUInt32LE(at));
      sector = list.readUInt32LE(list.length - 4);
    }
    return file;
  }

  get sectorBytes(): number {
    return this.#sectorBytes;
  }

  get maxSectors(): number {
    return Math.ceil(this.#source.size / this.#sectorBytes) + FIRST_TABLES_AT;
  }

  chain(first: number): Chain {
    return new Chain(this, first);
  }

  async readSector(sector: number): Promise<Buffer> {
    const start = (sector + 1) * this.#sectorBytes;
    const inWindow = start - this.#window.start;
    if (inWindow < 0 || inWindow + this.#sectorBytes > this.#window.bytes.length)
      this.#window = { start, bytes: await this.#source.read(start, WINDOW_BYTES) };
    const at = start - this.#window.start;
    const bytes = this.#window.bytes.subarray(at, at + this.#sectorBytes);
    if (bytes.length < this.#sectorBytes) throw new NotReadable();
    return bytes;
  }

  async next(sector: number): Promise<number> {
    const perTable = this.#sectorBytes / 4;
    const table = this.#tables[Math.floor(sector / perTable)] ?? NO_SECTOR;
    if (table >= NO_SECTOR) throw new NotReadable();
    if (this.#table?.sector !== table) this.#table = { sector: table, bytes: await this.readSector(table) };
    return this.#table.bytes.readUInt32LE((sector % perTable) * 4);
  }

  async workbooks(): Promise<{ readonly start: number; readonly size: number }[]> {
    const found: { start: number; size: number }[] = [];
    const directory = this.chain(this.#firstOfDirectory);
    for (let from = 0; ;) {
      const sector = await directory.read(from, 1);
      if (sector.length === 0) return found;
      from += sector.length;
      for (let at = 0; at < sector.length; at += ENTRY_BYTES) {
        const name = sector
          .toString("utf16le", at, at + 64)
          .split("\0")[0]
          ?.toLowerCase();
        if (found.length <= MAX_WORKBOOKS && (name === "workbook" || name === "book"))
          found.push({ start: sector.readUInt32LE(at + 116), size: sector.readUInt32LE(at + 120) });
      }
    }
  }
}

/** The sectors of one stream in their order, read only as far as needed. */
class Chain {
  readonly #file: CompoundFile;
  readonly #sectors: number[];

  constructor(file: CompoundFile, first: number) {
    this.#file = file;
    this.#sectors = [first];
  }

  /** Whether the stream has a sector with this index. @throws NotReadable if the chain never ends */
  async has(index: number): Promise<boolean> {
    while (this.#sectors.length <= index) {
      const last = this.#sectors.at(-1) ?? NO_SECTOR;
      if (last >= NO_SECTOR) return false;
      if (this.#sectors.length > this.#file.maxSectors) throw new NotReadable();
      this.#sectors.push(await this.#file.next(last));
    }
    return (this.#sectors[index] ?? NO_SECTOR) < NO_SECTOR;
  }

  /** Reads at most `length` bytes; fewer at the end of the stream. */
  async read(at: number, length: number): Promise<Buffer> {
    const { sectorBytes } = this.#file;
    const parts: Buffer[] = [];
    let [index, bytes] = [Math.floor(at / sectorBytes), -(at % sectorBytes)];
    for (; bytes < length && (await this.has(index)); index += 1) {
      parts.push(await this.#file.readSector(this.#sectors[index] ?? NO_SECTOR));
      bytes += sectorBytes;
    }
    return Buffer.concat(parts).subarray(at % sectorBytes);
  }
}
