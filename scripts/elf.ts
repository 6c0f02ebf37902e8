/** Reads 64-bit ELF files whose low byte comes first: programs and libraries of Linux. */

/** A program header that maps a part of the file. */
export interface Segment {
  readonly header: number;
  readonly type: number;
  readonly flags: number;
  readonly offset: number;
  readonly address: number;
  readonly size: number;
}

export interface Elf {
  readonly file: Buffer;
  readonly segments: readonly Segment[];
  /** Returns the position in the file of an address in memory. @throws Error if the address is not in the file */
  readonly offsetOf: (address: number) => number;
}

export const PT_LOAD = 1;
const PT_DYNAMIC = 2;

/** Reads the headers of an ELF file. @throws Error if the file is of another kind */
export function readElf(file: Buffer): Elf {
  if (file.length < 64 || file.readUInt32BE(0) !== 0x7f_45_4c_46 || file[4] !== 2 || file[5] !== 1)
    throw new Error("the file is no 64-bit ELF file with the low byte first");
  const at = int(file, 32);
  const segments = Array.from({ length: file.readUInt16LE(56) }, (_, index) => {
    const header = at + 56 * index;
    return {
      header,
      type: file.readUInt32LE(header),
      flags: file.readUInt32LE(header + 4),
      offset: int(file, header + 8),
      address: int(file, header + 16),
      size: int(file, header + 32),
    };
  });
  const loaded = segments.filter(({ type }) => type === PT_LOAD);
  return {
    file,
    segments,
    offsetOf(address) {
      const inside = loaded.find((each) => address >= each.address && address < each.address + each.size);
      if (inside === undefined) throw new Error(`the ELF file has nothing at ${address}`);
      return address - inside.address + inside.offset;
    },
  };
}

/** Reads a 64-bit number. All numbers in such a file are far below 2^53. */
export function int(file: Buffer, at: number): number {
  return Number(file.readBigUInt64LE(at));
}

export interface Entry {
  readonly at: number;
  readonly tag: number;
  readonly value: number;
}

export interface Dynamic {
  readonly entries: readonly Entry[];
  /** Returns the entry with this tag. @throws Error if there is none */
  readonly entry: (tag: number) => Entry;
  /** Returns the text at an offset of the table of strings. */
  readonly text: (offset: number) => string;
}

/** Reads the instructions for the loader. @throws Error if the file is linked statically */
export function readDynamic(elf: Elf): Dynamic {
  const segment = elf.segments.find(({ type }) => type === PT_DYNAMIC);
  if (segment === undefined) throw new Error("the ELF file is linked statically");
  const entries: Entry[] = [];
  for (let at = segment.offset; at < segment.offset + segment.size; at += 16) {
    const tag = int(elf.file, at);
    entries.push({ at, tag, value: int(elf.file, at + 8) });
    if (tag === 0) break;
  }
  const entry = (tag: number): Entry => {
    const found = entries.find((each) => each.tag === tag);
    if (found === undefined) throw new Error(`the ELF file has no dynamic entry ${tag}`);
    return found;
  };
  const strings = elf.offsetOf(entry(STRINGS).value);
  return {
    entries,
    entry,
    text(offset) {
      const from = strings + offset;
      return elf.file.toString("latin1", from, elf.file.indexOf(0, from));
    },
  };
}

export const NEEDED = 1;
const STRINGS = 5;

/** The names of the libraries that a program or library needs, like `libc.so.6`. */
export function neededLibraries(file: Buffer): readonly string[] {
  const dynamic = readDynamic(readElf(file));
  return dynamic.entries.filter(({ tag }) => tag === NEEDED).map(({ value }) => dynamic.text(value));
}
