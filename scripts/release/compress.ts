import { brotliCompressSync, constants, deflateRawSync, gzipSync, zstdCompressSync } from "node:zlib";

/** How the large files of a release are compressed. `RELEASE_COMPRESSION=least` saves a trial release most of its minutes. */
const isLeast = process.env["RELEASE_COMPRESSION"] === "least";
/** With the usual chunks of 16 KiB, an archive would come in ten thousand pieces. */
const PIECES = { chunkSize: 16 * 1024 ** 2 };
const DEFLATE = isLeast ? { ...PIECES, level: constants.Z_NO_COMPRESSION } : PIECES;
/** Level 12 needs five seconds for files for which xz needs minutes. */
const ZSTD_LEVEL = isLeast ? 1 : 12;
/** The best quality, 11, would save 90 KB of the executable's 5 MB of packed parts, and takes ten times as long. */
const BROTLI_QUALITY = isLeast ? 4 : 9;

export function gzip(data: Buffer): Buffer {
  return gzipSync(data, DEFLATE);
}

/** Compresses the content of a file in a zip archive. */
export function deflate(data: Buffer): Buffer {
  return deflateRawSync(data, DEFLATE);
}

export function zstd(data: Buffer): Buffer {
  return zstdCompressSync(data, {
    ...PIECES,
    params: { [constants.ZSTD_c_compressionLevel]: ZSTD_LEVEL },
  });
}

/** Compresses data that the program unpacks while it runs. */
export function brotli(data: string | Uint8Array): Buffer {
  return brotliCompressSync(data, { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } });
}
