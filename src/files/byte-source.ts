/** The bytes of one file, wherever they are. */
export interface ByteSource {
  readonly size: number;
  /** At most `length` bytes from `offset` on; fewer at the end only. */
  read(offset: number, length: number): Promise<Buffer>;
}

/** Bytes of a file in one row, in one write, and in one read. */
export const CHUNK_BYTES = 262_144;

/** The parts of a source, one after the other, each of {@link CHUNK_BYTES} but the last. */
export async function* chunksOf(source: ByteSource): AsyncGenerator<Buffer> {
  for (let offset = 0; offset < source.size; offset += CHUNK_BYTES)
    yield await source.read(offset, CHUNK_BYTES);
}
