import {
  type Dynamic,
  type Elf,
  type Entry,
  int,
  NEEDED,
  PT_LOAD,
  readDynamic,
  readElf,
  type Segment,
} from "./elf.ts";

/**
 * Removes a Linux Node's need for `libatomic.so.1`. A bare Debian does not have this library, and without it the loader ends the process
 * before our code runs. Node calls one function of the library, `__atomic_compare_exchange`, always for 8 bytes. We write this function
 * into the unused end of the executable's code, and replace the address that the loader would look up by the function's own address.
 * Nothing moves, so every other part of the file stays as it was built.
 */

const LIBRARY = "libatomic.so.1";
const FUNCTION = "__atomic_compare_exchange";

/** The parts that differ between processors. */
interface Machine {
  /** The type of a relocation that holds a fixed address: `R_X86_64_RELATIVE` or `R_AARCH64_RELATIVE`. */
  readonly relative: number;
  /** The function `bool (size_t size, void *object, void *expected, void *desired, int, int)`. Any size but 8 ends the process. */
  readonly code: Buffer;
  /** Finds the places in the code that call the function through this slot. Returns for each whether it passes the size 8. */
  readonly calls: (code: Buffer, codeAddress: number, slot: number) => readonly boolean[];
}

const MACHINES: Readonly<Record<number, Machine>> = {
  62: {
    relative: 8,
    code: bytes(
      "48 83 ff 08", //          cmp   rdi, 8
      "75 15", //                jne   wrong
      "48 8b 02", //             mov   rax, [rdx]
      "48 8b 09", //             mov   rcx, [rcx]
      "f0 48 0f b1 0e", //       lock cmpxchg [rsi], rcx
      "0f 94 c1", //             sete  cl
      "74 03", //                je    done
      "48 89 02", //             mov   [rdx], rax
      "89 c8", //          done: mov   eax, ecx
      "c3", //                   ret
      "0f 0b", //         wrong: ud2
    ),
    calls: callsOnX64,
  },
  183: {
    relative: 1027,
    code: words(
      0xf1_00_20_1f, //          cmp   x0, #8
      0x54_00_01_a1, //          b.ne  wrong
      0xf9_40_00_44, //          ldr   x4, [x2]
      0xf9_40_00_65, //          ldr   x5, [x3]
      0xc8_5f_fc_26, //   again: ldaxr x6, [x1]
      0xeb_04_00_df, //          cmp   x6, x4
      0x54_00_00_a1, //          b.ne  other
      0xc8_07_fc_25, //          stlxr w7, x5, [x1]
      0x35_ff_ff_87, //          cbnz  w7, again
      0x52_80_00_20, //          mov   w0, #1
      0xd6_5f_03_c0, //          ret
      0xd5_03_3f_5f, //   other: clrex
      0xf9_00_00_46, //          str   x6, [x2]
      0x52_80_00_00, //          mov   w0, #0
      0xd6_5f_03_c0, //          ret
      0xd4_20_00_00, //   wrong: brk   #0
    ),
    calls: callsOnArm64,
  },
};

function bytes(...lines: readonly string[]): Buffer {
  return Buffer.from(lines.join("").replaceAll(" ", ""), "hex");
}

function words(...list: readonly number[]): Buffer {
  const buffer = Buffer.alloc(4 * list.length);
  for (const [index, word] of list.entries()) buffer.writeUInt32LE(word, 4 * index);
  return buffer;
}

/**
 * Changes the bytes of a 64-bit ELF executable in place. Does nothing if the executable does not need the library.
 * @throws Error if the file needs more of the library than this function, as a later Node might
 */
export function linkAtomic(file: Buffer): void {
  const elf = readElf(file);
  const dynamic = readDynamic(elf);
  const needed = dynamic.entries.find(({ tag, value }) => tag === NEEDED && dynamic.text(value) === LIBRARY);
  if (needed === undefined) return;
  const machine = MACHINES[file.readUInt16LE(18)] ?? fail("is for a processor that is not known");
  const versions = dropVersions(elf, dynamic);
  const slot = takeOverRelocation(elf, dynamic, versions, machine);
  const code = codeOf(elf);
  slot.setAddress(addCode(elf, code, machine.code));
  const codeBytes = file.subarray(code.offset, code.offset + code.size);
  const calls = machine.calls(codeBytes, code.address, slot.address);
  if (calls.length === 0 || calls.includes(false))
    fail(`calls ${FUNCTION} for another size than 8 bytes: ${calls.length} calls`);
  removeEntry(file, dynamic.entries, needed);
}

