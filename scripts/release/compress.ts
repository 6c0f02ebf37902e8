import { brotliCompressSync, constants, deflateRawSync, gzipSync, zstdCompressSync } from "node:zlib";

/** How the large files of a release are packed. `RELEASE_COMPRESSION=least` saves a release that is only tried most of its minutes. */
const isLeast = process.env["RELEASE_COMPRESSION"] === "least";
/** By the 16 KiB that are usual, an archive comes in ten thousand pieces. */
const PIECES = { chunkSize: 16 * 1024 ** 2 };
const DEFLATE = isLeast ? { ...PIECES, level: constants.Z_NO_COMPRESSION } : PIECES;
/** At 12, five seconds for what xz takes minutes for. */
const ZSTD_LEVEL = isLeast ? 1 : 12;
const BROTLI_QUALITY = isLeast ? 4 : constants.BROTLI_MAX_QUALITY;

export function gzip(data: Buffer): Buffer {
  return gzipSync(data, DEFLATE);
}

/** What a zip archive holds of a file. */
export function deflate(data: Buffer): Buffer {
  return deflateRawSync(data, DEFLATE);
}

export function zstd(data: Buffer): Buffer {
  return zstdCompressSync(data, {
    ...PIECES,
    params: { [constants.ZSTD_c_compressionLevel]: ZSTD_LEVEL },
  });
}

/** What the program unpacks while it runs. */
export function brotli(data: string | Uint8Array): Buffer {
  return brotliCompressSync(data, { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } });
}
