import { constants, deflateRawSync, gzipSync, zstdCompressSync } from "node:zlib";

/** How the large files of a release are packed. `RELEASE_COMPRESSION=least` saves a release that is only tried most of its minutes. */
const isLeast = process.env["RELEASE_COMPRESSION"] === "least";
const DEFLATE = isLeast ? { level: constants.Z_NO_COMPRESSION } : {};
/** At 12, five seconds for what xz takes minutes for. */
const ZSTD_LEVEL = isLeast ? 1 : 12;

export function gzip(data: Buffer): Buffer {
  return gzipSync(data, DEFLATE);
}

/** What a zip archive holds of a file. */
export function deflate(data: Buffer): Buffer {
  return deflateRawSync(data, DEFLATE);
}

export function zstd(data: Buffer): Buffer {
  return zstdCompressSync(data, { params: { [constants.ZSTD_c_compressionLevel]: ZSTD_LEVEL } });
}