function fail(what: string): never {
  throw new Error(`cannot take ${LIBRARY} out of Node: the executable ${what}`);
}

const MAY_EXECUTE = 1;

function codeOf(elf: Elf): Segment {
  const [code, ...more] = elf.segments.filter(
    ({ type, flags }) => type === PT_LOAD && (flags & MAY_EXECUTE) !== 0,
  );
  if (code === undefined || more.length > 0) fail("has not exactly one segment of code");
  return code;
}

const DT = {
  pltRelocationsSize: 2,
  symbols: 6,
  relocations: 7,
  relocationsSize: 8,
  pltRelocations: 23,
  versionsOfSymbols: 0x6f_ff_ff_f0,
  neededVersions: 0x6f_ff_ff_fe,
  neededVersionsCount: 0x6f_ff_ff_ff,
} as const;

/** Removes the versions of the library's symbols, which the loader would look for, from the chain. Returns the numbers of the versions. */
function dropVersions({ file, offsetOf }: Elf, dynamic: Dynamic): ReadonlySet<number> {
  const count = dynamic.entry(DT.neededVersionsCount);
  let at = offsetOf(dynamic.entry(DT.neededVersions).value);
  let before: number | null = null;
  for (let left = count.value; left > 0; left--) {
    if (dynamic.text(file.readUInt32LE(at + 4)) === LIBRARY) {
      const numbers = readVersionNumbers(file, at);
      unchain(file, at, before);
      file.writeBigUInt64LE(BigInt(count.value - 1), count.at + 8);
      return numbers;
    }
    before = at;
    at += file.readUInt32LE(at + 12);
  }
  return fail("names no versions of it");
}

/** Offsets in the record of a library's versions: the first version, and the next record (0 if there is none). */
const FIRST_VERSION = 8;
const NEXT_RECORD = 12;

/** Removes a record from the chain: the next record takes its place, or, if it is the last, the one before it becomes the last. */
function unchain(file: Buffer, at: number, before: number | null): void {
  const toNext = file.readUInt32LE(at + NEXT_RECORD);
  if (toNext === 0) {
    if (before === null) fail("needs versions of this library alone");
    file.writeUInt32LE(0, before + NEXT_RECORD);
    return;
  }
  file.copyWithin(at, at + toNext, at + toNext + 16);
  for (const offset of [FIRST_VERSION, NEXT_RECORD]) {
    const distance = file.readUInt32LE(at + offset);
    if (distance !== 0) file.writeUInt32LE(distance + toNext, at + offset);
  }
}

function readVersionNumbers(file: Buffer, needed: number): ReadonlySet<number> {
  const numbers = new Set<number>();
  let at = needed + file.readUInt32LE(needed + 8);
  for (let left = file.readUInt16LE(needed + 2); left > 0; left--) {
    numbers.add(file.readUInt16LE(at + 6));
    at += file.readUInt32LE(at + 12);
  }
  return numbers;
}

/** The slot that holds the address of the function while the program runs. */
interface Slot {
  readonly address: number;
  readonly setAddress: (address: number) => void;
}

/** Changes the one relocation that asks for a symbol of the library, so that it asks for none. */
function takeOverRelocation(
  { file, offsetOf }: Elf,
  dynamic: Dynamic,
  versions: ReadonlySet<number>,
  { relative }: Machine,
): Slot {
  const versionsAt = offsetOf(dynamic.entry(DT.versionsOfSymbols).value);
  const symbolsAt = offsetOf(dynamic.entry(DT.symbols).value);
  const found = [
    ...relocations(file, offsetOf(dynamic.entry(DT.relocations).value), dynamic.entry(DT.relocationsSize)),
    ...relocations(
      file,
      offsetOf(dynamic.entry(DT.pltRelocations).value),
      dynamic.entry(DT.pltRelocationsSize),
    ),
  ].filter(({ symbol }) => versions.has(file.readUInt16LE(versionsAt + 2 * symbol) & 0x7f_ff));
  const [only, ...more] = found;
  const name = only === undefined ? "" : dynamic.text(file.readUInt32LE(symbolsAt + 24 * only.symbol));
  if (only === undefined || more.length > 0 || name !== FUNCTION)
    fail(`needs ${found.length} symbols of it, not only ${FUNCTION}`);
  const symbolAt = symbolsAt + 24 * only.symbol;
  file.writeUInt16LE(ANY_VERSION, versionsAt + 2 * only.symbol);
  file.writeUInt8(WEAK_FUNCTION, symbolAt + 4);
  return {
    address: int(file, only.at),
    setAddress(address) {
      file.writeBigUInt64LE(BigInt(relative), only.at + 8);
      file.writeBigInt64LE(BigInt(address), only.at + 16);
    },
  };
}

