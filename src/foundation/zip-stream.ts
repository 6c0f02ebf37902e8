import { crc32, createDeflateRaw } from "node:zlib";
import { FormsvcError } from "./errors.ts";

/** One file of an archive. Its content comes in parts. */
export interface ArchiveMember {
  /** With forward slashes. */
  readonly name: string;
  readonly content: Iterable<string | Uint8Array> | AsyncIterable<string | Uint8Array>;
}

/** The limits of the fields of a plain archive. Larger values are written in the fields of ZIP64. */
const MAX_BYTES = 0xff_ff_ff_ff;
const MAX_COUNT = 0xff_ff;

interface Written {
  readonly name: Buffer;
  readonly offset: number;
  readonly sizes: Sizes;
}

interface Sizes {
  readonly checksum: number;
  readonly packed: number;
  readonly size: number;
}

/**
 * Yields a ZIP archive in parts while the contents of its members arrive. Memory holds one part, and the directory's entry of each member.
 *
 * @throws failed if a member has 4 GiB or more
 */
export async function* zipStream(
  members: Iterable<ArchiveMember> | AsyncIterable<ArchiveMember>,
): AsyncGenerator<Buffer> {
  const written: Written[] = [];
  let offset = 0;
  for await (const { name: given, content } of members) {
    const name = Buffer.from(given);
    const head = Buffer.concat([numbers([4, 0x04_03_4b_50], ...facts(name, UNKNOWN), [2, 0]), name]);
    yield head;
    const deflater = new Deflater();
    try {
      for await (const part of content)
        yield await deflater.add(typeof part === "string" ? Buffer.from(part) : part);
      yield await deflater.end();
    } finally {
      deflater.destroy();
    }
    const { sizes } = deflater;
    const tail = numbers([4, 0x08_07_4b_50], [4, sizes.checksum], [4, sizes.packed], [4, sizes.size]);
    yield tail;
    written.push({ name, offset, sizes });
    offset += head.length + sizes.packed + tail.length;
    if (sizes.packed >= MAX_BYTES || sizes.size >= MAX_BYTES)
      throw new FormsvcError("failed", "a file of an archive has less than 4 GiB; choose less for it");
  }
  yield directoryOf(written, offset);
}

const UNKNOWN: Sizes = { checksum: 0, packed: 0, size: 0 };

const VERSION = 20;
/** Bits that say: sizes and checksum come after the content; names are UTF-8. */
const FLAGS = 0x08_08;
const DEFLATED = 8;
/** The earliest day that an archive can name. It is always the same, so that the same content gives the same bytes. */
const FIRST_DAY = 0x21;

/** The fields before the length of the extra field. They are the same at a member and in the directory. */
function facts(name: Buffer, { checksum, packed, size }: Sizes): (readonly [bytes: 2 | 4, value: number])[] {
  return [
    [2, VERSION],
    [2, FLAGS],
    [2, DEFLATED],
    [2, 0],
    [2, FIRST_DAY],
    [4, checksum],
    [4, packed % (MAX_BYTES + 1)],
    [4, size % (MAX_BYTES + 1)],
    [2, name.length],
  ];
}

function directoryOf(written: readonly Written[], offset: number): Buffer {
  const entries = written.map(({ name, offset: begun, sizes }) => {
    const isFar = begun >= MAX_BYTES;
    const farOffset = isFar ? numbers([2, 1], [2, 8], [8, begun]) : NOTHING;
    return Buffer.concat([
      numbers(
        [4, 0x02_01_4b_50],
        [2, VERSION],
        ...facts(name, sizes),
        [2, farOffset.length],
        [4, 0],
        [4, 0],
        [2, 0],
        [4, isFar ? MAX_BYTES : begun],
      ),
      name,
      farOffset,
    ]);
  });
  const directory = Buffer.concat(entries);
  const count = written.length;
  const isLarge = count >= MAX_COUNT || offset >= MAX_BYTES || directory.length >= MAX_BYTES;
  const end = numbers(
    [4, 0x06_05_4b_50],
    [4, 0],
    [2, Math.min(count, MAX_COUNT)],
    [2, Math.min(count, MAX_COUNT)],
    [4, Math.min(directory.length, MAX_BYTES)],
    [4, Math.min(offset, MAX_BYTES)],
    [2, 0],
  );
  return Buffer.concat([directory, isLarge ? zip64End(count, directory.length, offset) : NOTHING, end]);
}

const NOTHING = Buffer.alloc(0);

const ZIP64_VERSION = 45;

/** The end of the directory in the fields of ZIP64, and the record that holds its position. */
function zip64End(count: number, bytes: number, offset: number): Buffer {
  return numbers(
    [4, 0x06_06_4b_50],
    [8, 44],
    [2, ZIP64_VERSION],
    [2, ZIP64_VERSION],
    [4, 0],
    [4, 0],
    [8, count],
    [8, count],
    [8, bytes],
    [8, offset],
    [4, 0x07_06_4b_50],
    [4, 0],
    [8, offset + bytes],
    [4, 1],
  );
}

/** Encodes numbers in the given sizes, little-endian. */
function numbers(...given: readonly (readonly [bytes: 2 | 4 | 8, value: number])[]): Buffer {
  const buffer = Buffer.alloc(given.reduce((sum, [bytes]) => sum + bytes, 0));
  let at = 0;
  for (const [bytes, value] of given)
    at = bytes === 8 ? buffer.writeBigUInt64LE(BigInt(value), at) : buffer.writeUIntLE(value, at, bytes);
  return buffer;
}

/** Compresses the parts that it is given. */
class Deflater {
  readonly #stream = createDeflateRaw();
  #out: Buffer[] = [];
  #sizes = UNKNOWN;

  constructor() {
    this.#stream.on("data", (chunk: Buffer) => this.#out.push(chunk));
  }

  get sizes(): Sizes {
    return this.#sizes;
  }

  /** Compresses a part and returns the bytes that are ready; the rest comes later. */
  async add(bytes: Uint8Array): Promise<Buffer> {
    const { checksum, packed, size } = this.#sizes;
    this.#sizes = { checksum: crc32(bytes, checksum), packed, size: size + bytes.length };
    await new Promise<void>((resolve, reject) => {
      this.#stream.write(bytes, (error) => (error ? reject(error) : resolve()));
    });
    return this.#take();
  }

  async end(): Promise<Buffer> {
    await new Promise<void>((resolve, reject) => {
      this.#stream.once("end", resolve).once("error", reject).end();
    });
    return this.#take();
  }

  destroy(): void {
    this.#stream.destroy();
  }

  #take(): Buffer {
    const bytes = Buffer.concat(this.#out);
    this.#out = [];
    this.#sizes = { ...this.#sizes, packed: this.#sizes.packed + bytes.length };
    return bytes;
  }
}
