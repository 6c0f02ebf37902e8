import { giveBuffer, SPARE_BYTES, takeBuffer } from "./spare-buffers.ts";

/** The bytes of one file, in memory, on disk or in the database. */
export interface ByteSource {
  readonly size: number;
  /**
   * Reads `length` bytes from `offset` on; fewer only at the end of the file. If `into` is given, they may be written into it; it must be
   * large enough.
   */
  read(offset: number, length: number, into?: Buffer): Promise<Buffer>;
}

/** The bytes of a file that one row holds, and that are written and read at once. */
export const CHUNK_BYTES = SPARE_BYTES;

/** Yields the parts of a source in their order. Each but the last has {@link CHUNK_BYTES}. */
export async function* chunksOf(source: ByteSource): AsyncGenerator<Buffer> {
  for (let offset = 0; offset < source.size; offset += CHUNK_BYTES)
    yield await source.read(offset, CHUNK_BYTES);
}

/**
 * Yields the same parts as {@link chunksOf}, but reads each one ahead into one of two buffers. A part is valid only until the next one is
 * asked for. At the end the buffers are given back.
 */
export async function* chunksAhead(source: ByteSource): AsyncGenerator<Buffer> {
  const [one, other] = [takeBuffer(), takeBuffer()];
  const readAt = (offset: number): Promise<Buffer> | null => {
    if (offset >= source.size) return null;
    const read = source.read(offset, CHUNK_BYTES, offset % (2 * CHUNK_BYTES) === 0 ? one : other);
    // The read is awaited later, or never if the part before it cannot be stored.
    read.catch(() => {});
    return read;
  };
  let ahead = readAt(0);
  for (let offset = CHUNK_BYTES; ahead !== null; offset += CHUNK_BYTES) {
    const bytes = await ahead;
    ahead = readAt(offset);
    yield bytes;
  }
  for (const buffer of [one, other]) giveBuffer(buffer);
}