const ANY_VERSION = 1;
/** The type of a weak function symbol, which may be missing. */
const WEAK_FUNCTION = (2 << 4) | 2;

function relocations(file: Buffer, from: number, { value: size }: Entry): { at: number; symbol: number }[] {
  return Array.from({ length: size / 24 }, (_, index) => {
    const at = from + 24 * index;
    return { at, symbol: file.readUInt32LE(at + 12) };
  });
}

/** Writes the function behind the last code, in the page that the loader maps in any case. Returns its address. */
function addCode({ file, segments }: Elf, code: Segment, added: Buffer): number {
  const start = Math.ceil((code.offset + code.size) / 16) * 16;
  const end = start + added.length;
  const isFree = segments.every(
    ({ offset, size }) => offset + size <= start || offset >= end || offset < code.offset,
  );
  if (!isFree || file.subarray(start, end).some((byte) => byte !== 0)) fail("has no room behind its code");
  added.copy(file, start);
  const size = BigInt(end - code.offset);
  file.writeBigUInt64LE(size, code.header + 32);
  file.writeBigUInt64LE(size, code.header + 40);
  return code.address + start - code.offset;
}

/** Removes an entry. The entries behind it move up, and the list ends with one more zero entry. */
function removeEntry(file: Buffer, entries: readonly Entry[], { at }: Entry): void {
  const end = (entries.at(-1)?.at ?? fail("has no dynamic entries")) + 16;
  file.copyWithin(at, at + 16, end);
  file.fill(0, end - 16, end);
}

/** The distance before a call, in bytes or instructions, in which the size is set. */
const LOOK_BACK = 64;

/** Finds the calls on x64: a stub jumps to the address in the slot (`jmp *slot(%rip)`), and code calls the stub. */
function callsOnX64(code: Buffer, codeAddress: number, slot: number): readonly boolean[] {
  const stubs: number[] = [];
  for (let at = code.indexOf("ff25", 0, "hex"); at !== -1; at = code.indexOf("ff25", at + 1, "hex")) {
    if (at + 6 <= code.length && codeAddress + at + 6 + code.readInt32LE(at + 2) === slot) stubs.push(at);
  }
  const sizeOf8 = Buffer.from("bf08000000", "hex");
  const calls: boolean[] = [];
  for (let at = code.indexOf(0xe8); at !== -1 && at + 5 <= code.length; at = code.indexOf(0xe8, at + 1)) {
    if (stubs.includes(at + 5 + code.readInt32LE(at + 1)))
      calls.push(code.subarray(Math.max(0, at - LOOK_BACK), at).includes(sizeOf8));
  }
  return calls;
}

/** Finds the calls on ARM64: a stub loads the address in the slot (`adrp x16`, `ldr x17`), and code branches to the stub (`bl`). */
function callsOnArm64(code: Buffer, codeAddress: number, slot: number): readonly boolean[] {
  const list = new Uint32Array(code.buffer.slice(code.byteOffset, code.byteOffset + (code.length & ~3)));
  const stubs = new Set<number>();
  // An iterator over the millions of instructions would take half a second.
  for (let index = 0; index < list.length; index++) {
    const word = list[index] ?? 0;
    if ((word & 0x9f_00_00_1f) >>> 0 !== 0x90_00_00_10) continue;
    const pages = (((((word >>> 5) & 0x7_ff_ff) << 2) | ((word >>> 29) & 3)) << 11) >> 11;
    const page = (Math.floor((codeAddress + 4 * index) / 4096) + pages) * 4096;
    const load = list[index + 1] ?? 0;
    const isLoad = (load & 0xff_c0_03_ff) >>> 0 === 0xf9_40_02_11;
    if (isLoad && page + ((load >>> 10) & 0xf_ff) * 8 === slot) stubs.add(index);
  }
  const calls: boolean[] = [];
  for (let index = 0; index < list.length; index++) {
    const word = list[index] ?? 0;
    if (word >>> 26 !== 0b10_0101) continue;
    const target = index + ((word << 6) >> 6);
    if (stubs.has(target)) calls.push(list.slice(Math.max(0, index - LOOK_BACK), index).includes(SIZE_OF_8));
  }
  return calls;
}

/** The instruction `mov w0, #8`. */
const SIZE_OF_8 = 0x52_80_01_00;
