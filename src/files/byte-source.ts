import { giveBuffer, SPARE_BYTES, takeBuffer } from "./spare-buffers.ts";

/** The bytes of one file, wherever they are. */
export interface ByteSource {
  readonly size: number;
  /** At most `length` bytes from `offset` on; fewer at the end only. They may be put into `into`, which has room for them. */
  read(offset: number, length: number, into?: Buffer): Promise<Buffer>;
}

/** Bytes of a file in one row, in one write, and in one read. */
export const CHUNK_BYTES = SPARE_BYTES;

/** The parts of a source, one after the other, each of {@link CHUNK_BYTES} but the last. */
export async function* chunksOf(source: ByteSource): AsyncGenerator<Buffer> {
  for (let offset = 0; offset < source.size; offset += CHUNK_BYTES)
    yield await source.read(offset, CHUNK_BYTES);
}

/**
 * As {@link chunksOf}, each part read ahead into one of two buffers. Whoever asks for the next is done with the one before; after the last
 * the buffers are used again.
 */
export async function* chunksAhead(source: ByteSource): AsyncGenerator<Buffer> {
  const [one, other] = [takeBuffer(), takeBuffer()];
  const readAt = (offset: number): Promise<Buffer> | null => {
    if (offset >= source.size) return null;
    const read = source.read(offset, CHUNK_BYTES, offset % (2 * CHUNK_BYTES) === 0 ? one : other);
    // Nobody asks for it if the part before it cannot be stored.
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
